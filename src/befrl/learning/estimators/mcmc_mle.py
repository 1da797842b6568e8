"""Monte Carlo maximum likelihood (Geyer and Thompson 1992): Z by importance weights on Markov chain draws.

For each (anchor, action), Metropolis chains draw x_m from p_c0 with c0 = U theta_0 for an earlier theta_0:

    Z(c) - Z(c0) = log mean_m exp( (c - c0) . psi(x_m) ),      c = U theta,

and each episode takes one Newton step on the penalised likelihood of *all* data with this Z, its gradient and Hessian.
Draws are kept in a table on the nodes of s' (n, N, A, G), whose size does not grow. The weights degenerate as c moves
away from c0: where the variance of the log-weight exceeds TURN^2, the (anchor, action) gets a new reference c0 = c and
its draws are dropped. Once theta has settled this no longer happens, draws accumulate like the data, and the estimate
is consistent at rate 1/n in KL, with about 1 + (visits per episode)/(draws per episode) times the likelihood's
variance; a little more, since the draws of a chain are correlated. An episode costs O(N A (M m p + G p^2)), whatever
its number. Steps are limited in length (`trust.py`), since the approximation fails far from theta_0.

**Deviations.** Geyer has one reference theta_0 and draws once; here each (anchor, action) has its own c0, on which
alone its Z depends, and draws are added in every episode. Where features vary within cells the counts of single anchors
can be negative (`data.py`), and the Hessian is taken with their positive parts.
"""

import numpy as np

from befrl.learning import likelihood
from befrl.learning.estimators import base
from befrl.learning.metropolis import walk_for
from befrl.learning.node_table import NodeTable
from befrl.learning.trust import TrustRegion
from befrl.numerics import linalg

# Chains for each cell and action, and at least for each anchor and action; steps of each in an episode, of which the
# last is a draw.
CHAINS, FEWEST = 16, 4
STEPS = 8
# With a standard deviation of one half of the log-weights about four draws in five count. Few draws can hide their
# variance: no c goes further from its anchor than two standard deviations of psi under the base measure allow.
TURN, FARTHEST = 0.5, 2.0


class Estimator(base.Estimator):
    def __init__(self, model, n, eta, uniforms):
        super().__init__(model, n, eta, uniforms)
        self.walk, self.trust = walk_for(model.family), TrustRegion(model)
        self.table = NodeTable(model, n, "mcmc-mle")
        self.anchor = np.zeros((n, model.n_anchors, model.n_actions, model.family.p))
        self.place = tuple(np.indices(self.anchor.shape[1:3]))
        # The anchors of a cell share its chains: a visit counts on all of them.
        self.chains = max(FEWEST, -(-CHAINS // model.space.per_cell))
        self.where = np.arange(self.anchor[..., 0].size).reshape(self.anchor.shape[:3])[..., None]
        self.where = np.broadcast_to(self.where, (*self.anchor.shape[:3], self.chains))
        self.x = self.walk.start(self.place, self.take(self.walk.uniforms - 1))

    def take(self, count):
        shape = (*self.anchor.shape[:3], self.chains, count)
        return self.uniforms.take(int(np.prod(shape[1:]))).reshape(shape)

    def draw(self):
        """One more draw of every chain, from the laws of the anchors."""
        level = self.walk.log_density(self.anchor, self.x, self.place)
        for _ in range(STEPS):
            self.x, level = self.walk.step(self.anchor, self.x, level, self.place, self.take(self.walk.uniforms))
        self.table.add(self.where, None, self.x)

    def moments(self, tilt):
        """Mean (n, N, A, p) and covariance of psi, at c0 + tilt."""
        exponent = self.table.exponent(tilt)
        exponent -= exponent.max(-1, keepdims=True)
        total, first, second = self.table.sums(exponent)
        mean = first / total[..., None]
        cov = second / total[..., None, None] - mean[..., :, None] * mean[..., None, :]
        return self.table.base_mean + mean, cov

    def update(self, data, trajectory):
        features = self.model.features
        natural = features.natural(self.theta)
        self.draw()
        mean, cov = self.moments(natural - self.anchor)
        counts = data.counts[..., None]
        gradient = features.pull(counts * mean - data.sum_psi) + likelihood.penalty(features, self.eta, self.theta)[1]
        hessian = features.sandwich(np.maximum(counts, 0.0)[..., None] * cov, diagonal=self.model.family.diagonal)
        step = linalg.solve(features.plus_trace(hessian, self.eta), gradient)
        self.theta = self.theta - self.trust.limit(step)
        self.turn(features.natural(self.theta), cov)
        return self.theta

    def turn(self, natural, cov):
        """Anchor anew where the log-weights vary too much."""
        tilt = natural - self.anchor
        far = ((cov @ tilt[..., None])[..., 0] * tilt).sum(-1) > TURN**2
        far |= np.square(self.trust.scale * tilt).sum(-1) > FARTHEST**2
        self.anchor[far] = natural[far]
        self.table.values[far] = 0.0
