"""Multiple comparisons: error rates by simulation, Holm's correction, and groups by letters."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from befrl.analysis.comparisons import adjusted_p_values, groups, holm
from befrl.analysis.coverage import POPULATIONS
from befrl.analysis.intervals import p_value

AGENTS, SEEDS, STUDIES = 6, 100, 300
PAIRS = np.triu_indices(AGENTS, k=1)


def p_values(regrets):
    """Of pairs of agents in each study: (seeds, agents, studies) -> (pairs, studies); plain, and after Holm."""
    plain = p_value(regrets[:, PAIRS[0]] - regrets[:, PAIRS[1]])
    return plain, np.stack([holm(study) for study in plain.T], axis=1)


SLOW = [pytest.param(law, marks=pytest.mark.slow) for law in ("normal", "log-normal 1", "three regimes")]


@pytest.mark.parametrize("law", ["log-normal 1.5", "failures 3 %", *SLOW])
def test_familywise_error_rate_is_at_most_nominal(rng, law):
    """Any of 15 pairs wrongly significant: at most 5 % of the studies (standard error 1.3 %), more without Holm."""
    regrets, _ = POPULATIONS[law].draw(rng, (SEEDS, AGENTS, STUDIES))
    plain, wrong = ((p <= 0.05).any(0).mean() for p in p_values(regrets))
    assert wrong <= 0.05 + 2 * 0.0126
    assert plain > max(0.1, 2 * wrong)


def test_a_worse_agent_is_found_and_no_other(rng):
    """A share of 0.69 of its five pairs is found with a third more regret (0.80 by t tests), 0.97 with half as much."""
    regrets, _ = POPULATIONS["log-normal 0.5"].draw(rng, (SEEDS, AGENTS, STUDIES))
    planted = PAIRS[0] == 0
    for factor, least in ((4 / 3, 0.6), (3 / 2, 0.93)):
        worse = regrets * np.array([factor, *np.ones(AGENTS - 1)])[:, None]
        found = p_values(worse)[1] <= 0.05
        assert found[planted].mean() > least
    assert found[~planted].any(0).mean() <= 0.05 + 2 * 0.0126


def test_pairing_removes_the_variance_of_common_seeds(rng):
    common = rng.lognormal(0.0, 1.0, 50)
    regrets = np.stack([common, 1.01 * common, rng.permutation(common)], axis=1)
    adjusted = adjusted_p_values(regrets)
    assert adjusted[0, 1] < 1e-3 < 0.5 < adjusted[0, 2]
    assert np.array_equal(adjusted, adjusted.T) and np.all(np.diag(adjusted) == 1)


def test_letters_by_hand_and_rounding_is_not_a_difference(rng):
    regrets = np.stack([np.zeros(30), 1e-9 * rng.random(30), 1e-9 + np.zeros(30), np.ones(30)], axis=1)
    adjusted = adjusted_p_values(regrets)
    assert np.all(adjusted[:3, :3] == 1) and np.all(adjusted[3, :3] < 1e-99)
    assert groups(adjusted, 0.95) == ["a", "a", "a", "b"]
    # The best two are alike, and the second and the third; the last is alone.
    adjusted = np.array([[1, 1, 0.05, 0.05], [1, 1, 1, 0.05], [0.05, 1, 1, 0.05], [0.05, 0.05, 0.05, 1]])
    assert (groups(adjusted, 0.95), groups(adjusted, 0.99)) == (["a", "ab", "b", "c"], ["a"] * 4)


@given(st.lists(st.floats(0, 1), max_size=9), st.floats(0.01, 0.5))
@example([0.01, 0.04, 0.03, 0.005], 0.05)
def test_holm_rejects_step_by_step(p, alpha):
    """The definition: from the least p-value on, as long as it is at most alpha over the number that remain."""
    rejected, order = set(), sorted(range(len(p)), key=p.__getitem__)
    for place, i in enumerate(order):
        if (len(p) - place) * p[i] > alpha:
            break
        rejected.add(i)
    assert set(np.flatnonzero(holm(p) <= alpha)) == rejected
    # Holm 1979: 4 * 0.005, 3 * 0.01, 2 * 0.03, and 0.04 not below the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.7, 0.5]).tolist() == [1.0, 1.0]


@settings(deadline=None)
@given(st.integers(1, 9), st.floats(0, 1), st.integers(0, 2**32))
def test_a_common_letter_means_no_significant_difference(agents, share, seed):
    rng = np.random.default_rng(seed)
    adjusted = np.triu(rng.random((agents, agents)) < share, k=1) * 1.0
    adjusted += adjusted.T
    letters = groups(adjusted, 0.95)
    for i, j in itertools.combinations(range(agents), 2):
        assert bool(set(letters[i]) & set(letters[j])) == (adjusted[i, j] > 0.05)
    # No letter says what another one says: its agents are not among those of any other.
    owners = {letter: {i for i in range(agents) if letter in letters[i]} for letter in "".join(letters)}
    assert not any(a != b and owners[a] <= owners[b] for a in owners for b in owners)
    assert letters[0][0] == "a"
