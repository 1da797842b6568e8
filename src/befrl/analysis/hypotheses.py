"""Extra hypotheses under which steps of the proof of Theorem 1 hold, each computed on an instance.

Each has words: a short form, a colon, and details. Hypotheses that the proof needs come first; those on eta use
BEF-RLSVI's default. `proof_steps.csv` has the steps that fail as printed, each with the weakest known hypothesis:

    claim        number of the step in the ledger of claims
    fails        what fails
    hypothesis   a function of this module; empty where the corrected formula needs none
    needed       yes: no correction without it serves the proof; no: without it a corrected form holds
    reading_of   the claim of the ledger with the reading below, mostly the same claim
    reading      the reading of the ledger that survives under the hypothesis
"""

import functools

import numpy as np

from befrl import agents
from befrl.analysis.columns import read_data
from befrl.experiment.bad_rounds import harmless_eta
from befrl.numerics import linalg

ROUNDING = 1e-9
HYPOTHESES = {}  # the functions by name
WORDS = {}  # their words by name


@functools.cache
def steps() -> list[dict]:
    """The rows of `proof_steps.csv`; `needed` is a bool."""
    return [row | {"needed": row["needed"] == "yes"} for row in read_data("proof_steps.csv")]


def needed() -> list[str]:
    """The hypotheses without which the proof has a gap, in the order of the steps."""
    return list(dict.fromkeys(step["hypothesis"] for step in steps() if step["needed"]))


def hypothesis(words):
    """Register a function of an instance as a hypothesis."""

    def enter(check):
        HYPOTHESES[check.__name__], WORDS[check.__name__] = check, words
        return check

    return enter


def _eta():
    return agents.parameters("bef-rlsvi", {}).eta


def _matrices(model):
    """The matrices U of all (anchor, action), (N, A, p, d)."""
    return np.moveaxis(model.features.natural(np.eye(model.d)), 0, -1)


@hypothesis("Z is finite for every theta: bounded states, a bounded psi, or a Gaussian base measure.")
def finite_z(instance):
    """If a box stands for R^m, psi counts as bounded if it is not larger in the outermost cells than inside."""
    space, family = instance.model.space, instance.model.family
    if not space.unbounded or family.constant_covariance:
        return True
    size = np.abs(family.psi).max(-1)
    return bool(size[space.outermost].max() <= size[~space.outermost].max())


@hypothesis("Assumption 1 holds for all theta: no variance depends on theta; next states do not count if H = 1.")
def constants_everywhere(instance):
    return constant_variance(instance) and (one_step(instance) or instance.model.family.constant_covariance)


@hypothesis("Rewards have constant variance: it does not depend on theta.")
def constant_variance(instance):
    radius = max(1.0, instance.constants["radius_r"])
    low, high = instance.model.reward.variance_range(10 * radius)
    return bool(high - low <= ROUNDING * high)


@hypothesis(
    "Rewards see all of theta_r: |U D| = |B'U D|/|B| for all differences D of the truth and penalised estimates."
)
def rewards_see_all(instance):
    """Penalised estimates lie in the span of the A^-1 x, x = U'B; so must theta*_r, and U D must be a multiple of B."""
    model = instance.model
    U = _matrices(model).reshape(-1, model.features.p, model.d)
    x = np.einsum("p,mpd->md", model.B, U)
    span = linalg.solve(np.broadcast_to(model.features.trace, (len(x), *model.features.trace.shape)), x)
    _, sizes, rows = np.linalg.svd(span, full_matrices=False)
    rows = rows[sizes > ROUNDING * sizes[0]]
    rest = instance.theta_r - rows.T @ (rows @ instance.theta_r)
    seen = U @ rows.T
    unseen = seen - np.einsum("p,mr->mpr", model.B, np.einsum("p,mpr->mr", model.B, seen)) / (model.B @ model.B)
    small = ROUNDING * max(1.0, np.abs(U).max())
    return bool(np.linalg.norm(rest) <= ROUNDING * np.linalg.norm(instance.theta_r) and np.abs(unseen).max() <= small)


@hypothesis(
    "No cancellation: H = 1; or designs are diagonal and B'A_i phi > 0 wherever A_i phi is not 0, as for one-hot"
    " nonnegative features; or p = 1 and the optimal policy meets one U only."
)
def no_cancellation(instance):
    """Then the norm of expected features bounds the error of the transitions along the optimal policy (C46, C51)."""
    single = instance.model.features.p == 1 and one_feature(instance)
    return bool(one_step(instance) or single or seen_diagonal(instance))


def seen_diagonal(instance):
    """All designs are diagonal, and B'A_i phi(s,a) > 0 wherever A_i phi(s,a) is not 0; or the same with -B.

    For p = 1 and B > 0 these are the one-hot nonnegative features with orthogonal A_i.
    """
    model = instance.model
    U = _matrices(model)
    lengths, seen = np.linalg.norm(U, axis=2), np.einsum("p,xapd->xad", model.B, U)  # |A_i phi| and B'A_i phi
    flat = U.reshape(-1, *U.shape[2:])
    products = sum(np.abs(pair.T @ pair) for pair in flat)
    small = ROUNDING * max(1.0, products.max())
    diagonal = (products * (1 - np.eye(model.d))).max() <= small and _diagonal_trace(model.features.trace)
    return bool(diagonal and any((sign * seen[lengths > small] > small).all() for sign in (1, -1)))


def _diagonal_trace(trace):
    """Whether bold A, given by blocks, is diagonal."""
    return bool(np.abs(trace * (1 - np.eye(trace.shape[-1]))).max() <= ROUNDING * np.abs(trace).max())


def one_feature(instance):
    """From each first state the optimal policy meets one U only, for all theta_p."""
    model, H = instance.model, instance.horizon
    if H == 1:
        return True
    U = _matrices(model).reshape(model.n_anchors, model.n_actions, -1)
    policy, anchors = model.space.on_anchors(instance.optimal_policy), np.arange(model.n_anchors)
    reach = np.eye(model.n_anchors, dtype=bool)[instance.start_masses > 0]  # (first states, N)
    lows, highs = [], []
    for h in range(H):
        met = U[anchors, policy[h]]
        lows.append(np.where(reach[..., None], met, np.inf).min(1))
        highs.append(np.where(reach[..., None], met, -np.inf).max(1))
        reach = reach @ (instance.P[anchors, policy[h]] > 0)
    spread = np.max(highs, axis=0) - np.min(lows, axis=0)
    return bool(spread.max() <= ROUNDING * max(1.0, np.abs(U).max()))


def one_step(instance):
    return instance.horizon == 1


@hypothesis("No next state is impossible: all have a positive probability, or density, at every (s,a).")
def every_state(instance):
    return bool(np.isfinite(instance.model.family.log_base).all())


@hypothesis("psi has one component: p = 1.")
def one_component(instance):
    return instance.model.features.p == 1


@hypothesis("alpha_p is at most alpha_r.")
def alpha_p_least(instance):
    return instance.constants["alpha_p"] <= instance.constants["alpha_r"] * (1 + ROUNDING)


@hypothesis("alpha_r is at most alpha_p.")
def alpha_r_least(instance):
    return instance.constants["alpha_r"] <= instance.constants["alpha_p"] * (1 + ROUNDING)


@hypothesis("eta is at most 2.")
def small_penalty(instance):
    return _eta() <= 2.0


@hypothesis("B has at least length 1.")
def long_B(instance):
    return bool(instance.model.B @ instance.model.B >= 1.0 - ROUNDING)


@hypothesis("The printed C_d is large enough: |A|^2 B_phi_A >= min(d, p).")
def large_C_d(instance):
    model = instance.model
    size = np.linalg.norm(model.features.trace, 2, axis=(-2, -1)).max()
    return bool(size**2 * instance.constants["B_phi_A"] >= min(model.d, model.features.p) * (1 - ROUNDING))


@hypothesis("No bad round is imagined only: H = 1, or eta > alpha_r sup tr(A^-1 G), with which none is bad.")
def no_imagined_bad_round(instance):
    return one_step(instance) or _eta() > harmless_eta(instance)
