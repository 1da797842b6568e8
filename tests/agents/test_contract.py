"""What every agent of the catalogue must satisfy, on every instance and in both tracks."""

import dataclasses
import functools
import random

import numpy as np
import pytest

from befrl import agents
from befrl.agents.base import Trajectory
from befrl.common.errors import Refused
from befrl.experiment import loop
from befrl.experiment.loop import LOGGED, TRACKS
from helpers import INSTANCES, play
from helpers import light as instance

AGENTS = agents.catalogue.names()
# More than are evaluated together, of which the fixture below makes few.
EPISODES = {True: 7, False: 35}


def refusal(algorithm, name, **values):
    """The sentence by which an agent refuses an instance, or nothing."""
    try:
        agents.specification(instance(name).model, algorithm, agents.parameters(algorithm, values))
    except Refused as error:
        return str(error)
    return None


PAIRS = [(name, algorithm) for name in INSTANCES for algorithm in AGENTS if refusal(algorithm, name) is None]
REFUSED = [(name, algorithm) for name in INSTANCES for algorithm in AGENTS if (name, algorithm) not in PAIRS]
each_pair = pytest.mark.parametrize(("name", "algorithm"), PAIRS)
each_track = pytest.mark.parametrize("track", TRACKS)


@pytest.fixture(autouse=True)
def together(monkeypatch):
    monkeypatch.setattr(loop, "TOGETHER", 5)


def run(algorithm, name, track, seeds=(0, 1, 2, 3, 4), episodes=None, **values):
    problem = instance(name)
    return play(algorithm, problem, track, seeds, episodes or EPISODES[problem.model.smooth], **values)


@functools.cache
def block(algorithm, name, track):
    """Seeds 0 to 4 with the agent's own defaults; run once for all tests."""
    return run(algorithm, name, track)


def same_bits(one, other):
    return all(one[key].tobytes() == other[key].tobytes() for key in LOGGED)


def record(monkeypatch, tamper=None):
    """Keep every trajectory that `rollout` returns; `tamper(k, trajectory)` may replace it."""
    episodes = []
    original = loop.Environment.rollout

    def rollout(self, agent, policy):
        trajectory = original(self, agent, policy)
        if tamper is not None:
            trajectory = tamper(len(episodes), trajectory)
        episodes.append((policy, trajectory))
        return trajectory

    monkeypatch.setattr(loop.Environment, "rollout", rollout)
    return episodes


@pytest.mark.parametrize(("name", "algorithm"), REFUSED)
def test_a_pair_is_refused_before_it_runs_and_with_a_reason(name, algorithm):
    assert algorithm in refusal(algorithm, name)
    with pytest.raises(Refused):
        run(algorithm, name, "U", seeds=(0,), episodes=1)


@each_pair
@each_track
def test_the_same_seeds_give_the_same_bytes(algorithm, name, track):
    assert same_bits(run(algorithm, name, track), block(algorithm, name, track))


@each_pair
@each_track
def test_a_seed_gives_the_same_bytes_alone(algorithm, name, track):
    alone = run(algorithm, name, track, seeds=(3,))
    together = {key: block(algorithm, name, track)[key][3:4] for key in LOGGED}
    assert same_bits(alone, together)


@each_pair
@each_track
def test_regret_lies_between_zero_and_the_worst(algorithm, name, track):
    problem = instance(name)
    worst = problem.optimum[1][0].max() - problem.horizon * min(0.0, problem.R.min())
    regret = block(algorithm, name, track)["regret"]
    assert np.all(regret >= -1e-9)
    assert np.all(regret <= worst)


@each_pair
@each_track
def test_logged_numbers_are_finite_or_not_kept(algorithm, name, track):
    log = block(algorithm, name, track)
    assert np.all(np.isfinite(log["regret"]))
    for key in LOGGED:
        finite = np.isfinite(log[key])
        assert finite.all() or np.isnan(log[key]).all(), key


@each_pair
def test_global_generators_are_left_alone(algorithm, name):
    before, python_before = np.random.get_state(), random.getstate()  # noqa: NPY002
    run(algorithm, name, "U", episodes=3)
    after = np.random.get_state()  # noqa: NPY002
    assert np.array_equal(before[1], after[1])
    assert before[2:] == after[2:]
    assert random.getstate() == python_before


# Where every word, that is every variant, estimator and planner, is tried with every agent: an instance with bins, a
# finite and a smooth one. Their own tests try them everywhere.
FOR_WORDS = ("chain", "riverswim", "waves")


def extremes():
    """Both ends of every number that an agent takes, and every word, with the instances to try them on."""
    for algorithm in AGENTS:
        for field in dataclasses.fields(agents.catalogue.module(algorithm).Parameters):
            values = [*field.metadata.get("choices", ())]
            if field.metadata["kind"] is float:
                values += [field.metadata["low"], field.metadata["high"]]
            for name in FOR_WORDS if field.metadata["kind"] is str else INSTANCES:
                if (name, algorithm) in PAIRS:
                    yield from ((algorithm, field.name, value, name) for value in values)


@pytest.mark.parametrize(("algorithm", "key", "value", "name"), list(extremes()))
@each_track
def test_extreme_parameters_keep_numbers_finite(algorithm, key, value, name, track):
    if refusal(algorithm, name, **{key: value}) is not None:
        with pytest.raises(Refused):
            run(algorithm, name, track, seeds=(0, 1), episodes=1, **{key: value})
        return
    log = run(algorithm, name, track, seeds=(0, 1), episodes=6, **{key: value})
    assert np.all(log["regret"] >= -1e-9)
    for name_of in LOGGED:
        assert np.isfinite(log[name_of]).all() or np.isnan(log[name_of]).all(), name_of


@each_pair
@each_track
def test_no_look_ahead(algorithm, name, track, monkeypatch):
    """With other outcomes from episode 4 on, all that is logged up to episode 4 keeps its bytes."""
    changed_from = 4

    def tamper(k, t):
        if k < changed_from:
            return t
        return Trajectory(t.states, t.cells, t.actions, 1 - t.rewards, np.roll(t.next_states, 1, axis=1))

    as_it_was = run(algorithm, name, track, episodes=8)
    record(monkeypatch, tamper)
    changed = run(algorithm, name, track, episodes=8)
    for key in LOGGED:
        upto = np.s_[:, : changed_from + 1]
        assert as_it_was[key][upto].tobytes() == changed[key][upto].tobytes(), key
    if not np.isnan(changed["error_p"]).any():  # a learner does see the change afterwards
        assert np.any(as_it_was["error_p"][:, changed_from + 1] != changed["error_p"][:, changed_from + 1])


@each_pair
@each_track
def test_plans_and_episodes_have_their_shapes_and_common_starts(algorithm, name, track, monkeypatch):
    problem = instance(name)
    H, C, A = problem.horizon, problem.model.n_cells, problem.model.n_actions
    episodes = record(monkeypatch)
    run(algorithm, name, track, seeds=(0, 1, 2), episodes=4)
    mine = episodes.copy()
    episodes.clear()
    play("oracle", problem, "U", (0, 1, 2), 4)
    assert len(mine) == 4
    for (policy, t), (_, oracle_t) in zip(mine, episodes, strict=True):
        assert policy.shape in ((3, H, C), (3, H, C, A))
        if policy.ndim == 3:
            assert np.all((policy >= 0) & (policy < A))
            assert np.array_equal(t.actions, policy[np.arange(3)[:, None], np.arange(H), t.cells])
        else:
            assert np.all(policy >= 0)
            assert np.allclose(policy.sum(-1), 1.0, rtol=0, atol=1e-12)
        assert t.actions.shape == t.rewards.shape == t.cells.shape == (3, H)
        assert t.states.shape == t.next_states.shape
        # Paired noise: the same first state, and the same path as the oracle as long as actions agree.
        assert np.array_equal(t.states[:, 0], oracle_t.states[:, 0])
        agree = np.cumprod(t.actions == oracle_t.actions, axis=1).astype(bool)
        assert np.array_equal(t.next_states[agree], oracle_t.next_states[agree])
        assert np.array_equal(t.rewards[agree], oracle_t.rewards[agree])


@each_pair
def test_one_step_episodes(algorithm, name):
    log = play(algorithm, instance(name, horizon=1), "U", (0, 1), 5)
    assert np.all(log["regret"] >= -1e-9)


@each_pair
@each_track
def test_the_instance_is_not_changed(algorithm, name, track):
    problem = instance(name)
    keys = ("theta_p", "theta_r", "start_masses", "P", "R", "optimal_policy")
    before = [getattr(problem, key).copy() for key in keys]
    run(algorithm, name, track, seeds=(0,), episodes=3)
    assert all(np.array_equal(getattr(problem, key), old) for key, old in zip(keys, before, strict=True))
