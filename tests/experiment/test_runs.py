"""Running seeds: the same bits for every grouping and number of threads, and no number that is not finite."""

import dataclasses
import json

import numpy as np
import pytest

from befrl import instances
from befrl.common.errors import InputError
from befrl.experiment import runs
from befrl.experiment.run_file import COST, LOGGED
from befrl.experiment.spec import RunSpec

SEEDS = [0, 1, 2, 3, 4, 5, 6]
ALGORITHMS = ["bef-rlsvi", "exp-psrl", "exp-ucrl", "random"]


@pytest.fixture(scope="module")
def instance():
    return instances.build("riverswim", {"states": 3, "horizon": 5})


def run(instance, algorithm, seeds=SEEDS, lockstep=7, threads=1, tick=None, episodes=15):
    spec = RunSpec.of(instance, "river", algorithm, {}, episodes, seeds, root_seed=11)
    return runs.run_seeds(spec, lockstep, threads, tick)


def assert_same_bits(log, other):
    for key in LOGGED:
        assert log[key].tobytes() == other[key].tobytes(), key


@pytest.mark.parametrize("lockstep", [1, 2, 5])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_groups_do_not_change_a_bit(instance, algorithm, lockstep):
    assert_same_bits(run(instance, algorithm, lockstep=lockstep)[0], run(instance, algorithm)[0])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_seed_alone_is_the_seed_in_its_group(instance, algorithm):
    group = run(instance, algorithm)[0]
    alone = run(instance, algorithm, seeds=[4])[0]
    assert_same_bits(alone, {key: group[key][4:5] for key in LOGGED})


def test_seeds_differ(instance):
    regret = run(instance, "bef-rlsvi")[0]["regret"]
    assert len({row.tobytes() for row in regret}) > 1


@pytest.mark.parametrize("lockstep", [1, 2, 5])
def test_threads_do_not_change_a_bit(instance, lockstep):
    for algorithm in ALGORITHMS:
        two = run(instance, algorithm, lockstep=lockstep, threads=2)[0]
        assert_same_bits(two, run(instance, algorithm, lockstep=lockstep)[0])


@pytest.mark.parametrize("threads", [1, 2])
def test_every_step_is_counted_once(instance, threads):
    ticks = []
    log, seconds = run(instance, "random", lockstep=3, threads=threads, tick=ticks.append)
    assert sum(ticks) == len(SEEDS) * 15 * instance.horizon
    assert len(ticks) > 1
    assert all(log[key].shape == (15,) and np.all(log[key] >= 0) for key in COST)
    assert seconds > 0


def test_the_description_is_enough_to_run_again(instance):
    spec = RunSpec.of(instance, "river", "bef-rlsvi", {"x": 3}, 15, SEEDS, track="K", root_seed=11, label="it@x=3")
    log, seconds = runs.run_seeds(spec, lockstep=7)
    meta = json.loads(json.dumps(runs.describe(spec, seconds), allow_nan=False))
    made = instances.build(meta["family"], meta["instance_parameters"])
    keys = {"values": "parameters"} | {
        key: key for key in ("algorithm", "episodes", "seeds", "track", "root_seed", "label")
    }
    again = RunSpec.of(made, meta["instance"], **{key: meta[name] for key, name in keys.items()})
    again, _ = runs.run_seeds(again, lockstep=7)
    assert_same_bits(again, log)
    assert meta["steps_per_second"] * meta["seconds"] == pytest.approx(len(SEEDS) * 15 * instance.horizon)
    assert meta["facts"] == {"x": 3.0}
    assert meta["optimal_value"] == instance.optimal_value


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_regret_that_is_no_number_is_refused_with_its_seed_and_episode():
    """Rewards near the largest float: finite by themselves, but their sum over an episode is not."""
    instance = instances.build("riverswim", {"states": 3, "horizon": 20, "reward_sd": 1})
    broken = dataclasses.replace(instance, theta_r=instance.theta_r * 1.7e308)
    with pytest.raises(InputError, match=r"instance 'river': agent 'random' .*seed 5, episode 1\b.*check the instance"):
        run(broken, "random", seeds=[5, 6])


def test_the_first_bad_seed_and_episode_are_named(instance):
    spec = RunSpec.of(instance, "river", "greedy", {}, 4, [30, 31, 32])
    regret = np.zeros((3, 4))
    regret[1, 2] = np.nan
    regret[2, 0] = np.inf
    with pytest.raises(InputError, match=r"seed 31, episode 3\b"):
        runs._check(spec, regret)
    assert runs._check(spec, np.zeros((3, 4))) is None
