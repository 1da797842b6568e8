"""Theorem 1 in numbers: its bound against the trivial one, its noise scale, and its Assumption 1, on an instance.

The bound is vacuous until it is below the trivial one, H K times the span of the true mean rewards. It is also compared
with the regret of uniformly random play, K (V* - V^uniform). Constants are the instance's, on the compact set of
`befrl.model.constants`; eta and delta are BEF-RLSVI's defaults. Assumption 1 asks for one alpha > 0 for all parameters:
with ten times the radius alpha stays the same for Gaussian laws, and falls towards 0 for bounded ones.
"""

import math

import numpy as np

from befrl import agents
from befrl.model import constants
from befrl.model.theorem import TERMS, confidence, first_below, noise_scales, terms

C = math.sqrt(2)  # the theorem's universal constant c; the smallest that its lemma on the noise allows (claim C30)
WIDER = 10.0
ROUNDING = 1e-12
UNCHANGED = 0.999  # an alpha on the wider set that is at least this share of alpha is the same up to rounding


def uses():
    """BEF-RLSVI, for its default parameters."""
    return agents.modules("bef-rlsvi", agents.parameters("bef-rlsvi", {}))


def study(name, instance, root_seed, decades: int, episodes: int):
    """The bound for K = 1, 10, ..., 10^decades, the facts, and the check of Assumption 1."""
    z = settings(instance)
    span = float(np.ptp(instance.R))

    def total(K):
        return float(sum(terms(z | {"K": K})["theorem"].values()))

    bound = []
    for K in (10.0**power for power in range(decades + 1)):
        trivial = z["H"] * K * span
        for term, value in {**terms(z | {"K": K})["theorem"], "all": total(K)}.items():
            row = {"instance": name, "K": K, "term": term, "value": float(value), "trivial": trivial}
            bound.append(row | {"ratio": float(value / trivial)})
    first = float(first_below(total, z["H"] * span))
    at_first = terms(z | {"K": first})["theorem"]
    radii = (confidence(z, i, z["d"], z["H"], episodes, z["eta"], z["delta"]) for i in "pr")
    facts = {
        "first K, trivial": first,
        "first K, random": float(first_below(total, instance.optimal_value - instance.uniform_value)),
        **{f"share, {term}": at_first[term] / total(first) for term in TERMS},
        **{f"x, {form}": x for form, x in noise_scales(z, z["H"], *radii).items()},
        "K of x": episodes,
        "mean reward outside [0,1]": max(0.0, -instance.R.min(), instance.R.max() - 1),
        **z,
    }
    return {
        "bound": bound,
        "facts": [{"instance": name, "quantity": key, "value": float(value)} for key, value in facts.items()],
        "assumption": [{"instance": name} | row for row in _assumption(instance, root_seed)],
    }


def settings(instance):
    """The arguments of the formulas of `befrl.model.theorem`, except K."""
    given = agents.parameters("bef-rlsvi", {})
    return {
        **{key: instance.constants[key] for key in ("alpha_p", "beta_p", "alpha_r", "beta_r", "B_A", "B_phi_A")},
        "A": float(np.linalg.norm(instance.model.features.trace, 2, axis=(-2, -1)).max()),
        "d": instance.model.d,
        "H": instance.horizon,
        "eta": given.eta,
        "delta": given.delta,
        "c": C,
    }


def _assumption(instance, root_seed):
    model, found = instance.model, instance.constants
    rng = np.random.default_rng(root_seed)
    sizes, wider = (model.n_anchors, model.n_actions), WIDER * found["radius_p"]
    wide_p, _ = constants.covariance_range(model.family, *sizes, wider, rng)
    wide_r = float(model.B @ model.B) * float(model.reward.variance_range(WIDER * found["radius_r"])[0])
    for part, i, wide in (("transitions", "p", wide_p), ("rewards", "r", wide_r)):
        alpha, beta = found[f"alpha_{i}"], found[f"beta_{i}"]
        yield {
            "part": part,
            "radius": found[f"radius_{i}"],
            "alpha": alpha,
            "beta": beta,
            "alpha_wider": wide if wide > ROUNDING * beta else 0.0,
            "met_on": "all parameters" if wide >= UNCHANGED * alpha else "compact set",
        }
