"""The maximum and the range of M normals from uniform numbers."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from befrl.numerics.largest_normal import largest_normal, range_of_normals


@pytest.mark.parametrize("members", [1, 2, 19, 480, 1_000_000])
def test_largest_normal_inverts_the_law_of_the_maximum(members):
    """M log Phi(z) = log u, at both ends of every formula and at the smallest and largest uniform numbers."""
    u = np.concatenate([2.0 ** -np.arange(1, 54), 1 - 2.0 ** -np.arange(2, 54), np.linspace(0.001, 0.999, 999)])
    z = largest_normal(u, members)
    # An error of z by a few units in its last place changes log u by this much.
    slope = members * np.exp(-np.square(z) / 2 - special.log_ndtr(z)) / np.sqrt(2 * np.pi)
    error = np.abs(members * special.log_ndtr(z) - np.log(u))
    # Rounding 1 - t costs the lower end of the law digits: 2^-53 in 1 - t = Phi(z).
    rounding = 2.0**-53 * (1 + members / special.ndtr(z))
    assert np.all(error <= 1e-15 * (np.abs(z) + 1) * slope * 4 + rounding + 4e-15 * np.abs(np.log(u)))
    assert np.all(np.diff(largest_normal(np.sort(u), members)) >= 0)


def test_uniform_zero_and_broadcasting():
    """A uniform number may be zero, and each row may have its own M."""
    z = largest_normal(np.zeros((2, 3)), np.array([[1.0], [50.0]]))
    assert np.all(np.isfinite(z)) and np.all(z[1] > z[0])
    assert np.array_equal(z[1], largest_normal(np.zeros(3), 50.0))


@pytest.mark.parametrize("members", [2, 22])
def test_the_range_of_normals_has_its_law(members, rng):
    """P(range <= w) = M int phi(x) (Phi(x + w) - Phi(x))^(M-1) dx, by Kolmogorov's distance over 40,000 draws."""
    draws = range_of_normals(rng.random(40_000), rng.random(40_000), members)
    x = np.linspace(-9, 9, 2001)

    def law(w):
        inside = special.ndtr(x + w[:, None]) - special.ndtr(x)
        return members * integrate.simpson(stats.norm.pdf(x) * inside ** (members - 1), x=x, axis=-1)

    grid = np.linspace(0.0, 12.0, 1201)
    assert stats.kstest(draws, lambda w: np.interp(w, grid, law(grid))).statistic < 2.5 / np.sqrt(len(draws))
