"""How far the estimates are from the truth, beside the radii of the paper's confidence regions and their corrections.

With Gbar = eta/alpha A + sum G and D = det(I + beta/eta A^-1 sum G), which bounds C_{A,k} (Appendix C),

    printed     |theta^ - theta*|^2_Gbar <= 2/alpha (B_A^2 + log(2 D/delta))
    corrected   |theta^ - theta*|^2_Gbar <= 2/alpha (eta/2 B_A^2 + log(1/delta) + log(D)/2)

The corrected radius is the smallest one that the ledger confirms (C23, C24, C26, C27). For rewards the correction also
replaces G by x x' with x_i = B' A_i phi, and alpha_r by inf Var: rewards see nothing else of theta_r.
"""

import numpy as np

from befrl.learning.confidence import log_determinant
from befrl.numerics import linalg

RADII = ("printed", "corrected")
PARAMETERS = ("transitions", "rewards")


def ratios(instance, learner, delta):
    """Distance over radius, {(parameter, radius): (n,)}; the region contains the truth where it is at most 1."""
    constants = instance.constants
    return {
        (parameter, kind): np.sqrt(square / _squared_radius(instance, learner, kind, alpha, beta, delta))
        for parameter, beta in zip(PARAMETERS, (constants["beta_p"], constants["beta_r"]), strict=True)
        for kind in RADII
        for square, alpha in [_squared_distance(instance, learner, parameter, kind)]
    }


def outside(instance, learner):
    """Whether an estimate is outside the compact set on which alpha and beta are taken, {parameter: (n,)}."""
    model, constants = instance.model, instance.constants
    sizes = (
        np.linalg.norm(model.features.natural(learner.theta_p), axis=-1),
        np.abs(model.reward_natural(learner.theta_r)),
    )
    radii = constants["radius_p"], constants["radius_r"]
    return {
        parameter: size.max((1, 2)) > radius for parameter, size, radius in zip(PARAMETERS, sizes, radii, strict=True)
    }


def _squared_distance(instance, learner, parameter, kind):
    """The squared distance (n,) in the region's own norm, and the region's alpha."""
    model, counts, eta = instance.model, learner.data.counts, learner.eta
    features, constants = model.features, instance.constants
    if parameter == "rewards" and kind == "corrected":
        alpha, change = constants["alpha_r"] / (model.B @ model.B), learner.theta_r - instance.theta_r
        seen = (counts * np.square(model.reward_natural(change))).sum((1, 2))
        return seen + eta / alpha * linalg.quadratic(features.trace[None], change), alpha
    alpha = constants["alpha_p" if parameter == "transitions" else "alpha_r"]
    design = features.plus_trace(features.design(counts), eta / alpha)
    errors = learner.errors(instance.theta_p, instance.theta_r, design)
    return np.square(errors[PARAMETERS.index(parameter)]), alpha


def _squared_radius(instance, learner, kind, alpha, beta, delta):
    """The right side of the region, (n,)."""
    eta, square = learner.eta, instance.constants["B_A"] ** 2
    log_D = log_determinant(instance.model.features, learner.data.counts, beta / eta)
    inside = {
        "printed": square + np.log(2 / delta) + log_D,
        "corrected": eta / 2 * square + np.log(1 / delta) + log_D / 2,
    }
    return 2 / alpha * inside[kind]
