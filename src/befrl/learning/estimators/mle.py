"""Penalised maximum likelihood by Newton's method: the estimator of the paper, and the reference for the others.

It minimises L_p of `likelihood.py`, in 1 to 3 iterations. KL falls at rate 1/n; the penalty's bias is of order eta/n.
"""

from befrl.learning import likelihood
from befrl.learning.estimators import base
from befrl.numerics import newton


class Estimator(base.Estimator):
    def __init__(self, model, n, eta, uniforms):
        super().__init__(model, n, eta, uniforms)
        self.hessian = likelihood.prior(model.features, n, eta)

    def update(self, data, trajectory):
        def loss(theta, rows):
            return likelihood.transitions(self.model, data, self.eta, theta, rows)

        self.theta, self.hessian = newton.minimise(loss, self.theta)
        return self.theta
