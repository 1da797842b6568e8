"""Technical lemmas on the bilinear exponential family: derivatives, divergences and transport of rewards."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from befrl.claims.toolbox.calculus import directional_derivatives, nearest_to
from befrl.claims.toolbox.laws import (
    REWARDS,
    Model,
    definition,
    draw_reward,
    draw_transition,
    log_sum,
    reward_vector,
    with_parameters,
)
from befrl.claims.toolbox.registry import Finding, Worst, claim, decide

SECTION = "Technical lemmas"
TOLERANCE = 1e-6
NOISE = 1e-7  # a difference below this share of its terms counts as rounding
TINY = 1e-100  # stands in for 0 in denominators


@claim(
    "C37",
    section=SECTION,
    where="lem:Exp_Gradients, lem:Exp_Hessians, lem:Exp_KL_div, L1120-1195",
    statement="The gradients of Z^p and Z^r are E[psi]'A_i phi and E[r] B'A_i phi, their Hessians "
    "phi'A_i'C[psi]A_j phi and Var(r) phi'A_i'BB'A_j phi; KL(P_theta, P_theta') = "
    "(theta - theta')'grad Z(theta) - Z(theta) + Z(theta') = "
    "1/2 (theta - theta')'Hess Z(theta~)(theta - theta') for some theta~ in the hypercube [theta, theta'].",
)
def derivatives_and_divergences(rng, trials):
    """The derivatives of Z are moments of T, and KL is the remainder of a Taylor expansion of Z.

    Z(theta) = log sum w exp(T'theta) has gradient E T and Hessian Cov T. Along the segment, with
    f(t) = Z(theta + t (theta' - theta)):

        KL = E_theta log(p_theta / p_theta') = f(1) - f(0) - f'(0) = f''(t)/2 for some t in (0, 1), by Taylor.

    The point lies on the segment, hence in the hypercube. Its existence does not determine the order of the
    arguments, since KL(theta, theta') and KL(theta', theta) both lie between the extremes of f''/2; the
    order is tested separately.
    """
    return attack_derivatives(rng, trials)


@dataclass(frozen=True)
class Formulas:
    """The constants in the lemmas and the order of KL's arguments; the attack should refute all other values."""

    gradient: float = 1.0
    hessian: float = 1.0
    taylor: float = 0.5
    swapped: bool = False


PRINTED = Formulas()


def attack_derivatives(rng, trials, formulas=PRINTED, families=REWARDS):
    """Attack the formulas with random laws, then climb from the worst one."""
    worst, by_part, positions = Worst(), {}, []

    def see(law):
        errors, position = derivative_errors(law, formulas, families)
        positions.append(position)
        side = "rewards" if "B" in law else "transitions"
        for part, error in errors.items():
            by_part[f"{part}, {side}"] = max(by_part.get(f"{part}, {side}", 0.0), error)
        part = max(errors, key=errors.get)
        return worst.see(errors[part], law | {"part": part})

    for _ in range(trials):
        see(draw_transition(rng))
        see(draw_reward(rng, families))
    step = 1.0
    for _ in range(trials):
        found = see(_moved(rng, worst.instance, step))
        step = min(1.0, 2 * step) if found else max(1e-3, 0.9 * step)
    return Finding(
        verdict=decide(worst.value, tolerance=TOLERANCE),
        worst_case=worst.value,
        meaning="largest relative difference between a formula and the definition (Cauchy's integral for "
        f"derivatives, expected log ratio for KL); rounding is allowed up to {TOLERANCE:g}",
        instance=worst.instance,
        rule=f"holds if no formula differs by more than {TOLERANCE:g} on any law; fails otherwise",
        details={
            "largest difference": by_part,
            "laws": 3 * trials,
            "median position of theta~ on the segment (0: theta, 1: theta')": float(np.median(positions)),
        },
    )


def derivative_errors(law, formulas=PRINTED, families=REWARDS):
    """The relative error of each printed formula on one law, and the position of theta~ on the segment."""
    model = Model(law, families)
    theta, other = np.asarray(law["theta"]), np.asarray(law["other"])
    T, log_weights = definition(law, theta, families)
    errors = _first_and_second(model, theta, T, log_weights, formulas)

    log_p = T @ theta + log_weights - log_sum(T, log_weights, theta)
    log_q = T @ other + log_weights - log_sum(*definition(law, other, families), other)
    kl = float(np.exp(log_p) @ (log_p - log_q))

    first, second = (other, theta) if formulas.swapped else (theta, other)
    slope = (first - second) @ (formulas.gradient * model.gradient(first))
    terms = np.array([slope, -model.log_partition(first), model.log_partition(second)])
    size = kl + NOISE * (1 + np.abs(terms).sum())
    errors["KL as a Bregman divergence"] = abs(terms.sum() - kl) / size

    delta = other - theta
    factor = formulas.taylor * formulas.hessian
    position, distance = nearest_to(
        kl, lambda t: factor * model.curvature(theta + t[:, None] * delta, delta), np.linspace(0.0, 1.0, 513)
    )
    errors["Taylor point"] = distance / size
    return {part: float(error) for part, error in errors.items()}, position


def _first_and_second(model, theta, T, log_weights, formulas):
    """Errors of gradient and Hessian against Cauchy's integral, in units of the statistic's size and spread."""
    d = len(theta)
    size = np.maximum(np.abs(T).max(0), TINY)
    spread = np.ptp(T, axis=0)
    unit = np.where(spread > 1e-12 * size, spread, size)
    i, j = np.triu_indices(d, 1)
    basis = np.eye(d) / unit
    directions = np.concatenate([basis, basis[i] + basis[j]])
    first, second = directional_derivatives(T, log_weights, theta, directions)
    gradient_error = np.abs(first[:d] * unit - formulas.gradient * model.gradient(theta)) / size
    hessian = np.diag(second[:d])
    hessian[i, j] = hessian[j, i] = (second[d:] - second[i] - second[j]) / 2
    printed = formulas.hessian * model.hessian(theta) / np.outer(unit, unit)
    return {"gradient": gradient_error.max(), "Hessian": np.abs(hessian - printed).max()}


def _moved(rng, law, step):
    """The law with its parameters moved in proportion to their size, within the range of the quadratures."""
    law = {key: value for key, value in law.items() if key != "part"}
    parameters = np.stack([law["theta"], law["other"]])
    parameters = parameters + step * np.abs(parameters).max() * rng.standard_normal(parameters.shape)
    return with_parameters(law, *parameters)


@claim(
    "C39",
    section=SECTION,
    where="lem:Reward_Transportation, L1199",
    statement="For some theta_3 in the hypercube [theta_1, theta_2]: "
    "E_1[r] - E_2[r] = Var_3(r)/2 * B'M_{theta_1 - theta_2} phi.",
)
def reward_transportation(rng, trials):
    """By the mean value theorem the factor is 1, not 1/2.

    E_theta[r] is m(c) with c = x'theta, x_i = B'A_i phi and m' = Var, so

        E_1[r] - E_2[r] = Var_3(r) (c_1 - c_2) for some theta_3 on the segment.

    The factor 1/2 needs a theta_3 whose variance is twice the mean variance on the segment. It does not exist
    for Gaussian rewards, whose variance is constant, nor for bounded rewards near the largest variance. Since
    the mean variance itself is attained, the relative gap is at most 1/2.
    """
    return attack_transportation(rng, trials)


def attack_transportation(rng, trials, factor=0.5, families=REWARDS):
    """Attack the printed factor over the whole hypercube, and the factor 1 on the segment alone."""
    printed, corrected = Worst(), Worst()
    tally = {name: {"laws": 0, "gap": 0.0, "held": 0, "rescued": 0} for name in families}

    def see(law):
        if not _weighable(law, families):
            return
        gap, on_segment = cube_gap(law, factor, families), segment_gap(law, factor, families)
        printed.see(gap, law)
        corrected.see(segment_gap(law, 1.0, families), law)
        row = tally[law["kind"]]
        row["laws"] += 1
        row["gap"] = max(row["gap"], gap)
        row["held"] += on_segment <= TOLERANCE
        row["rescued"] += gap <= TOLERANCE < on_segment

    for law in _plain_laws(families):
        see(law)
    for _ in range(trials):
        see(_draw_pair(rng, families))
    searches = max(1, trials // 20)
    for _ in range(searches):
        # The two gaps are maximised separately, since their worst cases differ.
        see(_push(rng, families, lambda law: cube_gap(law, factor, families)))
        see(_push(rng, families, lambda law: segment_gap(law, 1.0, families)))
    missed = max(_missed_by_cube_gap(rng, factor, families) for _ in range(searches))
    verdict = decide(printed.value - missed, corrected.value, tolerance=TOLERANCE)
    corrections = {
        "corrected": "E_1[r] - E_2[r] = Var_3(r) B'M_{theta_1 - theta_2} phi for some theta_3 on the "
        "segment, without the factor 1/2; the bounds that are derived from the lemma double",
    }
    return Finding(
        verdict=verdict,
        worst_case=printed.value,
        meaning="smallest |E_1[r] - E_2[r] - factor Var_3(r) B'M phi| over theta_3 in the hypercube, "
        f"as a share of |E_1[r] - E_2[r]|; the claim needs 0 (to {TOLERANCE:g})",
        instance=printed.instance,
        rule=f"holds if the printed gap (less what the last detail shows) is at most {TOLERANCE:g} on every "
        "law; corrected if not, but the gap with factor 1 and theta_3 on the segment is; fails otherwise",
        correction=corrections.get(verdict, ""),
        details={
            "largest gap of the corrected statement": corrected.value,
            "by family": {
                name: {
                    "laws": row["laws"],
                    "largest gap over the hypercube": row["gap"],
                    "laws where the printed statement holds on the segment": row["held"],
                    "laws where only the hypercube rescues it": row["rescued"],
                }
                for name, row in tally.items()
            },
            "largest improvement on the line search by optimising theta_3 itself": missed,
        },
    )


def segment_gap(law, factor, families=REWARDS):
    """Smallest relative gap on the segment, min over theta_3 of |E_1 - E_2 - factor Var_3 (c_1-c_2)| / |E_1 - E_2|."""
    c1, c2, _, _ = _natural_parameters(law)
    return _gap(families[law["kind"]], c1, c2, factor, np.linspace(min(c1, c2), max(c1, c2), 257))


def cube_gap(law, factor, families=REWARDS):
    """Smallest relative gap over the hypercube, by a line search.

    The image of the hypercube under x' is the interval from sum_i min(x_i theta_1i, x_i theta_2i) to the sum of
    the maxima, so the line search is exhaustive. The points are denser near c = 0, where the variance changes.
    """
    c1, c2, low, high = _natural_parameters(law)
    points = np.sinh(np.linspace(np.arcsinh(low), np.arcsinh(high), 513))
    points = np.union1d(points, np.clip([c1, c2, 0.0], low, high))
    return _gap(families[law["kind"]], c1, c2, factor, points)


def _gap(family, c1, c2, factor, points):
    difference = family.mean(c1) - family.mean(c2)
    _, distance = nearest_to(difference, lambda c: factor * family.variance(c) * (c1 - c2), points)
    return float(distance / max(abs(difference), TINY))


def _natural_parameters(law):
    """c_1, c_2 and the range of x'theta_3 over the hypercube."""
    x = reward_vector(law)
    ends = np.stack([x * law["theta"], x * law["other"]])
    c1, c2 = ends.sum(1)
    return float(c1), float(c2), float(ends.min(0).sum()), float(ends.max(0).sum())


def _weighable(law, families):
    """Whether the means differ by more than rounding; under deeper saturation both sides of the claim are 0."""
    c1, c2, _, _ = _natural_parameters(law)
    family = families[law["kind"]]
    mean1, mean2 = family.mean(c1), family.mean(c2)
    return bool(abs(c1 - c2) > 1e-4 and abs(mean1 - mean2) > 1e-8 * (1 + abs(mean1)))


def _plain_laws(families):
    """Cases with d = 1, features 1 and close, opposite or saturated parameters; their gaps can be checked by hand."""
    for kind in sorted(families):
        for theta, other in ((1.0, 0.0), (8.0, -8.0), (12.0, 10.0)):
            yield {"kind": kind, "phi": [1.0], "A": [[[1.0]]], "B": [1.0], "theta": [theta], "other": [other]}


def _draw_pair(rng, families):
    """A random reward law, sometimes with a hypercube that is much larger than the segment.

    There theta_1 and theta_2 nearly agree along x and differ across it: the best chance of the printed lemma.
    """
    law = draw_reward(rng, families)
    x = reward_vector(law)
    if len(x) > 1 and x @ x > 0 and rng.random() < 0.6:
        theta = np.asarray(law["theta"])
        theta = theta + x * (rng.uniform(-8, 8) - x @ theta) / (x @ x)
        across = rng.standard_normal(len(x))
        across -= x * (x @ across) / (x @ x)
        across *= 10.0 ** rng.uniform(-1, 1.5) / (np.linalg.norm(across) * np.linalg.norm(x))
        other = theta + across + 10.0 ** rng.uniform(-3, 0) * x / (x @ x)
        law |= {"theta": theta.tolist(), "other": other.tolist()}
    return law


def _push(rng, families, gap):
    """A law whose theta_1 and theta_2 are moved to enlarge a gap."""
    law = _draw_pair(rng, families)
    d = len(law["theta"])

    def moved(v):
        return law | {"theta": v[:d].tolist(), "other": v[d:].tolist()}

    def loss(v):
        return -gap(moved(v)) if _weighable(moved(v), families) else 1.0

    start = np.concatenate([law["theta"], law["other"]])
    return moved(minimize(loss, start, method="Nelder-Mead", options={"maxfev": 100}).x)


def _missed_by_cube_gap(rng, factor, families):
    """How far a search over theta_3 in the hypercube, from corners and inner points, gets below `cube_gap`."""
    law = _draw_pair(rng, families)
    if not _weighable(law, families):
        return 0.0
    family, x = families[law["kind"]], reward_vector(law)
    ends = np.stack([law["theta"], law["other"]])
    low, high = ends.min(0), ends.max(0)
    c1, c2 = ends @ x
    difference = family.mean(c1) - family.mean(c2)

    def gap(share):
        c3 = x @ (low + share * (high - low))
        return abs(1 - factor * float(family.variance(c3)) * (c1 - c2) / difference)

    def found_from(start):
        found = minimize(gap, start, bounds=[(0.0, 1.0)] * len(x), method="L-BFGS-B")
        return gap(np.clip(found.x, 0.0, 1.0))

    inner, corners = rng.random((2, len(x))), rng.integers(0, 2, (2, len(x))).astype(float)
    found = min(found_from(start) for start in (*inner, *corners))
    return max(0.0, cube_gap(law, factor, families) - found)
