"""Running rows: the same bits for every grouping and number of threads, and no number that is not finite."""

import dataclasses
import json

import numpy as np
import pytest

from befrl import instances
from befrl.common.errors import InputError
from befrl.experiment import runs
from befrl.experiment.run_file import COST, LOGGED, META, TRACED, marks
from befrl.experiment.spec import RunSpec

SEEDS = [0, 1, 2, 3, 4, 5, 6]
ALGORITHMS = ["bef-rlsvi", "exp-psrl", "exp-ucrl", "random"]


@pytest.fixture(scope="module")
def instance():
    return instances.build("riverswim", {"states": 3, "horizon": 5})


def settings(algorithm):
    """Two settings of an agent, if it has any."""
    return {"random": [{}], "bef-rlsvi": [{}, {"x": 0.5, "eta": 2.0}]}.get(algorithm, [{}, {"scale": 0.1, "eta": 2.0}])


def run(instance, algorithm, seeds=SEEDS, width=14, threads=1, tick=None, episodes=15):
    spec = RunSpec.of(instance, "river", algorithm, settings(algorithm), episodes, seeds, root_seed=11)
    return runs.run_rows(spec, width, threads, tick)


def assert_same_bits(log, other):
    for key in (*LOGGED, *TRACED):
        assert log[key].shape == other[key].shape
        assert log[key].tobytes() == other[key].tobytes(), key


def test_a_group_has_all_settings_of_its_seeds_and_no_more_rows_than_asked_for(instance):
    """As equal as can be; the groups are seeds in order, each once."""
    spec = RunSpec.of(instance, "river", "bef-rlsvi", settings("bef-rlsvi"), 15, SEEDS)
    for width, count in ((1, 7), (2, 7), (5, 4), (100, 1)):
        groups = spec.groups(width)
        assert len(groups) == count and sum((group.seeds for group in groups), ()) == tuple(SEEDS)
        assert all(group.settings == spec.settings for group in groups)
        sizes = [group.rows for group in groups]
        assert max(sizes) <= max(2, width) and max(sizes) - min(sizes) <= 2
        assert sum(group.steps for group in groups) == spec.steps == 14 * 15 * instance.horizon


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_row_has_the_same_bits_in_any_group_alone_and_in_other_processes(instance, algorithm):
    log, several = run(instance, algorithm)[0], settings(algorithm)
    assert all(log[key].shape == (len(several), 7, 15) for key in LOGGED)
    assert all(log[key].shape == (len(several), 7, len(marks(15))) for key in TRACED)
    for width, threads in ((1, 1), (4, 1), (9, 1), (4, 2)):
        assert_same_bits(run(instance, algorithm, width=width, threads=threads)[0], log)
    alone = run(instance, algorithm, seeds=[4])[0]
    assert_same_bits(alone, {key: log[key][:, 4:5] for key in (*LOGGED, *TRACED)})
    # Each setting has the numbers of its own run, in its own place, and seeds differ.
    for i, values in enumerate(several):
        alone, _ = runs.run_rows(RunSpec.of(instance, "river", algorithm, values, 15, SEEDS, root_seed=11), width=7)
        assert_same_bits(alone, {key: log[key][i : i + 1] for key in (*LOGGED, *TRACED)})
    assert algorithm == "random" or len({row.tobytes() for row in log["regret"][0]}) > 1


def test_several_runs_together_are_those_alone(instance):
    """In the order of the runs, whatever the number of processes."""
    specs = [RunSpec.of(instance, "river", name, {}, 5, range(3), root_seed=11) for name in ("random", "greedy")]
    for threads in (1, 2):
        for spec, (log, seconds) in zip(specs, runs.run_all(specs, 2, threads), strict=True):
            assert_same_bits(log, runs.run_rows(spec, width=2)[0])
            assert seconds > 0


@pytest.mark.parametrize("threads", [1, 2])
def test_every_step_is_counted_once(instance, threads):
    ticks = []
    log, seconds = run(instance, "random", width=3, threads=threads, tick=ticks.append)
    assert sum(ticks) == len(SEEDS) * 15 * instance.horizon and len(ticks) > 1
    assert all(log[key].shape == (15,) and np.all(log[key] >= 0) for key in COST) and seconds > 0


def test_the_description_is_enough_to_run_again(instance):
    values = [{"x": 3}, {"x": 4, "eta": 2}]
    spec = RunSpec.of(instance, "river", "bef-rlsvi", values, 15, SEEDS, track="K", root_seed=11, ties="first")
    log, seconds = runs.run_rows(spec, width=14)
    meta = json.loads(json.dumps(runs.describe(spec, ["it@tuned", "it@worst"], seconds), allow_nan=False))
    assert set(meta) == set(META)
    made = instances.build(meta["family"], meta["instance_parameters"])
    given = {key: meta[key] for key in ("algorithm", "episodes", "seeds", "track", "root_seed", "ties")}
    again, _ = runs.run_rows(RunSpec.of(made, meta["instance"], values=meta["settings"], **given), width=14)
    assert_same_bits(again, log)
    assert meta["labels"] == ["it@tuned", "it@worst"]
    assert meta["steps_per_second"] * meta["seconds"] == pytest.approx(2 * len(SEEDS) * 15 * instance.horizon)
    assert meta["facts"] == [{"x": 3.0}, {"x": 4.0}]
    assert (meta["constants"], meta["specification"]) == (["set"] * 2, ["exact"] * 2)
    assert meta["optimal_value"] == instance.optimal_value


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_regret_that_is_not_a_number_is_rejected_with_its_seed_and_episode():
    """Rewards near the largest float: finite by themselves, but their sum over an episode is not."""
    instance = instances.build("riverswim", {"states": 3, "horizon": 20, "reward_sd": 1})
    with pytest.raises(InputError, match=r"instance 'river': agent 'random' .*seed 5, episode 1\b.*check the instance"):
        run(dataclasses.replace(instance, theta_r=instance.theta_r * 1.7e308), "random", seeds=[5, 6])


def test_the_first_bad_setting_seed_and_episode_are_named(instance, monkeypatch):
    spec = RunSpec.of(instance, "river", "greedy", [{}, {"eta": 2.5}], 4, [30, 31, 32])
    log = runs.loop.run(spec)
    log["regret"].reshape(2, 3, 4)[1, [1, 2], [2, 0]] = np.nan, np.inf
    monkeypatch.setattr(runs.loop, "run", lambda *_: log)
    with pytest.raises(InputError, match=r"setting \{.*'eta': 2\.5.*seed 31, episode 3\b"):
        runs.run_rows(spec, width=6)
