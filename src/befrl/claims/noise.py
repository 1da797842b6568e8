"""Appendix C.3: concentration and anti-concentration of the exploration noise."""

import numpy as np
from scipy.special import ndtr

from befrl.claims.toolbox.chances import LEVEL, upper_limit
from befrl.claims.toolbox.registry import Evidence, claim

DRAWS = 400  # simulated noises per trial


@claim(
    "C31",
    statement=r"For $\xi\sim\mathcal N(0,I_d)$ and $\|u\|=1$: $P(u^\top\xi\ge 1)\ge\Phi(-1)$.",
    meaning="Phi(-1) minus the upper confidence limit of the counted P(u'xi >= 1)",
    mutants={
        r"$\|u\|=0.8$": {"length": 0.8},
        r"$P(u^\top\xi\ge 1)\ge 1.2\,\Phi(-1)$": {"factor": 1.2},
        r"$\|u\|_1=1$": {"order": 1},
    },
    others={r"$\|u\|=1.2$": {"length": 1.2}, r"$\|u\|_\infty=1$": {"order": np.inf}},
)
def gaussian_anti_concentration(rng, trials, length=1.0, factor=1.0, order=2):
    r"""$u^\top\xi\sim\mathcal N(0,\|u\|^2)$, so $P(u^\top\xi\ge1)=\Phi(-1/\|u\|)$: equality for unit vectors.

    Attack: Noises are simulated and counted for directions of many dimensions and shapes, together and one by one, in
    exact binomial tests with joint error rate 1e-6. The law of $u^\top\xi$ is not used.
    """
    bound = factor * ndtr(-1.0)
    directions = [_direction(rng, int(rng.choice((1, 2, 3, 5, 10, 30)))) for _ in range(trials)]
    directions = [length * u / np.linalg.norm(u, order) for u in directions]
    draws = DRAWS * max(1, 100 // trials)
    hits = [int((rng.standard_normal((draws, len(u))) @ u >= 1.0).sum()) for u in directions]
    level = LEVEL / (trials + 1)
    single = bound - np.array([upper_limit(hit, draws, level) for hit in hits])
    together = bound - upper_limit(sum(hits), trials * draws, level)
    instance = {"u": directions[int(single.argmax())].tolist(), "counted": sum(hits) / (trials * draws)}
    return Evidence(max(single.max(), together), instance, "test", trials * draws)


def _direction(rng, d):
    """A random direction: dense, sparse, or geometrically decaying."""
    v = rng.standard_normal(d)
    shape = rng.integers(3)
    if shape == 1:
        v = np.where(np.arange(d) == rng.integers(d), v, 0.01 * v)
    return v * 0.3 ** np.arange(d) if shape == 2 else v
