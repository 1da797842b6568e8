"""The terms of Theorem 1's bound as it is printed, and of the lemmas that it is made of, as functions of d, H, K."""

import math

import numpy as np
from scipy.special import ndtr

CONSTANTS = ("alpha_p", "beta_p", "alpha_r", "beta_r", "eta", "B", "A", "B_A", "delta", "c")
TERMS = ("transition", "deviation", "reward", "noise", "learning", "bad rounds, estimation", "bad rounds, learning")


def draw_constants(rng, n):
    """Random constants (n,): alpha <= beta, eta, B_phi_A, |bold A|_2, B_A, delta and c."""
    found = {name: 10.0 ** rng.uniform(-1, 1, n) for name in CONSTANTS}
    for i in "pr":
        found[f"beta_{i}"] = found[f"alpha_{i}"] * 10.0 ** rng.uniform(0, 1, n)
    return found | {"delta": 10.0 ** rng.uniform(-6, -0.5, n)}


def terms(z):
    """The terms by statement and name, for z = constants, d, H, K, each an array (n,).

    theorem     Theorem 1; its N and n are read as HK
    lemma       the lemmas on the transition, the reward and the learning error
    estimation  the lemma on the estimation error, which joins the first two
    proof       what the last lines of the transition lemma's proof give
    repaired    Theorem 1, made to agree with the lemmas

    All have the smallest x_k that the theorem allows (C52) and the same gamma_K (C28).
    """
    d, H, K, eta, delta = z["d"], z["H"], z["K"], z["eta"], z["delta"]
    gamma = {i: d * np.log1p(z[f"beta_{i}"] * z["B"] * H * K / eta) for i in "pr"}
    radius = {i: eta / 2 * z["B_A"] ** 2 + gamma[i] - np.log(delta) for i in "pr"}
    change = np.minimum(1, z["alpha_p"] / z["alpha_r"])
    x = H * np.sqrt(z["beta_p"] * radius["p"] / (z["alpha_p"] * z["alpha_r"]))
    x = (x + np.sqrt(z["beta_r"] * radius["r"] * change) / (2 * z["alpha_r"])) ** 2
    C_d = 3 * d / math.log(2) * np.log1p(z["alpha_r"] * z["A"] ** 2 * z["B"] ** 2 / (eta * math.log(2)))
    growth = z["alpha_r"] * z["B"] * H / eta
    error, noise = np.sqrt(radius["r"] / (2 * z["alpha_r"])), z["c"] * np.sqrt(x * d * np.log(d * K / delta))
    late = np.sqrt(1 - 2 * np.log(delta))  # sqrt(log(e/delta^2))
    twice = np.sqrt(-2 * np.log(delta))  # sqrt(log(1/delta^2))
    learning = z["beta_r"] * np.sqrt(x) * (1 + np.sqrt(np.log(d / delta))) / ndtr(-1.0)
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
