"""The bilinear exponential family p_theta(s'|s, a) = exp(psi(s')' v + b(s'|s, a) - Z(v)), v = U(s,a) theta in R^p.

`Family` sums over the nodes of the state space: exact for finite spaces, Gauss-Legendre for boxes. Families with closed
forms override it. Shapes: the parameter v is natural (n, N, A, p), for n seeds, N anchors, A actions; G nodes.
"""

import copy
from functools import cached_property

import numpy as np

from befrl.common.errors import InputError
from befrl.model.checks import base_table, call, check_pointwise, psi_table
from befrl.model.families.panels import invert_panel
from befrl.model.families.tilts import TERMS, Tilts
from befrl.numerics import bellman

ROWS = 256  # of a table of distances, which would not fit into memory as a whole
STEP = 2e-3  # step of the finite differences for d psi/ds'; their error is of order 1e-9 for O(1) functions


class Family:
    """psi (G, p); log base measure b, (G,) or (N, A, G)."""

    diagonal = False  # the components of psi are uncorrelated under every law
    constant_covariance = False  # Cov psi is the same under every law, so that maximum likelihood is least squares
    tails_included = False  # the outermost nodes of a box that stands for R^m include the mass beyond it
    exact_cells = False  # the masses of cells of any width are exact, so that cells can be merged by `on(space)`
    diameter_stated = False  # `diameter` is that of all values of psi, and not only of those on the nodes

    def __init__(self, space, psi, log_base):
        self.space = space
        self.psi = psi_table(space, psi)
        self.p = self.psi.shape[1]
        self.log_base = base_table(space, log_base)

    @cached_property
    def diameter(self):
        """The largest distance of two values of psi on the nodes, which lie inside the cells of a box."""
        if self.p == 1:
            return float(np.ptp(self.psi))
        from scipy.spatial.distance import cdist  # only agents with certificates need it

        return max(float(cdist(self.psi[i : i + ROWS], self.psi).max()) for i in range(0, len(self.psi), ROWS))

    @property
    def covariance_bound(self):
        """beta with Cov psi <= beta I for all natural parameters in R^p, not only for those of a compact set."""
        return self.diameter**2 / 4

    @property
    def self_concordance(self):
        """M with |Z'''(v)[x, x, w]| <= M |w| Z''(v)[x, x] for all v, x and w in R^p."""
        return self.diameter

    @property
    def bounds_hold(self):
        """Whether these two bounds hold for all states: they are the class's own, or follow from a true diameter."""
        bounds = ("covariance_bound", "self_concordance")
        own = all(getattr(type(self), name) is not getattr(Family, name) for name in bounds)
        return self.space.discrete or self.diameter_stated or own

    def statistic(self, s):
        """psi of visited states, (...,) -> (..., p)."""
        return self.psi[s]

    def _logits(self, natural):
        return natural @ self.psi.T + (self.log_base + self.space.log_weights)

    def log_masses(self, natural):
        """The log probability of each node (n, N, A, G), and Z (n, N, A), by sums over the nodes."""
        logits = self._logits(natural)
        top = logits.max(-1, keepdims=True)
        Z = top[..., 0] + np.log(np.exp(logits - top).sum(-1))
        return logits - Z[..., None], Z

    def masses(self, natural):
        """The probability of each node (n, N, A, G), and Z (n, N, A)."""
        mass = self._logits(natural)
        top = mass.max(-1, keepdims=True)
        mass -= top
        np.exp(mass, out=mass)
        total = mass.sum(-1, keepdims=True)
        mass /= total
        return mass, (top + np.log(total))[..., 0]

    def log_partition(self, natural):
        """Z, (n, N, A)."""
        return self.masses(natural)[1]

    def moments(self, natural):
        """Z (n, N, A), E psi (n, N, A, p) and Cov psi (n, N, A, p, p)."""
        mass, Z = self.masses(natural)
        mean = mass @ self.psi
        cov = np.empty((*mean.shape, self.p))
        for i in range(self.p):
            # Centring before squaring keeps the covariance accurate when the law is concentrated.
            weighted = mass * (self.psi[:, i] - mean[..., i, None])
            for j in range(i + 1):
                cov[..., i, j] = cov[..., j, i] = np.einsum("...g,...g", weighted, self.psi[:, j] - mean[..., j, None])
        return Z, mean, cov

    def kernel(self, natural):
        """P(next anchor), (n, N, A, N)."""
        return self._per_anchor(self.masses(natural)[0])

    def kernel_and_partial_means(self, natural):
        """P(next anchor) and E[psi 1(next anchor)] (n, N, A, N, p), from which Cov(psi, V) is computed."""
        mass, _ = self.masses(natural)
        partial = [self._per_anchor(mass * self.psi[:, i]) for i in range(self.p)]
        return self._per_anchor(mass), np.stack(partial, axis=-1)

    def _per_anchor(self, node_values):
        if len(self.space.nodes) == self.space.n_anchors:
            return node_values
        return node_values.reshape(*node_values.shape[:-1], self.space.n_anchors, -1).sum(-1)

    def kl(self, natural, other):
        """KL(p_v, p_other) = Z(other) - Z(v) - (other - v)' E_v psi, (n, N, A)."""
        Z, mean, _ = self.moments(natural)
        return self.log_partition(other) - Z - ((other - natural) * mean).sum(-1)

    def base(self, anchor, action):
        """The log base measure of one (anchor, action), (G,)."""
        n_anchors, n_actions = self.log_base.shape[:2]
        return self.log_base[min(anchor, n_anchors - 1), min(action, n_actions - 1)]

    def support(self, anchor, action):
        """psi on the support of one (anchor, action), (G', p)."""
        return self.psi[np.isfinite(self.base(anchor, action))]

    def restricted(self, anchor, action):
        """The family of one (anchor, action) alone, for natural (n, 1, 1, p)."""
        one = copy.copy(self)
        one.log_base = self.base(anchor, action)[None, None]
        return one


class FiniteFamily(Family):
    """A family on finitely many states; the inverse CDF is a search in the cumulative sums."""

    def sampler(self, natural):
        """The inverse CDF for natural (N, A, p), as a function of (cell, action, u), (n,) each."""
        cumulative = np.cumsum(self.kernel(natural[None])[0], axis=-1)
        cumulative /= cumulative[..., -1:]
        n_actions = cumulative.shape[1]
        # By next state first: the sum then runs over contiguous memory.
        inner = np.ascontiguousarray(cumulative[..., :-1].reshape(-1, cumulative.shape[-1] - 1).T)
        return lambda cell, action, u: (u >= inner.take(cell * n_actions + action, axis=1)).sum(0)


class ContinuousFamily(Family):
    """A family of states, numbers or vectors (..., dim), given by functions `statistic` and `log_base_at` of s'.

    `diameter` is that of all values of psi. Without it bef-seed takes that of its values on the nodes, which is too
    small, and promises nothing.
    """

    def __init__(self, space, statistic=None, log_base_at=None, diameter=None):
        self.space = space
        if diameter is not None:
            self.diameter, self.diameter_stated = diameter, True
        if statistic is not None:
            self.statistic = statistic
        if log_base_at is not None:
            self.log_base_at = log_base_at
        functions = {"statistic(s)": self.statistic, "log_base_at(s)": self.log_base_at}
        tables = {name: call(name, function, space.nodes) for name, function in functions.items()}
        super().__init__(space, *tables.values())
        for name, function in functions.items():
            check_pointwise(name, function, space.nodes, tables[name])

    def statistic(self, s):
        raise InputError(f"the family {type(self).__name__} has no psi: give `statistic`, a function of the next state")

    def log_base_at(self, s):
        """The log density of the base measure, (...,); Lebesgue measure unless overridden."""
        return np.zeros(np.shape(s)[: np.ndim(s) - (self.space.dim > 1)])

    def derivatives(self, s):
        """d_i psi (..., dim, p), d_i^2 psi (..., dim, p) and d_i b (..., dim), by finite differences."""
        axes = np.eye(self.space.dim) if self.space.dim > 1 else [1.0]
        psi = [_differences(lambda t, e=e: self.statistic(s + t * e)) for e in axes]
        base = [_differences(lambda t, e=e: self.log_base_at(s + t * e))[0] for e in axes]
        firsts, seconds = zip(*psi, strict=True)
        return np.stack(firsts, -2), np.stack(seconds, -2), np.stack(base, -1)

    def _tilted(self, natural):
        """The masses of the nodes up to a factor of each law, (..., p) -> (..., G)."""
        table = self._logits(natural)
        table -= table.max(-1, keepdims=True)
        return np.exp(table, out=table)

    @cached_property
    def _tilts(self):
        """The expansion of the laws for a number psi, if there are enough nodes for it to pay."""
        if self.p > 1 or len(self.psi) < 4 * TERMS:
            return None
        return Tilts(self.psi[:, 0], self.log_base[0, 0] + self.space.log_weights)

    def moments(self, natural):
        if self._tilts is None:
            return super().moments(natural)
        Z, mean, variance, sound = self._tilts.moments(natural[..., 0])
        mean, variance = mean[..., None], variance[..., None, None]
        if not sound.all():
            wild = ~sound
            parts = super().moments(natural[wild][:, None, None])
            Z[wild], mean[wild], variance[wild] = (part[:, 0, 0] for part in parts)
        return Z, mean, variance

    def log_partition(self, natural):
        return super().log_partition(natural) if self._tilts is None else self.moments(natural)[0]

    def expectation(self, natural):
        """The linear map V (n, N) -> E V (n, ...) of the laws natural (n, ..., p), where each node is an anchor."""
        return self._linear(natural, lambda V, table: (table @ V[..., None])[..., 0])

    def expectations(self, natural):
        """Like `expectation`, for k functions at once: V (n, N, k) -> E V (n, ..., k), with k after n in memory."""
        return self._linear(natural, bellman.by_function)

    def _linear(self, natural, product):
        """The map V -> E V, where product(V, table) is the sum over the last axis of a table (n, rows, N)."""
        shape = natural.shape[1:-1]
        if self._tilts is not None:
            table, sound = self._tilts.factors(natural[..., 0])
            if sound.all():
                table, waves = table.reshape(len(table), -1, table.shape[-1]), self._tilts.waves
                return lambda V: unfold(product(product(V, waves), table), shape)
            if len(natural) > 1:
                # Each row by itself, so that its bits do not depend on the others.
                each = [self._linear(natural[i : i + 1], product) for i in range(len(natural))]
                return lambda V: np.concatenate([one(V[i : i + 1]) for i, one in enumerate(each)])
        table = self._tilted(natural)
        rows = table.reshape(len(table), -1, table.shape[-1])
        # Dividing the products costs less than dividing the table.
        total = (rows @ np.ones((table.shape[-1], 1)))[..., 0]
        return lambda V: unfold(_divided(product(V, rows), total), shape)

    def value_moments(self, natural):
        """The map V (n, N) -> E V (n, ...) and the p components of Cov(psi, V), (n, ...) each, like `expectation`."""
        table = self._tilted(natural)
        columns = table.reshape(len(table), -1, table.shape[-1]).swapaxes(1, 2)
        factors = np.concatenate([np.ones((1, len(self.psi))), self.psi.T])
        sums = factors @ columns
        total, means = sums[:, :1], sums[:, 1:] / sums[:, :1]

        def moments(V):
            E = (V[:, None] * factors) @ columns
            E /= total
            E[:, 1:] -= means * E[:, :1]
            first, *others = E.reshape(len(V), -1, *natural.shape[1:-1]).swapaxes(0, 1)
            return first, others

        return moments

    def quantile(self, natural, u):
        """The inverse CDF in one dimension, for natural (n, p) at u (n,), found panel by panel."""
        space, rows = self.space, np.arange(len(u))
        mass = self._tilted(natural[:, None, None])[:, 0, 0]
        reached = mass.cumsum(-1)[:, space.order - 1 :: space.order]
        target = u * reached[:, -1]
        panel = (target[:, None] >= reached[:, :-1]).sum(-1)
        chosen = mass.reshape(len(mass), -1, space.order)[rows, panel]
        total = chosen.sum(-1)
        share = np.clip((target - reached[rows, panel]) / total + 1.0, 0.0, 1.0)
        t = invert_panel(chosen / (space.cell_shares * total[:, None]), share)
        edges = space.edges[0]
        return edges[panel] + (edges[panel + 1] - edges[panel]) * (t + 1.0) / 2.0


def _divided(sums, total):
    """Sums (n, rows) or (n, rows, k) over total (n, rows)."""
    return sums / (total if sums.ndim == 2 else total[..., None])


def unfold(table, shape):
    """(n, rows, ...) -> (n, *shape, ...), without a copy."""
    if table.ndim == 2:
        return table.reshape(len(table), *shape)
    return np.moveaxis(table.swapaxes(1, 2).reshape(len(table), -1, *shape), 1, -1)


def _differences(f):
    """The first and second derivative at zero, by central differences of fourth order."""
    f0, (p1, m1), (p2, m2) = f(0.0), (f(STEP), f(-STEP)), (f(2 * STEP), f(-2 * STEP))
    first = (8 * (p1 - m1) - (p2 - m2)) / (12 * STEP)
    second = (16 * (p1 + m1) - (p2 + m2) - 30 * f0) / (12 * STEP**2)
    return first, second
