"""Upper and lower expectations over sets of next-state laws, of several functions V at once.

    bernstein  upper(V) = PV + min{ sqrt(2 Var(V) D) + (sup V - PV) D,  S sqrt(D/2),  sup V - PV }   for KL(P, Q) <= D
    kl         the smaller one of this and  lambda - exp( E log(lambda - V) - D ),  for some lambda > sup V
    interval   upper(V) = PV + min{ W tv(V),  S |W|_1,  sup V - PV },  P, W = (P+ +- P-)/2,  for P_v with v- <= v <= v+

lower(V) = -upper(-V), and S = sup V - inf V over the states that can follow (s,a). P+ and P- are the laws of v+ and
v-, and tv(V) is the variation of V along the states, in the order of psi, up to a state. docs/repair-proof.md has the
proofs (Lemmas 5 and 6). Every lambda gives a valid bound, so that a few of them serve all (s,a). By construction
inf V <= lower <= PV <= upper <= sup V.

`bounds(V, share)` maps k functions on the anchors (n, N, k) to (n, N, A, k): the mean PV plus `share` (n, 1, 1, k)
times the distance to upper(V) or, for the last function, to lower(V). In `bernstein` and `kl` the first of several
functions has w m/(w + m) in place of this distance, w = sqrt(2 Var(V) D) + m D, m = sup V - PV: where sets are so
large that every upper(V) is sup V, it still grows with D. It is no bound.
"""

from functools import cached_property

import numpy as np

from befrl.numerics import bellman

LAMBDAS = np.geomspace(0.01, 30.0, 8)  # (lambda - sup V)/S


class Reach:
    """The states that can follow each (anchor, action)."""

    def __init__(self, family):
        possible = np.isfinite(family.log_base)
        # An anchor can follow if one of its nodes can.
        possible = possible.reshape(*possible.shape[:2], family.space.n_anchors, -1).any(-1)
        self._next = None
        if not possible.all():
            # The numbers of these states; where there are fewer than elsewhere, the first one fills the table.
            found = np.argsort(~possible, axis=-1, kind="stable")[..., : possible.sum(-1).max()]
            self._next = np.where(np.take_along_axis(possible, found, -1), found, found[..., :1])

    def ends(self, V):
        """The largest and the smallest value there, (n, N, k) -> (n, 1, 1, k) or (n, N, A, k)."""
        if self._next is None:
            return V.max(1)[:, None, None], V.min(1)[:, None, None]
        near = [V[:, states] for states in np.moveaxis(self._next, -1, 0)]
        top, bottom = near[0].copy(order="K"), near[0].copy(order="K")
        for each in near[1:]:
            np.maximum(top, each, out=top)
            np.minimum(bottom, each, out=bottom)
        return top, bottom


def _largest_width(mean, top, bottom):
    """The distance from the mean to the largest value or, for the last function, to the smallest."""
    largest = top - mean
    np.subtract(mean[..., -1], bottom[..., -1], out=largest[..., -1])
    return np.maximum(largest, 0.0, out=largest)


class Ball:
    """The balls KL(P, Q) <= D around the laws of `expectations`, V (n, N, k) -> (n, N, A, k); `dual` for kl."""

    def __init__(self, expectations, D, reach, dual=False):
        self.expectations, self.reach, self.dual = expectations, reach, dual
        self.D = bellman.ordered(D)[..., None]
        self._two, self._half = np.sqrt(2 * self.D), np.sqrt(self.D / 2)

    def bounds(self, V, share):
        k = V.shape[-1]
        top, bottom = self.reach.ends(V)
        # Centred at the middle of the range, E W^2 - (E W)^2 is exact up to the rounding of its square.
        middle = 0.5 * (V.max(1) + V.min(1))
        columns = bellman.functions(*V.shape[:2], 2 * k)
        W = np.subtract(V, middle[:, None], out=columns[..., :k])
        np.multiply(W, W, out=columns[..., k:])
        found = self.expectations(columns)
        mean, width = found[..., :k], found[..., k:]
        width -= mean * mean
        np.sqrt(np.maximum(width, 0.0, out=width), out=width)
        width *= self._two
        mean += middle[:, None, None]
        largest = _largest_width(mean, top, bottom)
        width += largest * self.D
        total = width[..., 0] + largest[..., 0]
        soft = np.divide(width[..., 0] * largest[..., 0], total, out=np.zeros_like(total), where=total > 0)
        np.minimum(width, (top - bottom) * self._half, out=width)
        if self.dual:
            np.minimum(width, self._dual(V, mean), out=width)
        np.minimum(width, largest, out=width)
        if k > 1:
            width[..., 0] = soft
        width *= share
        mean += width
        return mean

    def _dual(self, V, mean):
        """The smallest bound of LAMBDAS, as a distance from the mean."""
        high, low = V.max(1)[:, None], V.min(1)[:, None]
        span, below = high - low, high - V
        below[..., -1] = V[..., -1] - low[..., -1]
        below = below / np.where(span > 0, span, 1.0)
        logs = [self.expectations(np.log(below + each)) for each in LAMBDAS]
        least = np.minimum.reduce([each - np.exp(log - self.D) for each, log in zip(LAMBDAS, logs, strict=True)])
        outer = high[:, None] - mean
        outer[..., -1] = mean[..., -1] - low[:, None, ..., -1]
        return outer + span[:, None] * least


class Interval:
    """The laws P_v between P- and P+: `mean` maps V to PV, `width` maps |dV| (n, N - 1, k) to W tv(V)."""

    def __init__(self, mean, width, distance, reach):
        self.mean, self.width, self.reach = mean, width, reach
        self._distance = distance  # () -> the total variation between P- and P+, or more, (n, N, A)

    @cached_property
    def distance(self):
        return self._distance()[..., None]

    def bounds(self, V, share):
        top, bottom = self.reach.ends(V)
        steps = np.abs(V[:, 1:] - V[:, :-1])
        mean, width = self.mean(V), self.width(steps)
        # W tv(V) <= |W|_1 tv/2 for the whole variation tv of V: the limit matters only if tv exceeds twice the span.
        wild = steps.sum(1) > 2 * (V.max(1) - V.min(1))
        if wild.any():
            limit = np.where(wild[:, None, None], (top - bottom) * self.distance, np.inf)
            np.minimum(width, limit, out=width)
        np.minimum(width, _largest_width(mean, top, bottom), out=width)
        width *= share
        mean += width
        return mean


def ordered(family) -> bool:
    """Whether psi is a number that does not fall along the states."""
    return family.p == 1 and bool((np.diff(family.psi[:, 0]) >= 0).all())


def between(low, high, reach):
    """The interval of the kernels P- and P+, (n, N, A, N) each."""
    mean, tails = 0.5 * (low + high), np.empty_like(low[..., 1:])
    # The mass of W beyond each state: W tv(V) = sum of |dV| times it.
    total = np.zeros_like(low[..., 0])
    for state in reversed(range(tails.shape[-1])):
        total = total + 0.5 * (high[..., state + 1] - low[..., state + 1])
        tails[..., state] = total
    return Interval(bellman.expectations(mean), bellman.expectations(tails), lambda: 2 * tails.max(-1), reach)


def between_smooth(family, low, high, reach):
    """The interval of the laws with natural parameters v- and v+, (n, N, A, 1) each, whose nodes are the anchors."""
    below, above = family.expectations(low), family.expectations(high)

    def width(steps):
        variation = np.concatenate([np.zeros_like(steps[:, :1]), steps.cumsum(1)], axis=1)
        return 0.5 * (above(variation) - below(variation))

    def distance():
        return np.sqrt(np.maximum(np.minimum(family.kl(low, high), family.kl(high, low)), 0.0) / 2)

    return Interval(lambda V: 0.5 * (below(V) + above(V)), width, distance, reach)
