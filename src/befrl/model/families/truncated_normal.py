"""The truncated-normal family on [0, 1]: psi(s') = (s' - 1/2)/sigma, base measure N(1/2, sigma^2).

In x = (s' - 1/2)/sigma the law is N(c, 1) cut to [a, b] = [-h, h], h = 1/(2 sigma). With D = Phi(h-c) - Phi(-h-c):

    Z(c)  = c^2/2 + log D,   E x = c + (phi(-h-c) - phi(h-c)) / D
    Var x = 1 + ((-h-c) phi(-h-c) - (h-c) phi(h-c)) / D - ((phi(-h-c) - phi(h-c)) / D)^2

The law at c is the mirror image of that at -c; for c >= 0 the normal tails are accurate. E(x) = erfcx(-x/sqrt 2) =
2 Phi(x) exp(x^2/2) neither under- nor overflows, and D = exp(-(h-c)^2/2) (E(h-c) - e^(-2hc) E(-h-c)) / 2. The variance
cancels like t^4 in t = c - h; for t > 30 its asymptotic series in 1/t^2 is used.
"""

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr, ndtri

from befrl.model.families.base import ContinuousFamily

FAR = 30.0
ROOT_2PI = np.sqrt(2 * np.pi)
ROOT_2 = np.sqrt(2.0)


class TruncatedNormal(ContinuousFamily):
    """The family with p = 1, in closed form."""

    covariance_bound = 1.0  # cutting a normal law never raises its variance (Brascamp, Lieb 1976)
    # The largest |Z'''|/Z'' is 0.6071, at c = h + 0.34 and h = infinity; `test_likelihood_sets.py` bounds it.
    self_concordance = 0.61

    def __init__(self, space, sigma):
        self.sigma = sigma
        super().__init__(space)
        self.h = 0.5 / sigma
        self.cuts = (space.edges - 0.5) / sigma

    def statistic(self, s):
        return ((s - 0.5) / self.sigma)[..., None]

    def log_base_at(self, s):
        x = (s - 0.5) / self.sigma
        return -0.5 * x * x - np.log(self.sigma * ROOT_2PI)

    def log_partition(self, natural):
        return self._moments(natural[..., 0])[0]

    def moments(self, natural):
        Z, mean, variance = self._moments(natural[..., 0])
        return Z, mean[..., None], variance[..., None, None]

    def _scale(self, c):
        """E(h-c) - e^(-2hc) E(-h-c) and e^(-2hc), for c >= 0."""
        decay = np.exp(-2.0 * self.h * c)
        return erfcx((self.h - c) / -ROOT_2) - decay * erfcx((self.h + c) / ROOT_2), decay

    def _moments(self, signed):
        c = np.abs(signed)
        upper, lower = self.h - c, -self.h - c
        E, decay = self._scale(c)
        f = (2.0 / ROOT_2PI) / E
        g = decay * f
        shift = g - f
        Z = self.h * c - 0.5 * self.h**2 + np.log(0.5 * E)
        mean = c + shift
        variance = 1.0 + lower * g - upper * f - shift * shift
        far = upper < -FAR
        if far.any():
            r = 1.0 / np.where(far, upper, FAR) ** 2
            series = r * (1 - r * (6 - r * (50 - r * (518 - 6354 * r))))
            variance = np.where(far, series, variance)
        return Z, np.where(signed < 0, -mean, mean), variance

    def _scaled_cdf(self, c):
        """The CDF at each cut for c >= 0 with three axes, (cuts, *c.shape); the cuts come first in memory."""
        cuts = self.cuts[:, None, None, None] - c
        cdf = ndtr(cuts)
        cdf -= cdf[0].copy()
        far = cuts[-1] < -FAR
        if far.any():
            ratio = np.exp(log_ndtr(cuts) - log_ndtr(cuts[-1]))
            return np.where(far, ratio, cdf / np.where(far, 1.0, cdf[-1]))
        cdf /= cdf[-1].copy()
        return cdf

    def kernel(self, natural):
        # Seeds come last in memory, as in the recursion over few states (`bellman.py`).
        signed = np.ascontiguousarray(natural[..., 0].T)
        cdf = self._scaled_cdf(np.abs(signed))
        mass = cdf[1:] - cdf[:-1]
        return np.where(signed < 0, mass[::-1], mass).T

    def kernel_and_partial_means(self, natural):
        """E[x 1(a < x < b)] = c P(a < x < b) + (phi(a-c) - phi(b-c)) / D."""
        signed = natural[..., 0]
        c, cuts = np.abs(signed), self.cuts[:, None, None, None]
        cdf = self._scaled_cdf(c)
        mass = cdf[1:] - cdf[:-1]
        # phi(cut - c) / D, with the exponent taken relative to the upper end, where it does not cancel.
        heights = np.exp((cuts - self.h) * (c - 0.5 * (cuts + self.h))) * (2.0 / ROOT_2PI) / self._scale(c)[0]
        partial = c * mass - (heights[1:] - heights[:-1])
        partial = np.moveaxis(np.where(signed < 0, -partial[::-1], partial), 0, -1)
        return np.moveaxis(np.where(signed < 0, mass[::-1], mass), 0, -1), partial[..., None]

    def sampler(self, natural):
        """The inverse CDF, mirrored for c < 0, so that the draw increases in u."""
        signed = natural[..., 0]
        c, flip = np.abs(signed), signed < 0
        if (c - self.h > FAR).any():
            return self._far_sampler(c, flip)
        lowest = ndtr(-self.h - c)
        width = ndtr(self.h - c) - lowest
        # u -> lowest + width u, or with u replaced by 1 - u for the mirror image; one affine map serves both.
        start, slope = np.where(flip, lowest + width, lowest), np.where(flip, -width, width)
        sign = np.where(flip, -self.sigma, self.sigma)
        offset = 0.5 + sign * c
        table = np.stack([start, slope, sign, offset]).reshape(4, -1)
        n_actions = signed.shape[1]

        def draw(cell, action, u):
            start, slope, sign, offset = table.take(cell * n_actions + action, axis=1)
            s = offset + sign * ndtri(start + slope * u)
            return np.minimum(np.maximum(s, 0.0), 1.0)

        return draw

    def _far_sampler(self, c, flip):
        """Newton's method on log P(h - x > y) = -t y - y^2/2 + log(E(-t-y)/E(-t)), t = c - h, without cancellation."""

        def log_tail(t, y):
            return -t * y - 0.5 * y * y + np.log(erfcx((t + y) / ROOT_2) / erfcx(t / ROOT_2))

        def draw(cell, action, u):
            rate, mirrored = c[cell, action] - self.h, flip[cell, action]
            # u counts from the lower end of s, y from the upper end of the unmirrored x; P(Y <= 2h) rescales u.
            share = np.where(mirrored, u, 1.0 - u) * -np.expm1(log_tail(rate, 2 * self.h))
            target = np.log1p(-share)
            y = np.minimum(-target / np.maximum(rate, 1.0), 2 * self.h)
            for _ in range(60):
                hazard = (2.0 / ROOT_2PI) / erfcx((rate + y) / ROOT_2)
                y = np.clip(y + (log_tail(rate, y) - target) / hazard, 0.0, 2 * self.h)
            x = self.h - y
            return np.clip(0.5 + self.sigma * np.where(mirrored, -x, x), 0.0, 1.0)

        return draw
