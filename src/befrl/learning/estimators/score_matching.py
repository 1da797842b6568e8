"""Score matching (Hyvarinen 2005; Li et al., NeurIPS 2022): a linear estimate, since Z drops out of d log p/ds'.

With weights g_i(s') on the dimensions of the next state and sums over all transitions, theta = -(V + lambda A)^-1 v,

    V = sum U' [sum_i g_i d_i psi (d_i psi)'] U,   v = sum U' [sum_i g_i (d_i^2 psi + d_i b d_i psi) + d_i g_i d_i psi].

The mean of theta' V theta/2 + v' theta is, up to a constant, the weighted Fisher divergence
sum_i E g_i (d_i log p_theta - d_i log p*)^2/2, by parts, if g_i p* psi vanishes at the ends of dimension i. On R^m, and
on a circle, where the ends cancel, g = 1; on a box g_i = (x_i - low_i)(high_i - x_i) (Hyvarinen 2007; Yu, Drton,
Shojaie 2019). Consistent at rate 1/n in KL, but only for Gaussian next states with the likelihood's constant.

**Deviations.** Li et al. penalise by a free lambda = 1e-4. Here lambda/eta = tr E_0[g d psi d psi']/tr Cov_0 psi, the
ratio of V to the Hessian of the likelihood at theta = 0: the same estimate for Gaussian next states.
"""

import numpy as np

from befrl.common.errors import Refused
from befrl.learning.data import Visits
from befrl.learning.estimators import base
from befrl.numerics import linalg


class Estimator(base.Estimator):
    def __init__(self, model, n, eta, uniforms):
        super().__init__(model, n, eta, uniforms)
        family, space = model.family, model.space
        if space.discrete:
            raise Refused(
                f"estimator 'score-matching' cannot work with the family {type(family).__name__}: "
                "it differentiates in the next state, which must be continuous"
            )
        self.weighted = not (space.unbounded or getattr(space, "periodic", False))
        shape = (n, model.n_anchors, model.n_actions, family.p)
        self.squares, self.slopes = np.zeros((*shape, family.p)), np.zeros(shape)
        squares, _ = self.terms(space.nodes)
        # Blocks stay separate if no two components of psi depend on the same coordinate of s'.
        self.diagonal = not np.any(squares * (1.0 - np.eye(family.p)))
        law = np.exp(family.log_base[0, 0] + space.log_weights)
        information = law @ np.trace(squares, axis1=-2, axis2=-1) / law.sum()
        self.weight = self.eta * information / np.trace(base.base_moments(family)[1][0, 0])

    def terms(self, s):
        """The brackets of V and v at next states, (..., p, p) and (..., p)."""
        space = self.model.space
        first, second, slope = self.model.family.derivatives(s)
        x = s[..., None] if space.dim == 1 else s
        g = (x - space.low) * (space.high - x) if self.weighted else np.ones_like(x)
        g_slope = space.low + space.high - 2.0 * x if self.weighted else np.zeros_like(x)
        squares = (g[..., None, None] * first[..., :, None] * first[..., None, :]).sum(-3)
        slopes = (g[..., None] * (second + slope[..., None] * first) + g_slope[..., None] * first).sum(-2)
        return squares, slopes

    def update(self, data, trajectory):
        features, visits = self.model.features, Visits(self.model, trajectory)
        squares, slopes = self.terms(trajectory.next_states)
        self.squares += visits.total(squares)
        self.slopes += visits.total(slopes)
        V = features.sandwich(self.squares, diagonal=self.diagonal)
        self.theta = base.finite(-linalg.solve(features.plus_trace(V, self.weight), features.pull(self.slopes)))
        return self.theta
