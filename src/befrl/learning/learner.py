"""The statistics, the estimates of theta_p and theta_r and the design matrix of model-based agents."""

from dataclasses import dataclass

import numpy as np

from befrl.common.parameters import choice, number
from befrl.common.streams import ESTIMATOR
from befrl.learning import estimators, likelihood
from befrl.learning.data import Data
from befrl.learning.reward_learner import RewardLearner
from befrl.numerics import linalg


@dataclass(frozen=True)
class LearnerParameters:
    """The parameters that all model-based agents share."""

    eta: float = number(1.0, 1e-6, 1e6, "weight of the penalty", ridge=True)
    estimator: str = choice("mle", estimators.registry, "estimator of the transition parameter")


class Learner:
    """Statistics and estimates of n rows. In track K the reward's parameter is given."""

    def __init__(self, problem, parameters):
        model, n = self.model, self.n = problem.model, problem.n
        self.eta = np.broadcast_to(np.asarray(parameters.eta, dtype=float), (n,))
        self.alpha_p = problem.constants["alpha_p"]
        self.data = Data(model, n)
        estimator = estimators.registry.module(parameters.estimator).Estimator
        self.estimator = estimator(model, n, parameters.eta, problem.stream(ESTIMATOR))
        self.theta_p = np.zeros((n, model.d))
        self.reward = RewardLearner(problem, parameters.eta)

    def update(self, trajectory):
        """Add one episode of each seed and refit."""
        self.data.add(trajectory)
        self.theta_p = self.estimator.update(self.data, trajectory)
        self.reward.update(self.data)

    @property
    def theta_r(self):
        """The estimate of the reward's parameter, (n, d)."""
        return self.reward.theta

    @property
    def hessian_r(self):
        """The Hessian of the rewards' likelihood at the estimate, (n, blocks, m, m)."""
        return self.reward.hessian

    @property
    def hessian_p(self):
        """The Hessian of the transitions' likelihood at the estimate, (n, blocks, m, m)."""
        if self.estimator.hessian is not None:
            return self.estimator.hessian
        return likelihood.transitions(self.model, self.data, self.eta, self.theta_p)[2]

    def design(self):
        """Gbar = eta/alpha_p A + sum_sa N_sa U'U, (n, blocks, m, m)."""
        features = self.model.features
        return features.plus_trace(features.design(self.data.counts), self.eta / self.alpha_p)

    def feature_norms(self, design):
        """The paper's squared feature norm tr(U Gbar^-1 U') of each (anchor, action), (n, N, A)."""
        return self.model.features.norms(design)

    def errors(self, theta_p, theta_r, design):
        """|theta^ - theta*| in the norm of the design, for transitions and rewards, (n,) each."""
        gaps = (self.theta_p - theta_p, self.theta_r - theta_r)
        return tuple(np.sqrt(linalg.quadratic(design, gap)) for gap in gaps)
