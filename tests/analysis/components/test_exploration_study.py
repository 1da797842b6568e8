"""Does exploration matter? The table against runs made by hand, and the answer that is read from it."""

import numpy as np
import pandas as pd
import pytest

from befrl import agents
from befrl.analysis.components import exploration
from befrl.analysis.intervals import mean_interval
from befrl.common import tidy
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import instance

NAME, ROOT, EPISODES, TUNING, EVALUATION = "chain-3", 5, 12, 11, 6


def problem():
    return instance("chain", bins=3, horizon=5)


@pytest.fixture(scope="module")
def tables():
    """More rows of tuning, four settings on each seed, than run in lock step."""
    assert 4 * TUNING > exploration.LOCKSTEP
    return exploration.study(NAME, problem(), ROOT, EPISODES, TUNING, EVALUATION)


@pytest.fixture(scope="module")
def rows(tables):
    return tables["points"]


def by_hand(agent, values, seeds):
    """Cumulative regret of each seed."""
    parameters = agents.parameters(agent, values)
    return loop.run(RunSpec(problem(), NAME, agent, parameters, EPISODES, list(seeds), "U", ROOT))["regret"].sum(1)


def by_role(rows):
    return {row["role"]: row for row in rows if row["role"] != "tried"}


def test_every_point_of_the_grids_is_tried_on_the_tuning_seeds(rows):
    tried = [row for row in rows if row["role"] == "tried"]
    points = [(agent, key, value) for agent, (key, values) in exploration.GRIDS.items() for value in values]
    assert [(row["agent"], row["parameter"], row["value"]) for row in tried] == points
    # All agents have as many chances.
    assert len({len(values) for _, values in exploration.GRIDS.values()}) == 1
    for row in tried:
        assert (row["seeds"], row["episodes"]) == (TUNING, EPISODES)
        assert row["mean"] == pytest.approx(by_hand(row["agent"], {row["parameter"]: row["value"]}, range(11)).mean())
        assert row["low"] <= row["mean"] <= row["high"]


def test_the_best_of_them_meets_greedy_on_other_seeds(rows):
    tried = [row for row in rows if row["role"] == "tried"]
    chosen = min(tried, key=lambda row: row["mean"])
    # The least mean is the least by far: on these seeds the choice is no matter of rounding.
    assert sorted(row["mean"] for row in tried)[1] > chosen["mean"] + 0.1
    shown = by_role(rows)
    assert list(shown) == ["greedy", "best", "random", "difference"]
    setting = [chosen[key] for key in ("agent", "parameter", "value")]
    for role in ("best", "difference"):
        assert [shown[role][key] for key in ("agent", "parameter", "value")] == setting
    others = range(TUNING, TUNING + EVALUATION)
    greedy, best = (
        by_hand("greedy", {}, others),
        by_hand(chosen["agent"], {chosen["parameter"]: chosen["value"]}, others),
    )
    assert shown["greedy"]["mean"] == pytest.approx(greedy.mean())
    assert shown["best"]["mean"] == pytest.approx(best.mean())
    # The same seeds for tuning would have given another number.
    assert abs(best.mean() - chosen["mean"]) > 0.01
    difference = shown["difference"]
    assert difference["mean"] == pytest.approx((greedy - best).mean())
    assert all(row["seeds"] == EVALUATION for row in shown.values())
    # Intervals of regrets do not reach below zero; that of the paired differences may.
    for role, values, least in (("greedy", greedy, 0.0), ("best", best, 0.0), ("difference", greedy - best, None)):
        assert (shown[role]["low"], shown[role]["high"]) == pytest.approx(mean_interval(values, 0.95, least=least))


def test_random_play_is_exact(rows):
    """Its policy does not learn, so its regret is the same in every episode; here the first state's cell is too."""
    random = by_role(rows)["random"]
    played = by_hand("random", {}, range(3))
    assert played == pytest.approx(np.full(3, random["mean"]))
    assert random["low"] == pytest.approx(random["mean"]) == random["high"]


def test_the_same_numbers_again(tables):
    assert exploration.study(NAME, problem(), ROOT, EPISODES, TUNING, EVALUATION) == tables


def test_shares_are_regrets_in_units_of_that_of_random_play(tables, rows):
    shown = by_role(rows)
    assert [row["role"] for row in tables["shares"]] == ["greedy", "best"]
    for row in tables["shares"]:
        own = shown[row["role"]]
        assert (row["agent"], row["seeds"], row["episodes"]) == (own["agent"], EVALUATION, EPISODES)
        for share, regret in (("share", "mean"), ("low", "low"), ("high", "high")):
            assert row[share] * shown["random"]["mean"] == pytest.approx(own[regret])
        assert row["matters"] == (shown["difference"]["low"] > 0)


def made_up(low, high, tried=1.0):
    """A table, from its text as the workflow reads it."""
    numbers = {"instance": "x", "episodes": 30, "seeds": 4}
    ends = {"low": 0.0, "high": 0.0}
    rows = [
        {"role": "tried", "agent": "exp-ucrl", "parameter": "scale", "value": 0.1, "mean": tried, "seeds": 9, **ends},
        {"role": "greedy", "agent": "greedy", "mean": 8.0, **ends},
        {"role": "best", "agent": "bef-rlsvi", "parameter": "x", "value": 30.0, "mean": 3.5, **ends},
        {"role": "random", "agent": "random", "mean": 60.0, **ends},
        {"role": "difference", "agent": "bef-rlsvi", "parameter": "x", "value": 30.0, "mean": 4.5}
        | {"low": low, "high": high},
    ]
    return tidy.text([numbers | row for row in rows], exploration.TABLES["points"])


@pytest.mark.parametrize(
    ("low", "high", "matters"),
    [(1e-9, 5.0, True), (2.0, 7.0, True), (0.0, 5.0, False), (-1e-9, 5.0, False), (-7.0, -2.0, False)],
)
def test_exploration_matters_where_the_interval_lies_above_zero(tmp_path, low, high, matters):
    (tmp_path / "table.csv").write_text(made_up(low, high))
    answer = exploration.answer(tidy.read(tmp_path / "table.csv", exploration.TABLES["points"]))
    assert answer == {
        "episodes": 30, "seeds": 4, "random": 60.0, "greedy": 8.0, "best": 3.5,
        "best_agent": "bef-rlsvi, x = 30", "low": low, "high": high, "matters": matters,
    }  # fmt: skip
    assert type(answer["matters"]) is bool


def test_the_answer_is_that_of_the_table(rows):
    answer, shown = exploration.answer(pd.DataFrame(rows)), by_role(rows)
    assert (answer["greedy"], answer["best"], answer["random"]) == tuple(
        shown[role]["mean"] for role in ("greedy", "best", "random")
    )
    assert (answer["low"], answer["high"]) == (shown["difference"]["low"], shown["difference"]["high"])
