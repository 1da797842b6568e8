"""The interface of estimators of theta_p: one update per episode, for n rows in lock step."""

from abc import ABC, abstractmethod

import numpy as np


class Estimator(ABC):
    """An estimator with the penalty eta/2 |theta|_A^2, with one eta or one for each row.

    Random estimators draw from the stream `uniforms`.

    flat     whether an update costs the same at episode 10 and at episode 100,000; the benchmark tests it
    hessian  the Hessian of the penalised likelihood at the estimate, or None if the estimator does not compute it
    """

    flat = True
    hessian = None

    def __init__(self, model, n, eta, uniforms):
        self.model, self.n, self.uniforms = model, n, uniforms
        self.eta = np.broadcast_to(np.asarray(eta, dtype=float), (n,))
        self.theta = np.zeros((n, model.d))

    @abstractmethod
    def update(self, data, trajectory):
        """The new theta (n, d), from the statistics `data` of all episodes and the `trajectory` of the last one."""
