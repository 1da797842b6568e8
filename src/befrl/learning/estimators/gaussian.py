"""Closed form for Gaussian next states: ridge regression, the exact penalised likelihood in one linear solve.

Where Cov psi = C is the same under all laws of the family, E_theta psi = E_0 psi + C U theta, and Newton's step from
zero is exact: theta = (sum_sa N_sa U' C U + eta A)^-1 sum_sa U' (S_sa - N_sa E_0 psi).
"""

import numpy as np

from befrl.common.errors import Refused
from befrl.learning import likelihood
from befrl.learning.estimators import base
from befrl.numerics import linalg


class Estimator(base.Estimator):
    def __init__(self, model, n, eta, uniforms):
        super().__init__(model, n, eta, uniforms)
        if not model.family.constant_covariance:
            raise Refused(
                f"estimator 'gaussian' cannot work with the family {type(model.family).__name__}: "
                "it needs Gaussian next states, as in instance 'lds'"
            )
        self.hessian = likelihood.prior(model.features, n, eta)

    def update(self, data, trajectory):
        _, gradient, self.hessian = likelihood.transitions(self.model, data, self.eta, np.zeros_like(self.theta))
        self.theta = base.finite(-linalg.solve(self.hessian, gradient))
        return self.theta
