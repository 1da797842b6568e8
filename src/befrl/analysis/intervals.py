"""Intervals for means and shares over seeds, with a p-value that agrees with them. Nothing is resampled.

Gaffke's upper end is a quantile of sum_i w_i x_i: the x_i are the n values and their upper bound, the weights w are
uniform on the simplex. On values 0 and 1 it is Clopper and Pearson's (Learned-Miller and Thomas 2019,
arXiv:1905.06208). Values with known bounds, such as shares, have these ends, which lie within the bounds. Without a
known bound the largest value counts twice, so that failures are covered if one was seen, and each end is the wider of
Gaffke's and of Student's, which is exact for normal values. `docs/statistics.md` has the measured coverage.

With exponential E_i, w = E / sum E, so P(sum_i w_i x_i > c) = P(sum_i E_i (x_i - c) > 0). Lugannani and Rice's
saddlepoint formula, in Barndorff-Nielsen's form Phi(-r*), gives this probability. The saddlepoint t is 1 / (s - c) for
an s above all x_i, which determines c and r*: with g_i = 1 / (s - x_i), S_p = sum_i g_i^p and m = n + 1 points,
    c = s - m / S_1,  r^2 = 2 m log(S_1 / m) - 2 sum_i log g_i,  v^2 = m (m S_2 / S_1^2 - 1),  r* = r + log(v / r) / r.
"""

import numpy as np
from scipy import special

BLOCK = 1 << 16  # numbers in a block, which stays in the cache
# Ends of the search for log((s - max x) / (max x - min x)). Beyond the upper one c is the mean and r* loses its digits.
SEARCH = -60.0, 8.0


def mean_interval(values, level, least=None):
    """Interval of the mean over the first axis: (n, ...) -> low, high of shape (...); NaN if n = 1.

    If no value can be below `least`, smaller ones are rounding errors, and the lower end is cut off there.
    """
    columns, shape = _columns(values if least is None else np.maximum(values, least))
    n = columns.shape[1]
    if n < 2:
        return np.full(shape, np.nan)[()], np.full(shape, np.nan)[()]
    tail, mean = (1 - level) / 2, columns.mean(1)
    half = special.stdtrit(n - 1, 1 - tail) * (columns.std(1, ddof=1) / np.sqrt(n))
    low = np.minimum(mean - half, -_upper_end(-columns, -columns.min(1), -special.ndtri(tail)))
    high = np.maximum(mean + half, _upper_end(columns, columns.max(1), -special.ndtri(tail)))
    low = low if least is None else np.maximum(low, least)
    return low.reshape(shape)[()], high.reshape(shape)[()]


def mean_with_interval(values, level, names=("mean", "low", "high"), least=None):
    """The mean over the first axis and the ends of its interval, by name."""
    values = values if least is None else np.maximum(values, least)
    return dict(zip(names, (values.mean(0), *mean_interval(values, level, least)), strict=True))


def bounded_interval(values, level, least=0.0, most=1.0):
    """Interval of the mean over the first axis of values between two bounds, within them; NaN if n = 1."""
    columns, shape = _columns(values)
    if columns.shape[1] < 2:
        return np.full(shape, np.nan)[()], np.full(shape, np.nan)[()]
    quantile = -special.ndtri((1 - level) / 2)
    low = 0.0 - _upper_end(-columns, np.full(len(columns), -least), quantile)
    high = _upper_end(columns, np.full(len(columns), most), quantile)
    return low.reshape(shape)[()], high.reshape(shape)[()]


def share_with_interval(shares, level, names):
    """The mean over the first axis of shares, and the ends of its interval, by name."""
    return dict(zip(names, (shares.mean(0), *bounded_interval(shares, level)), strict=True))


def p_value(differences):
    """P-value of "the mean over the first axis is zero": 1 - level of the widest `mean_interval` without zero."""
    columns, shape = _columns(differences)
    n = columns.shape[1]
    if n < 2:
        return np.ones(shape)[()]
    mean, error = columns.mean(1), columns.std(1, ddof=1) / np.sqrt(n)
    columns = np.where(mean[:, None] > 0, -columns, columns)  # now zero is beyond the upper end
    with np.errstate(divide="ignore", invalid="ignore"):
        student = special.stdtr(n - 1, -np.abs(mean) / error)
    p = np.minimum(1.0, 2 * np.maximum(student, _upper_tail(columns, columns.max(1))))
    return np.where(mean == 0, 1.0, p).reshape(shape)[()]


def clopper_pearson(count, n, level):
    """The exact interval of a share, of which `count` out of n were seen: low, high."""
    tail = (1 - level) / 2
    count = np.asarray(count, dtype=float)
    low = np.where(count > 0, special.betaincinv(np.maximum(count, 1), n - count + 1, tail), 0.0)
    high = np.where(count < n, special.betaincinv(count + 1, np.maximum(n - count, 1), 1 - tail), 1.0)
    return low[()], high[()]


def _columns(values):
    """(n, ...) -> (columns, n), and the shape of a result."""
    values = np.asarray(values, dtype=float)
    return np.ascontiguousarray(values.reshape(len(values), -1).T), values.shape[1:]


def _upper_end(columns, added, target):
    """Gaffke's upper end: the c at which r* is the `target`."""
    found = np.empty(len(columns))
    for block, points, top, span in _blocks(columns, added):

        def distance(u, points=points):
            r_star, slope, _, _ = _saddlepoint(points, u)
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.log(np.maximum(r_star, 1e-300) / target), slope / r_star

        start = np.log(np.maximum(points.std(1) * np.sqrt(points.shape[1]) / target, 1e-9))
        _, _, c, _ = _saddlepoint(points, _root(distance, start))
        found[block] = np.where(span > 0, top + span * c, top)
    return found


def _upper_tail(columns, added):
    """The tail probability at which Gaffke's upper end is zero; 0 if all points are below zero, 1/2 at their mean."""
    found = np.empty(len(columns))
    for block, points, top, span in _blocks(columns, added):
        mean, zero = points.mean(1), -top / np.where(span > 0, span, 1.0)
        inside = (zero < 0) & (zero > mean)
        wanted = np.where(inside, zero - mean, -mean / 2)

        def distance(u, points=points, mean=mean, wanted=wanted):
            _, _, c, slope = _saddlepoint(points, u)
            with np.errstate(divide="ignore", invalid="ignore"):
                above = np.maximum(c - mean, 1e-300)
                return np.log(above / wanted), slope / above

        start = np.log(np.maximum(points.var(1) / np.maximum(wanted, 1e-300), 1e-9))
        r_star, _, _, _ = _saddlepoint(points, _root(distance, start))
        found[block] = np.where(inside, special.ndtr(-r_star), np.where(zero >= 0, 0.0, 0.5))
    return found


def _blocks(columns, added):
    """Blocks of columns: their place, their points (columns, n + 1) scaled to [-1, 0], largest value and span."""
    size = max(1, BLOCK // columns.shape[1])
    for first in range(0, len(columns), size):
        block = slice(first, first + size)
        points = np.concatenate([columns[block], np.broadcast_to(added, len(columns))[block, None]], axis=1)
        top = points.max(1)
        span = top - points.min(1)
        yield block, (points - top[:, None]) / np.where(span > 0, span, 1.0)[:, None], top, span


def _saddlepoint(points, u):
    """r*, its derivative, c and its derivative, at s = exp(u); the derivatives are with respect to u."""
    m, s = points.shape[1], np.exp(u)
    with np.errstate(divide="ignore", invalid="ignore"):
        g = 1 / (s[:, None] - points)
        square = g * g
        s1, s2, s3 = g.sum(1), square.sum(1), (square * g).sum(1)
        r = np.sqrt(2 * (m * np.log(s1 / m) - np.log(g).sum(1)))
        v2 = m * (m * s2 / s1**2 - 1)
        of_r = -s * s1 * v2 / (m * r**2)  # derivative of log r, then of log v
        of_v = s * m**2 * (s2**2 / s1 - s3) / (s1**2 * v2)
        shift = np.log(np.sqrt(v2) / r) / r
        return r + shift, of_r * (r - shift) + (of_v - of_r) / r, s - m / s1, -s * v2 / m


def _root(function, start):
    """Roots of decreasing functions, one per entry, by Newton's method, or by halving where it leaves the bracket."""
    u, low, high = np.clip(start, *SEARCH), np.full_like(start, SEARCH[0]), np.full_like(start, SEARCH[1])
    going = np.ones(len(u), dtype=bool)
    for _ in range(100):
        value, slope = function(u)
        low, high = np.where(value > 0, u, low), np.where(value < 0, u, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            new = u - value / slope
        new = np.where((new > low) & (new < high), new, (low + high) / 2)
        going &= (np.abs(value) > 1e-11) & (high - low > 1e-12)
        if not going.any():
            break
        u = np.where(going, new, u)
    return u
