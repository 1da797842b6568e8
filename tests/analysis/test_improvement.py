"""Probabilities of improvement and significance over all cases, against loops over seeds and cases."""

import itertools

import numpy as np
import pytest

from befrl.analysis import comparisons, improvement
from befrl.analysis.intervals import bounded_interval, p_value

LEVEL = 0.95


@pytest.fixture(scope="module")
def finals():
    rng = np.random.default_rng(5)
    worse = {"good": 1.0, "fair": 1.3, "bad": 3.0, "alone": 2.0}
    cases = {("a", "U"): ("good", "fair", "bad"), ("b", "K"): ("good", "bad", "alone", "fair")}
    found = {case: {agent: worse[agent] * rng.exponential(size=60) for agent in own} for case, own in cases.items()}
    found["b", "K"]["fair"][:7] = found["b", "K"]["good"][:7]  # ties
    found["c", "U"] = {agent: found["a", "U"][agent] + 1.0 for agent in ("bad", "fair")}
    found["c", "U"] |= {"alone": found["a", "U"]["good"] + 2.0, "once": np.ones(60)}
    return found


def test_probabilities_are_those_counted_by_loops_and_pairs_add_up_to_one(finals):
    table = {(row["first"], row["second"]): row for row in improvement.rows(finals, LEVEL)}
    for (first, second), row in table.items():
        others = [second] if second != improvement.ALL else [a for a in ("good", "fair", "bad", "alone") if a != first]
        by_seed = []
        for seed in range(60):
            won = []
            for other in others:
                both = [case for case in finals.values() if {first, other} <= set(case)]
                pairs = [(case[first][seed], case[other][seed]) for case in both]
                won.append(np.mean([0.5 if x == y else float(x < y) for x, y in pairs]))
            by_seed.append(np.mean(won))
        assert row["probability"] == pytest.approx(np.mean(by_seed), abs=1e-12)
        assert (row["low"], row["high"]) == pytest.approx(bounded_interval(by_seed, LEVEL), abs=1e-12)
        assert row["seeds"] == 60
    assert table["good", "fair"]["cases"] == 2 and table["good", "alone"]["cases"] == 1
    assert not any("once" in pair for pair in table)  # it plays one case only
    assert {frozenset(pair) for pair in table if improvement.ALL not in pair} == {
        frozenset(pair) for pair in itertools.combinations(("good", "fair", "bad", "alone"), 2)
    }
    summary = [row["probability"] for row in table.values() if row["second"] == improvement.ALL]
    assert summary == sorted(summary, reverse=True)


def test_the_correction_over_the_study_is_holms_for_all_pairs_of_all_cases(finals):
    p = {}
    for case, regrets in finals.items():
        for first, second in itertools.combinations(regrets, 2):
            p[case, first, second] = float(p_value(regrets[first] - regrets[second]))
    adjusted = dict(zip(p, comparisons.holm(list(p.values())), strict=True))
    for row in improvement.significance(finals, LEVEL):
        case = row["instance"], row["track"]
        mine = {key: value for key, value in p.items() if key[0] == case}
        assert row["pairs"] == len(mine)
        assert row["within_case"] == sum(comparisons.holm(list(mine.values())) <= 0.05)
        assert row["over_study"] == sum(adjusted[key] <= 0.05 for key in mine) <= row["within_case"]
