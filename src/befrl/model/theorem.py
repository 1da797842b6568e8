"""Theorem 1 of the paper as it is printed: the noise scale x_k, the bound's terms, and those of its lemmas.

    gamma_i  = d log(1 + beta_i B_phi_A H K/eta),   radius_i = beta^i(K, delta) = eta/2 B_A^2 + gamma_i + log(1/delta)
    X        = H sqrt(beta_p radius_p/(alpha_p alpha_r)) + sqrt(beta_r radius_r min(1, alpha_p/alpha_r))/(2 alpha_r)

Constants: those of `constants.py` and, for the terms, eta, delta, A (largest eigenvalue of bold A) and a universal c.
"""

import math

import numpy as np
from scipy.special import ndtr

PHI = float(ndtr(-1.0))  # the chance of optimism that the proof needs
TERMS = ("transition", "deviation", "reward", "noise", "learning", "bad rounds, estimation", "bad rounds, learning")


def information(constants, i, d, H, K, eta):
    """gamma_i of the theorem; i is p or r."""
    return d * np.log1p(constants[f"beta_{i}"] * constants["B_phi_A"] * H * K / eta)


def confidence(constants, i, d, H, K, eta, delta):
    """radius_i, the theorem's beta^i(K, delta)."""
    return eta / 2 * constants["B_A"] ** 2 + information(constants, i, d, H, K, eta) + np.log(1 / delta)


def noise_scales(constants, H, radius_p, radius_r, root=np.sqrt):
    """The least x_k in its three printed forms; the lemma's has radii with k for K. `root` may be exact."""
    a_p, b_p, a_r, b_r = (constants[name] for name in ("alpha_p", "beta_p", "alpha_r", "beta_r"))
    R = b_r * radius_r * np.minimum(1, a_p / a_r)
    X = H * root(b_p * radius_p / (a_p * a_r)) + root(R) / (2 * a_r)
    sketch = (H * (root(b_p * radius_p / a_p) + root(R / (2 * a_r)))) ** 2
    return {"theorem": X**2, "lemma": X, "sketch": sketch}


def theorem_x(constants, d, H, K, eta, delta, known_reward):
    """x_k of Theorem 1; a known reward leaves its first term alone."""
    radius_p, radius_r = (confidence(constants, i, d, H, K, eta, delta) for i in "pr")
    return noise_scales(constants, H, radius_p, 0.0 if known_reward else radius_r)["theorem"]


def terms(z):
    """The terms by statement and name, for z = constants, d, H, K, each a number or an array (n,).

    theorem: Theorem 1, with N and n read as HK. lemma: the lemmas on transition, reward and learning error. estimation:
    the lemma that joins the first two. proof: the last lines of the transition lemma's proof. repaired: Theorem 1, made
    to agree with the lemmas. All have the smallest x_k allowed (C52), or z["x"], and the same gamma_K (C28).
    """
    d, H, K, eta, delta = z["d"], z["H"], z["K"], z["eta"], z["delta"]
    gamma = {i: information(z, i, d, H, K, eta) for i in "pr"}
    radius = {i: confidence(z, i, d, H, K, eta, delta) for i in "pr"}
    x = z.get("x", noise_scales(z, H, radius["p"], radius["r"])["theorem"])
    C_d = 3 * d / math.log(2) * np.log1p(z["alpha_r"] * z["A"] ** 2 * z["B_phi_A"] ** 2 / (eta * math.log(2)))
    growth = z["alpha_r"] * z["B_phi_A"] * H / eta
    error, noise = np.sqrt(radius["r"] / (2 * z["alpha_r"])), z["c"] * np.sqrt(x * d * np.log(d * K / delta))
    late = np.sqrt(1 - 2 * np.log(delta))  # sqrt(log(e/delta^2))
    twice = np.sqrt(-2 * np.log(delta))  # sqrt(log(1/delta^2))
    learning = z["beta_r"] * np.sqrt(x) * (1 + np.sqrt(np.log(d / delta))) / PHI
    steps, norms, short = np.sqrt(K * H), np.sqrt(gamma["r"]), np.sqrt(d * np.log1p(growth))
    transition = 2 * H * np.sqrt(2 * z["beta_p"] / z["alpha_p"] * radius["p"] * gamma["p"])
    theorem = {
        "transition": steps * transition,
        "deviation": steps * 2 * H * (1 + norms) * twice,
        "reward": steps * z["beta_r"] * error * norms,
        "noise": steps * z["beta_r"] * noise * norms,
        "learning": steps * learning * np.sqrt(d) * norms * late,
        "bad rounds, estimation": np.sqrt(H) * norms * z["beta_r"] * C_d * (error + noise),
        "bad rounds, learning": np.sqrt(H) * norms * learning * d * np.sqrt(C_d * (1 + growth)),
    }
    lemma = {
        "transition": steps * transition,
        "deviation": steps * 2 * H * twice,
        "reward": steps * z["beta_r"] * error * norms * late,
        "noise": steps * z["beta_r"] * noise * norms * late,
        "learning": d * learning * np.sqrt(H * gamma["r"] / d) * np.sqrt(K) * late,
        "bad rounds, estimation": (error + noise) * z["beta_r"] * np.sqrt(C_d * (1 + growth)) * np.sqrt(H) * norms,
        "bad rounds, learning": d * learning * np.sqrt(H * gamma["r"] / d) * np.sqrt(C_d * (1 + growth)),
    }
    estimation = {
        "transition": steps * transition,
        "deviation": steps * 2 * H * twice + steps * norms * twice,
        "reward": steps * norms * error * z["beta_r"],
        "noise": steps * norms * noise * z["beta_r"],
        "bad rounds, estimation": C_d * np.sqrt(H) * short * (error + noise) * z["beta_r"],
    }
    repaired = theorem | {
        "deviation": steps * 2 * H * twice,
        "reward": theorem["reward"] * late,
        "noise": theorem["noise"] * late,
        "bad rounds, estimation": theorem["bad rounds, estimation"] * np.sqrt((1 + growth) / C_d),
        "bad rounds, learning": theorem["bad rounds, learning"] / np.sqrt(d),
    }
    proof = {"transition": transition / math.sqrt(2)}
    return {"theorem": theorem, "lemma": lemma, "estimation": estimation, "proof": proof, "repaired": repaired}


def first_below(bound, slope):
    """The smallest whole K with bound(K) < slope K, by bisection; bound(K)/K must decrease in K, towards 0.

    NaN if the bound is NaN.
    """
    if math.isnan(bound(1.0)):
        return math.nan
    high = 1
    while bound(float(high)) >= slope * high:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bound(float(middle)) >= slope * middle else (low, middle)
    return high
