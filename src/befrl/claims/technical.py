"""Technical lemmas on derivatives and divergences in the bilinear exponential family."""

from dataclasses import dataclass

import numpy as np

from befrl.claims.toolbox.calculus import directional_derivatives, nearest_to
from befrl.claims.toolbox.laws import (
    REWARDS,
    Model,
    definition,
    draw_reward,
    draw_transition,
    log_sum,
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
