"""Theorem 1 in numbers: its bound against the trivial one, its noise scale, and its Assumption 1, on an instance.

Beside it stand Theorems 1 and 2 of bef-seed, at its defaults and with unknown rewards; NaN where they do not hold.
Unless features are one-hot, they are those for projected estimates, although the agent does not project its own.

The bound is vacuous until it is below the trivial one, H K times the span of the true mean rewards. It is also compared
with the regret of uniformly random play, K (V* - V^uniform). Constants are the instance's, on the compact set of
`befrl.model.constants`; eta and delta are BEF-RLSVI's defaults. Assumption 1 asks for one alpha > 0 for all parameters:
with ten times the radius alpha stays the same for Gaussian laws, and falls towards 0 for bounded ones.
"""

import math

import numpy as np

from befrl import agents
from befrl.agents import bef_seed
from befrl.learning import likelihood_sets
from befrl.model import constants, seed_theorem
from befrl.model.theorem import TERMS, confidence, first_below, noise_scales, terms

C = math.sqrt(2)  # the theorem's universal constant c; the smallest that its lemma on the noise allows (claim C30)
WIDER = 10.0
ROUNDING = 1e-12
UNCHANGED = 0.999  # an alpha on the wider set that is at least this share of alpha is the same up to rounding


def uses():
    """BEF-RLSVI and bef-seed, for their default parameters."""
    return [
        module for name in ("bef-rlsvi", "bef-seed") for module in agents.modules(name, agents.parameters(name, {}))
    ]


def study(name, instance, root_seed, decades: int, episodes: int):
    """The bound for K = 1, 10, ..., 10^decades, the facts, and the check of Assumption 1."""
    z, ours = settings(instance), seed_bounds(instance)
    span = float(np.ptp(instance.R))

    def total(K):
        return float(sum(terms(z | {"K": K})["theorem"].values()))

    bound = []
    for K in (10.0**power for power in range(decades + 1)):
        trivial = z["H"] * K * span
        values = {**terms(z | {"K": K})["theorem"], "all": total(K)} | {name: at(K) for name, at in ours.items()}
        for term, value in values.items():
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
        **{f"{name}, at K of x": float(at(episodes)) for name, at in ours.items()},
        **{f"first K, {name}": float(first_below(at, z["H"] * span)) for name, at in ours.items()},
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


def seed_bounds(instance):
    """The bounds of bef-seed as functions of K; NaN if nothing is promised, that of Theorem 2 also for `interval`."""
    given, H = agents.parameters("bef-seed", {}), instance.horizon
    states, rewards = likelihoods(instance)
    promised, interval = bef_seed.promises(instance.model), bef_seed.default_width(instance.model.family) == "interval"
    span = float(np.ptp(instance.model.reward.mean(np.array([-rewards.S, rewards.S]))))  # of r- and r+

    def first(K):
        if not promised:
            return math.nan
        return seed_theorem.theorem_1(states, rewards, H, K, given.delta, given.gate, 2 if interval else 1, span)

    def second(K):
        if not promised or interval:
            return math.nan
        return seed_theorem.theorem_2(states, rewards, H, K, given.delta, given.gate, span)

    return {"bef-seed, Theorem 1": first, "bef-seed, Theorem 2": second}


def likelihoods(instance):
    """What the theorems of bef-seed need to know of the likelihoods of next states and of rewards."""
    model, found = instance.model, instance.constants
    BB, B_phi = float(model.B @ model.B), found["B_phi_A"]
    sources = likelihood_sets.States(model, found), likelihood_sets.Rewards(model, found)
    traces, alphas = (model.features.p * B_phi, BB * B_phi), (found["alpha_p"], found["alpha_r"] / BB)
    return [_likelihood(*each) for each in zip(sources, traces, alphas, strict=True)]


def _likelihood(source, trace, alpha):
    features, one_hot = source.features, likelihood_sets.one_hot(source.features)
    if one_hot:
        sizes, trace = source.rank.ravel(), float(source.rank.max())
    else:
        component = likelihood_sets.components(features, source.U)[0]
        sizes = np.bincount(component[component >= 0])
    eta, delta, scale = np.full(1, np.nan), np.ones(1), np.ones(1)
    return seed_theorem.Likelihood(
        one_hot=one_hot,
        d=int(sizes.sum()),
        m=int(sizes.max()),
        pairs=features.n_anchors * features.n_actions,
        sets=len(sizes),
        trace=trace,
        B=source.B,
        eta=float(likelihood_sets.sets_of(source, eta, delta, scale).eta[0]),
        beta=source.beta,
        S=source.S,
        M=source.M,
        alpha=alpha,
    )


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
