"""BEF-SEED beside its rivals: the tables against runs made by hand, and the ranges of tuning against the config."""

import numpy as np
import pytest
import yaml

from befrl import agents
from befrl.analysis.components import certified
from befrl.analysis.intervals import mean_interval
from befrl.common.errors import InputError
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import PROJECT, instance

NAME, ROOT, EPISODES, SEEDS, CHECKED = "chain-3", 5, 10, 5, 8


@pytest.fixture(scope="module")
def problem():
    return instance("chain", bins=3, horizon=5)


@pytest.fixture(scope="module")
def tables(problem):
    return certified.study(NAME, problem, ROOT, EPISODES, SEEDS, CHECKED, configurations=4, tuning_seeds=1)


def by_hand(problem, agent, values, track, seeds=SEEDS):
    run = RunSpec.of(problem, NAME, agent, values, EPISODES, range(1000, 1000 + seeds), track=track, root_seed=ROOT)
    return loop.run(run)


@pytest.mark.parametrize("track", "UK")
def test_regrets_and_paired_differences_are_those_of_runs_with_common_random_numbers(problem, tables, track):
    rows = [row for row in tables["regrets"] if row["track"] == track]
    order = [("bef-seed", "theory"), ("bef-seed", "set")]
    order += [(rival, role) for rival in certified.RIVALS for role in ("theory", "tuned")]
    assert [(row["agent"], row["role"]) for row in rows] == order
    ours, random = by_hand(problem, "bef-seed", {}, track)["regret"].sum(1), rows[0]["random"]
    for row in rows:
        values = {key: float(value) for key, _, value in (part.partition("=") for part in row["setting"].split())}
        regret = by_hand(problem, row["agent"], values, track)["regret"].sum(1)
        assert row["mean"] == pytest.approx(regret.mean())
        found = [row[key] for key in certified.PAIRED]
        assert found == pytest.approx([np.mean(regret - ours), *mean_interval(regret - ours, 0.95)])
        assert row["ratio"] == pytest.approx((regret.mean() + random / 1000) / (ours.mean() + random / 1000))
        assert (row["role"] == "tuned") == bool(values) or row["agent"] == "bef-seed"


@pytest.mark.parametrize("track", "UK")
def test_certificates_with_theoretical_constants_are_checked_on_more_seeds(problem, tables, track):
    theory, tenth = (row for row in tables["certificates"] if row["track"] == track)
    assert (theory["seeds"], tenth["seeds"], theory["delta"], tenth["delta"]) == (CHECKED, SEEDS, 0.05, 1.0)
    for row, values in ((theory, {}), (tenth, {"scale": 0.1})):
        log = by_hand(problem, "bef-seed", values, track, row["seeds"])
        assert row["certified"] == pytest.approx(log["certificate"].sum(1).mean())
        assert row["broken_episodes"] == (log["certificate"] < log["regret"] - 1e-8).sum()
    assert theory["broken_episodes"] == 0 and tenth["certified"] < theory["certified"]


def test_ranges_of_tuning_are_those_of_the_config_and_all_rivals_give_as_many_parameters():
    entries = yaml.safe_load((PROJECT / "config/agents.yaml").read_text(encoding="utf-8"))["agents"]
    assert {rival: entries[rival]["tune"] for rival in certified.RIVALS} == certified.RIVALS
    assert all(agents.certifies(certified.OURS) > agents.certifies(rival) for rival in certified.RIVALS)


def test_fewer_checked_than_compared_seeds_are_rejected(problem):
    with pytest.raises(InputError, match="checked = 3 is not allowed: it must be at least 4"):
        certified.study(NAME, problem, ROOT, EPISODES, 4, 3, configurations=4, tuning_seeds=1)
