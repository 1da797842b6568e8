"""The model that an agent knows: features, family and reward law, everything but the parameters theta."""

from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from befrl.model.checks import call
from befrl.model.features import Features
from befrl.model.kronecker_features import KroneckerFeatures


@dataclass(eq=False)
class Model:
    """Kernels and mean rewards on the anchors as functions of theta; `smooth` if features vary within cells."""

    features: object  # U on the anchors
    family: object  # next-state laws
    reward: object  # reward law
    B: np.ndarray  # the reward's vector, (p,)
    phi: object = None  # maps states (n,), or (n, dim), to features (n, A, q); needed if `smooth`

    def __post_init__(self):
        self.space = self.family.space
        self.n_cells, self.smooth = self.space.n_cells, self.space.per_cell > 1
        self.n_anchors, self.n_actions, self.d = self.features.n_anchors, self.features.n_actions, self.features.d

    @classmethod
    def smooth_in(cls, phi, family, reward, B, A=None):
        """A model whose features phi(states) -> (n, A, q) vary within cells; A (d, p, q), or else all unit matrices."""
        on_anchors = call("phi(s)", phi, family.space.nodes)
        features = KroneckerFeatures(on_anchors, family.p) if A is None else Features.dense(on_anchors, A)
        return cls(features, family, reward, np.asarray(B, dtype=float), phi)

    @cached_property
    def BB(self):
        return np.multiply.outer(self.B, self.B)

    @cached_property
    def one_component(self):
        """Whether rewards depend on one component of U theta_r only, so that B B' is diagonal."""
        return np.count_nonzero(self.B) == 1

    @cached_property
    def coarse(self):
        """An equivalent smooth model with cells merged where phi is constant, and the anchor there of each anchor."""
        if not self.family.exact_cells:
            return self, np.arange(self.n_anchors)
        box, anchor = self.space.merged(self.phi(self.space.nodes))
        features = self.features.on(self.phi(box.nodes))
        return Model(features, self.family.on(box), self.reward, self.B, self.phi), anchor

    def reward_natural(self, theta_r):
        """The reward's natural parameter theta_r . x_r = B . U theta_r, (n, d) -> (n, N, A)."""
        natural = self.features.natural(theta_r)
        # Component by component: numpy is slow on short axes.
        return reduce(np.add, [natural[..., i] * self.B[i] for i in np.flatnonzero(self.B)] or [natural[..., 0] * 0.0])

    def mean_reward(self, theta_r):
        """E[r], (n, d) -> (n, N, A)."""
        return self.reward.mean(self.reward_natural(theta_r))

    def kernel(self, theta_p):
        """P(next anchor | anchor, action), (n, d) -> (n, N, A, N)."""
        return self.family.kernel(self.features.natural(theta_p))
