"""What every estimator of theta_p has: one update an episode, for n seeds in lock step."""

from abc import ABC, abstractmethod

import numpy as np


class Estimator(ABC):
    """`eta` is the weight of the penalty |theta|_A^2/2 and `uniforms` a stream for estimators that are random.

    `flat` says that an update costs the same at episode 10 and at 100,000; the benchmark holds it to that. `hessian` is
    that of the penalised likelihood at the estimate, for the estimators that have it at hand.
    """

    flat = True
    hessian = None

    def __init__(self, model, n, eta, uniforms):
        self.model, self.n, self.eta, self.uniforms = model, n, eta, uniforms
        self.theta = np.zeros((n, model.d))

    @abstractmethod
    def update(self, data, trajectory):
        """The new theta (n, d). `data` holds the statistics of all episodes, `trajectory` is the last of them."""
