"""Monte Carlo maximum likelihood (Geyer and Thompson 1992): Z by importance weights on Markov chain draws.

For each (anchor, action), Metropolis chains draw x_m from p_c0 with c0 = U theta_0 for an earlier theta_0. With
Z(c) = Z(c0) + log mean_m exp( (c - c0) . psi(x_m) ), c = U theta, each episode takes one Newton step, limited by
`base.TrustRegion`, on the penalised likelihood of *all* data. Draws are kept in a table (n, N, A, G) on the nodes of
s'. Where the variance of the log-weight exceeds TURN^2, c0 is set to c and the draws are dropped. Consistent at rate
1/n in KL, with about 1 + (visits per episode)/(draws per episode) times the likelihood's variance.

**Deviations.** Geyer has one reference theta_0 and draws once; here each (anchor, action) has its own c0, on which
alone its Z depends, and draws are added in every episode. Where features vary within cells the counts of single anchors
can be negative (`data.py`), and the Hessian is taken with their positive parts.
"""

import numpy as np

from befrl.learning.estimators import base
from befrl.learning.metropolis import walk_for
from befrl.learning.node_table import NodeTable

# Chains for each cell and action, at least FEWEST for each anchor and action; the last of STEPS is a draw.
CHAINS, FEWEST, STEPS = 16, 4, 8
# Largest standard deviations of the log-weights: estimated, where at 1/2 the effective number of draws is 4/5 of all,
# and under the base measure, since few draws can hide their variance.
TURN, FARTHEST = 0.5, 2.0


class Estimator(base.Estimator):
    def __init__(self, model, n, eta, uniforms):
        super().__init__(model, n, eta, uniforms)
        self.walk, self.trust = walk_for(model.family), base.TrustRegion(model)
        self.table = NodeTable(model, n, "mcmc-mle")
        shape = (n, model.n_anchors, model.n_actions)
        self.anchor, self.place = np.zeros((*shape, model.family.p)), tuple(np.indices(shape[1:]))
        # The anchors of a cell share its chains: a visit counts on all of them.
        self.shape = (*shape, max(FEWEST, -(-CHAINS // model.space.per_cell)))
        self.where = np.broadcast_to(np.arange(np.prod(shape)).reshape(shape)[..., None], self.shape)
        self.x = self.walk.start(self.place, self.take(*self.shape[1:], self.walk.uniforms - 1))

    def draw(self):
        """One more draw of every chain, from the laws of c0 (`anchor`)."""
        level = self.walk.log_density(self.anchor, self.x, self.place)
        for _ in range(STEPS):
            u = self.take(*self.shape[1:], self.walk.uniforms)
            self.x, level = self.walk.step(self.anchor, self.x, level, self.place, u)
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
        natural = self.model.features.natural
        self.draw()
        mean, cov = self.moments(natural(self.theta) - self.anchor)
        self.theta = self.theta - self.trust.limit(self.newton_step(data, mean, cov, np.maximum(data.counts, 0.0)))
        self.turn(natural(self.theta), cov)
        return self.theta

    def turn(self, natural, cov):
        """Set c0 to the present c where the log-weights vary too much."""
        tilt = natural - self.anchor
        far = ((cov @ tilt[..., None])[..., 0] * tilt).sum(-1) > TURN**2
        far |= np.square(self.trust.scale * tilt).sum(-1) > FARTHEST**2
        self.anchor[far] = natural[far]
        self.table.values[far] = 0.0
