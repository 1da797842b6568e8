"""Upper and lower expectations over sets of next-state laws, of several functions V at once.

`bounds(V, signs)` maps k functions on the anchors, (n, N, k), to their means under a law of the set, and to the upper
expectation where the sign is 1, the lower one where it is -1, (n, N, A, k) each. lower(V) = -upper(-V), and

    bernstein  PV + min{ sqrt(2 Var(V) D) + (sup V - PV) D,  S sqrt(D/2),  sup V - PV }      over { Q: KL(P, Q) <= D }
    kl         the smaller one of this and  lambda - exp( E log(lambda - V) - D )  at some lambda > sup V
    interval   min{ sup V,  PV + min{ W tv(V),  S |W|_1 } },   P, W = (P+ +- P-)/2          over { P_v: v- <= v <= v+ }

S = sup V - inf V over the states that (s,a) can reach, and P+- is the law of v+-. tv(V) is the variation of V along the
states in the order of psi, up to a state. docs/repair-proof.md has the proofs (Lemmas 5 and 6); every lambda gives a
valid bound, so that a few serve for all. Nothing is clipped: inf V <= lower <= mean <= upper <= sup V.
"""

import numpy as np

LAMBDAS = np.geomspace(0.01, 30.0, 8)  # (lambda - sup V)/S


class Reach:
    """The largest and the smallest value over the states that can follow each (anchor, action)."""

    def __init__(self, family):
        possible = np.isfinite(family.log_base)
        self._next = None
        if not possible.all():
            # The reachable states of each (anchor, action), the first one repeated to fill the table.
            width = possible.sum(-1).max()
            found = np.argsort(~possible, axis=-1, kind="stable")[..., :width]
            self._next = np.where(np.take_along_axis(possible, found, -1), found, found[..., :1])

    def ends(self, V):
        """(n, N, k) -> two arrays (n, 1 or N, 1 or A, k)."""
        if self._next is None:
            return V.max(1)[:, None, None], V.min(1)[:, None, None]
        near = V[:, self._next]
        return near.max(3), near.min(3)


class Ball:
    """The ball KL(P, Q) <= D around the laws of `expectations`; with `dual` also the bounds of LAMBDAS."""

    def __init__(self, expectations, D, reach, dual=False):
        self.expectations, self.reach, self.dual = expectations, reach, dual
        self.D = D[..., None]
        self._two, self._half = np.sqrt(2 * self.D), np.sqrt(self.D / 2)

    def bounds(self, V, signs):
        k = V.shape[-1]
        top, bottom = self.reach.ends(V)
        # The variance is that of V minus a middle, which is exact to rounding of the span.
        middle = 0.5 * (V.max(1) + V.min(1))
        W = V - middle[:, None]
        columns = [W, W * W]
        if self.dual:
            high, low = V.max(1)[:, None], V.min(1)[:, None]
            span = high - low
            below = np.where(signs > 0, high - V, V - low) / np.where(span > 0, span, 1.0)
            columns += [np.log(below + each) for each in LAMBDAS]
        found = self.expectations(np.concatenate(columns, axis=-1))
        mean = found[..., :k]
        spread = np.sqrt(np.maximum(found[..., k : 2 * k] - mean * mean, 0.0))
        mean = np.minimum(np.maximum(mean + middle[:, None, None], bottom), top)
        room = np.where(signs > 0, top - mean, mean - bottom)
        width = np.minimum(spread * self._two + room * self.D, (top - bottom) * self._half)
        if self.dual:
            outer = np.where(signs > 0, high[:, None] - mean, mean - low[:, None])
            for i, each in enumerate(LAMBDAS):
                part = np.exp(found[..., (2 + i) * k : (3 + i) * k] - self.D)
                width = np.minimum(width, outer + span[:, None] * (each - part))
        return mean, mean + signs * np.minimum(width, room)


class Interval:
    """The laws P_v between those of `low` and `high`, two maps like `expectations`; distance is |W|_1 or more."""

    def __init__(self, low, high, distance, order, reach):
        self.low, self.high, self.reach = low, high, reach
        self.distance, self.order = distance[..., None], order

    def bounds(self, V, signs):
        k = V.shape[-1]
        top, bottom = self.reach.ends(V)
        both = np.concatenate([V, self._variation(V)], axis=-1)
        low, high = self.low(both), self.high(both)
        mean = np.minimum(np.maximum(0.5 * (low[..., :k] + high[..., :k]), bottom), top)
        width = 0.5 * (high[..., k:] - low[..., k:])
        width = np.minimum(np.maximum(width, 0.0), (top - bottom) * self.distance)
        room = np.where(signs > 0, top - mean, mean - bottom)
        return mean, mean + signs * np.minimum(width, room)

    def _variation(self, V):
        along = V if self.order is None else V[:, self.order]
        found = np.zeros_like(along)
        np.cumsum(np.abs(np.diff(along, axis=1)), axis=1, out=found[:, 1:])
        if self.order is None:
            return found
        back = np.empty_like(found)
        back[:, self.order] = found
        return back


def order_of(family):
    """The anchors in the order of psi, None if they are so already; False if psi does not order them (or p > 1)."""
    if family.p > 1:
        return False
    psi = family.psi[:, 0]
    if (np.diff(psi) >= 0).all():
        return None
    return np.argsort(psi, kind="stable") if len(psi) == family.space.n_anchors else False

