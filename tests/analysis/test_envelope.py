"""Envelopes over gaps: closed forms of the maximum and of its slope, the edges of the grid, bias and coverage."""

import numpy as np
import pytest
from scipy import stats

from befrl.analysis import envelope

C = 7.0
GAPS = 0.4 / 1.8 ** np.arange(6)


def alike(means, seeds=4):
    """Regrets (gaps, seeds, values) without noise."""
    return np.repeat(np.asarray(means, dtype=float)[:, None], seeds, axis=1)


def grown(values, regrets, seed=0, resamples=50):
    found = envelope.bootstrap(regrets, np.random.default_rng(seed), resamples)
    return found[0], envelope.growth(values, regrets, found, level=0.95)


def learned(K, eps):
    """Regret of a learner that finds out the gap eps after C / eps^2 episodes, with its maximum sqrt(C K)."""
    return np.minimum(np.multiply.outer(eps, K), (C / eps)[:, None])


def test_linear_regret_has_slope_one_and_logarithmic_regret_slope_zero():
    """Both with the maximum at an edge. R = c log K / eps has the envelope of the smallest gap, nearly flat."""
    K = np.geomspace(100, 1000, 7)
    means = np.multiply.outer(GAPS, K)
    for edge, regrets in (("large", means), ("small", means[::-1])):
        highest, found = grown(K, alike(regrets))
        assert highest == pytest.approx(GAPS[0] * K)
        assert found["slope"] == pytest.approx(1.0) and found["low"] == pytest.approx(found["high"])
        assert (found["edge"], found["inside"], found["first"], found["last"]) == (edge, 0.0, K[0], K[-1])
    K = np.geomspace(1e4, 1e5, 9)
    _, found = grown(K, alike(np.multiply.outer(1 / GAPS, np.log(K))))
    assert found["slope"] == pytest.approx(1 / np.log(K).mean(), rel=0.02) and found["edge"] == "small"
    assert np.isnan(grown(np.array([1.0, 10.0]), alike(np.zeros((3, 2))))[1]["slope"])


def test_a_learner_has_slope_one_half_without_the_values_at_the_edge_while_most_are_inside():
    K = C / GAPS**2
    inside = K[1:-1]  # where the maximum over all eps > 0, at sqrt(C / K), is on the grid
    highest, found = grown(inside, alike(learned(inside, GAPS)))
    assert highest == pytest.approx(np.sqrt(C * inside))
    assert [found[key] for key in ("slope", "low", "high")] == pytest.approx([0.5] * 3)
    assert (found["first"], found["last"], found["edge"], found["inside"]) == (K[1], K[-2], "none", 1.0)
    regrets = alike(learned(K, GAPS))
    _, found = grown(K, regrets)
    assert list(envelope.edges(regrets)) == ["large", *["none"] * 4, "small"]
    assert (found["first"], found["last"], found["edge"]) == (K[1], K[-2], "none")
    assert found["inside"] == pytest.approx(4 / 6) and found["slope"] == pytest.approx(0.5)
    # Below the first K of the grid the regret is linear: with most of the values there the fit is on all of them.
    low = np.concatenate([K[0] / 2.0 ** np.arange(5, 0, -1), K[1:3]])
    _, found = grown(low, alike(learned(low, GAPS)))
    assert (found["first"], found["last"], found["edge"]) == (low[0], low[-1], "large") and found["slope"] > 0.6


def test_each_half_reads_where_the_other_half_chose():
    regrets = np.array([[10.0, 2.0, 10.0, 2.0], [1.0, 8.0, 1.0, 8.0], [0.0] * 4])[..., None]
    # The even seeds choose gap 0, where the odd mean is 2; the odd ones choose gap 1, where the even mean is 1.
    assert envelope.bootstrap(regrets, np.random.default_rng(0), 1)[0] == pytest.approx([1.5])


def test_the_envelope_of_equal_means_is_unbiased():
    """Where the plain maximum has a bias of +1.27 sd; a z-test at a two-sided error rate of 1e-4."""
    rng, seeds, samples = np.random.default_rng(3), 8, 4000
    noise = 100 + rng.standard_normal((6, seeds, samples))
    found = envelope.bootstrap(noise, rng, 1)[0] - 100
    z = found.mean() / (found.std() / np.sqrt(samples))
    assert abs(z) < stats.norm.isf(0.5e-4)
    plain = (noise.mean(1).max(0).mean() - 100) * np.sqrt(seeds)
    assert plain == pytest.approx(1.267, abs=0.05)  # the mean of the largest of six standard normals


def noisy(rng, K, seeds):
    """Smooth means eps K / (1 + eps^2 K / C), and regrets with noise of each seed and of each number."""
    means = np.multiply.outer(GAPS, K) / (1 + np.multiply.outer(GAPS**2, K) / C)
    common = rng.gamma(4.0, 0.25, (1, seeds, 1))
    return means, means[:, None] * common * rng.gamma(2.0, 0.5, (len(GAPS), seeds, len(K)))


def failing(rng, K, seeds):
    """The same means in nine of ten seeds; the tenth never learns, and its regret eps K rules the mean."""
    linear, (means, regrets) = np.multiply.outer(GAPS, K), noisy(rng, K, seeds)
    fails = rng.random((len(GAPS), seeds, 1)) < 0.1
    return 0.9 * means + 0.1 * linear, np.where(fails, linear[:, None], regrets)


@pytest.mark.parametrize("sample", [pytest.param(noisy, marks=pytest.mark.slow), failing])
def test_the_interval_of_the_slope_covers_at_nominal_rate(sample):
    """In 300 samples of 32 seeds; the test fails with a chance below 1e-4 if the true coverage is 0.92 or more."""
    rng, K, samples, hits = np.random.default_rng(11), np.geomspace(100, 1000, 11), 300, 0
    for _ in range(samples):
        means, regrets = sample(rng, K, 32)
        truth = envelope.slopes(K, means.max(0)[None])[0]
        _, found = grown(K, regrets, seed=rng, resamples=200)
        hits += found["low"] <= truth <= found["high"]
    assert hits >= stats.binom.ppf(1e-4, samples, 0.92)
