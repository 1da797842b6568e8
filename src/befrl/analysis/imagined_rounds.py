"""Bad rounds in the example of claim C45c, whose penalty grows with K: none is played, a constant share is imagined.

States are numbers, s' ~ N(theta . phi(s), 1) with theta = (6, 0), phi = e_1 for s > 0 and f e_2 for s <= 0, H = 2,
d = 2, f^2 = 2 eta, eta = 6 H K and s_1 = 1. States s <= 0 are bad until one is played, which has a chance below
H K Phi(-6). After n steps the estimate of theta_1 is normal with mean m = 6 n/(n + eta) and variance n/(n + eta)^2,
so that the model of that episode leads to s_2 <= 0 with probability Phi(-m / sqrt(1 + variance)).
"""

import math

import numpy as np
from scipy.special import ndtr

H, MEAN, D = 2, 6.0, 2
EPISODES = (10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000)


def rows() -> list[dict]:
    """The expected numbers of bad rounds for each K, an upper bound for played ones, and both forms of C_d."""
    found = []
    for K in EPISODES:
        eta, n = MEAN * H * K, H * np.arange(K)
        mean, variance = MEAN * n / (n + eta), n / (n + eta) ** 2
        numbers = {"imagined": float(ndtr(-mean / np.sqrt(1 + variance)).sum()), "played": float(H * K * ndtr(-MEAN))}
        # |A|^2 B_phi_A^2 / eta is 4 eta as printed; the correction (C45b) has min(d, p) B_phi_A / eta = 2.
        bounds = {"printed": _limit(4 * eta), "corrected": _limit(2.0)}
        found.append({"K": K, "eta": eta, **numbers, **bounds})
    return found


def _limit(ratio):
    return 3 * D / math.log(2) * math.log1p(ratio / math.log(2))
