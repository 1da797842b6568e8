"""The study of traps: when the best first action counts as tried, and the summary of the regrets of the seeds."""

import itertools

import numpy as np
import pytest

from befrl.analysis.components import traps
from befrl.analysis.intervals import clopper_pearson
from befrl.numerics import bellman
from helpers import ROOT, instance, play

BEST = {"trap-one": 8, "trap-two": 2}


@pytest.mark.parametrize("law", ["gaussian", "bernoulli"])
@pytest.mark.parametrize("name", BEST)
def test_a_regret_below_the_gap_means_that_the_best_first_action_was_taken(name, law):
    problem = instance(name, reward=law)
    C, A = problem.model.n_cells, problem.model.n_actions
    gap = traps.first_gap(problem)
    all_then = itertools.product(range(A), repeat=C)
    then = np.array(list(all_then)) if A**C < 1000 else np.random.default_rng(3).integers(A, size=(300, C))
    for first in range(A):
        policies = np.stack([np.full_like(then, first), then], axis=1)[None]
        V = bellman.evaluate(policies, problem.R, problem.P)[0] @ problem.start_masses
        tried = ~traps.never_tried((problem.optimal_value - V)[:, None], gap)
        assert tried.all() if first == BEST[name] else not tried.any()


def test_the_gap_is_infinite_where_all_first_actions_are_optimal():
    assert traps.first_gap(instance("trap-two", bonus=0.0, horizon=1)) == np.inf
    # The first bin of the chain earns 0.6 on the left and 0.5 on the right.
    assert traps.first_gap(instance("chain", bins=3, horizon=1)) == pytest.approx(0.1)


def test_the_summary_of_known_regrets():
    """Two seeds that lose the gap in every episode, one that loses nothing from the second on, one like 1/sqrt(k)."""
    gap, regret = 0.2, np.full((4, 64), 0.2)
    regret[2, 1:] = 0.0
    regret[3] = 0.2 * gap * np.diff(np.sqrt(np.arange(65)))
    found = traps._summary(regret, gap)
    assert found["never"] == 0.5
    assert (found["low"], found["high"]) == pytest.approx(clopper_pearson(2, 4, 0.95))
    total = regret.sum(0).cumsum() / 4
    marks = [found[key] for key in ("regret_eighth", "regret_quarter", "regret_half", "regret")]
    assert marks == pytest.approx(total[[7, 15, 31, 63]])
    assert found["late"] == pytest.approx(regret[:, 48:].mean() / gap)
    assert traps._summary(regret[:2], gap)["growth"] == pytest.approx(1.0)
    assert traps._summary(regret[3:].repeat(2, 0), gap)["growth"] == pytest.approx(0.5)


def test_tables_are_those_of_the_runs():
    problem = instance("trap-two")
    tables = traps.study("test", problem, ROOT, episodes=16, seeds=4)
    assert len(tables["never"]) == sum(len(several) for _, _, several in traps.RUNS)
    row = next(row for row in tables["never"] if row["agent"] == "exp-psrl")
    regret = play("exp-psrl", problem, seeds=range(4), episodes=16)["regret"]
    assert row["regret"] == pytest.approx(regret.sum(1).mean(), abs=1e-12)
    assert row["never"] == traps.never_tried(regret, row["gap"]).mean()
    last = [point for point in tables["points"] if (point["agent"], point["setting"]) == ("exp-psrl", "")][-1]
    assert (last["episode"], last["regret"]) == (16, pytest.approx(row["regret"]))
