"""Draws of the maximum and of the range of M standard normals, from one and two uniform numbers.

The maximum z has the law Phi^M: Phi(z)^M = u, hence z = -Phi^-1(t) with t = 1 - u^(1/M). Given it, the others are M - 1
independent normals below z, and 1 - Phi(x)/Phi(z) = v^(1/(M-1)) gives their minimum x.

For e^-25 <= t <= 0.075, where nearly all t lie if M is large, -Phi^-1(t) is the rational function of sqrt(-log t) of
Wichura (1988, algorithm AS 241), with a relative error of 1e-16; scipy's `ndtri` takes several times as long.
"""

import numpy as np
from scipy import special

LEAST, MOST, SHIFT = np.exp(-25.0), 0.075, 1.6
# Coefficients of the numerator and of the denominator, highest power first.
NUMERATOR, DENOMINATOR = zip(
    (7.74545014278341407640e-4, 1.05075007164441684324e-9),
    (2.27238449892691845833e-2, 5.47593808499534494600e-4),
    (2.41780725177450611770e-1, 1.51986665636164571966e-2),
    (1.27045825245236838258e0, 1.48103976427480074590e-1),
    (3.64784832476320460504e0, 6.89767334985100004550e-1),
    (5.76949722146069140550e0, 1.67638483018380384940e0),
    (4.63033784615654529590e0, 2.05319162663775882187e0),
    (1.42343711074968357734e0, 1.0),
    strict=True,
)


def largest_normal(u, members):
    """The maximum of `members` standard normals for uniform numbers u in [0, 1); both are arrays that broadcast."""
    return _above(_tail(u, members))


def range_of_normals(u, v, members):
    """The maximum minus the minimum of `members` >= 2 standard normals, for uniform numbers u and v in [0, 1)."""
    tail = _tail(u, members)
    return _above(tail) + _above((1.0 - tail) * _tail(v, members - 1))


def _tail(u, members):
    """1 - u^(1/M); uniform numbers may be 0."""
    return -np.expm1(np.log(np.maximum(u, 2.0**-53)) / members)


def _above(tail):
    """The z with 1 - Phi(z) = tail."""
    r = np.sqrt(-np.log(np.maximum(tail, LEAST)))
    r -= SHIFT
    z = _polynomial(NUMERATOR, r)
    z /= _polynomial(DENOMINATOR, r)
    others = np.flatnonzero((tail < LEAST) | (tail > MOST))
    z.reshape(-1)[others] = -special.ndtri(np.minimum(tail.reshape(-1)[others], 1 - 2.0**-53))
    return z


def _polynomial(coefficients, x):
    found = coefficients[0] * x
    for c in coefficients[1:-1]:
        found += c
        found *= x
    found += coefficients[-1]
    return found
