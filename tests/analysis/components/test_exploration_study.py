"""Does exploration matter? The table against runs made by hand, and the answer that is read from it."""

import numpy as np
import pandas as pd
import pytest

from befrl.analysis import components
from befrl.analysis.components import exploration
from befrl.analysis.intervals import mean_interval
from befrl.common import tidy
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import instance

NAME, ROOT, EPISODES, TUNING, EVALUATION = "chain-3", 5, 12, 11, 6


@pytest.fixture(scope="module")
def tables():
    """More rows of tuning, four settings on each seed, than run in lock step."""
    assert 4 * TUNING > exploration.LOCKSTEP
    return exploration.study(NAME, instance("chain", bins=3, horizon=5), ROOT, EPISODES, TUNING, EVALUATION)


@pytest.fixture(scope="module")
def shown(tables):
    return {row["role"]: row for row in tables["points"] if row["role"] != "tried"}


def by_hand(agent, values, seeds):
    """Cumulative regret of each seed."""
    problem = instance("chain", bins=3, horizon=5)
    return loop.run(RunSpec.of(problem, NAME, agent, values, EPISODES, seeds, root_seed=ROOT))["regret"].sum(1)


def test_the_best_of_all_points_on_the_tuning_seeds_is_compared_with_greedy_on_held_out_seeds(tables, shown):
    tried = [row for row in tables["points"] if row["role"] == "tried"]
    points = [(agent, key, value) for agent, (key, values) in exploration.GRIDS.items() for value in values]
    assert [(row["agent"], row["parameter"], row["value"]) for row in tried] == points
    # All agents have as many chances.
    assert len({len(values) for _, values in exploration.GRIDS.values()}) == 1
    for row in tried:
        assert (row["seeds"], row["episodes"]) == (TUNING, EPISODES) and row["low"] <= row["mean"] <= row["high"]
    for row in tried[::5]:
        assert row["mean"] == pytest.approx(by_hand(row["agent"], {row["parameter"]: row["value"]}, range(11)).mean())
    chosen = min(tried, key=lambda row: row["mean"])
    # The least mean is the least by far: on these seeds the choice does not depend on rounding.
    assert sorted(row["mean"] for row in tried)[1] > chosen["mean"] + 0.1
    assert list(shown) == ["greedy", "best", "random", "difference"]
    for row in (shown["best"], shown["difference"]):
        assert all(row[key] == chosen[key] for key in ("agent", "parameter", "value"))
    others = range(TUNING, TUNING + EVALUATION)
    greedy = by_hand("greedy", {}, others)
    best = by_hand(chosen["agent"], {chosen["parameter"]: chosen["value"]}, others)
    # The same seeds for tuning would have given another number.
    assert abs(best.mean() - chosen["mean"]) > 0.01
    assert all(row["seeds"] == EVALUATION for row in shown.values())
    # Intervals of regrets do not reach below zero; that of the paired differences may.
    for role, values, least in (("greedy", greedy, 0.0), ("best", best, 0.0), ("difference", greedy - best, None)):
        assert shown[role]["mean"] == pytest.approx(values.mean())
        assert (shown[role]["low"], shown[role]["high"]) == pytest.approx(mean_interval(values, 0.95, least=least))


def test_shares_are_regrets_in_units_of_that_of_random_play_which_is_exact(tables, shown):
    # Random play does not learn: its regret is the same in every episode; here the first state's cell is too.
    random = shown["random"]
    assert by_hand("random", {}, range(3)) == pytest.approx(np.full(3, random["mean"]))
    assert random["low"] == pytest.approx(random["mean"]) == random["high"]
    assert [row["role"] for row in tables["shares"]] == ["greedy", "best"]
    for row in tables["shares"]:
        own = shown[row["role"]]
        assert (row["agent"], row["seeds"], row["episodes"]) == (own["agent"], EVALUATION, EPISODES)
        for share, regret in (("share", "mean"), ("low", "low"), ("high", "high")):
            assert row[share] * random["mean"] == pytest.approx(own[regret])
        assert row["matters"] == (shown["difference"]["low"] > 0)


def test_exploration_matters_where_the_interval_lies_above_zero(tmp_path, tables, shown):
    columns, path, best = components.tables("exploration")["points"], tmp_path / "table.csv", shown["best"]
    for low, matters in ((1e-9, True), (2.0, True), (0.0, False), (-1e-9, False), (-7.0, False)):
        table = pd.DataFrame(tables["points"])
        table.loc[table["role"] == "difference", "low"] = low
        path.write_text(tidy.text(table, columns))
        answer = exploration.answer(tidy.read(path, columns))
        assert (answer["episodes"], answer["seeds"], answer["low"]) == (EPISODES, EVALUATION, low)
        for role in ("greedy", "best", "random"):
            assert answer[role] == pytest.approx(shown[role]["mean"], rel=1e-9)
        assert answer["high"] == pytest.approx(shown["difference"]["high"], rel=1e-9)
        assert answer["best_agent"] == f"{best['agent']}, {best['parameter']} = {best['value']:g}"
        assert answer["matters"] is matters
