"""What every agent of the catalogue must satisfy, with each of its settings, on every instance and in both tracks."""

import contextlib
import dataclasses
import itertools
import random
from unittest import mock

import numpy as np
import pytest

from befrl import agents
from befrl.common.errors import InputError, Refused
from befrl.experiment import loop, regret
from befrl.experiment.spec import TRACKS, RunSpec
from helpers import CONSTANT, INSTANCES, LOG, ROOT, WORKS_ON, play
from helpers import instance as whole
from helpers import light as instance
from pairs import cover

AGENTS = agents.catalogue.names()
DEFAULTS = (None, None)
# Instances in the pairwise cover, but for the agents' defaults.
SHORT = {"horizon": 8}


def settings(algorithm):
    """The defaults, and (key, value) for both ends of every number and for every other word."""
    yield DEFAULTS
    for field in dataclasses.fields(agents.catalogue.module(algorithm).Parameters):
        values = [*field.metadata.get("choices", ())]
        if field.metadata["kind"] is float:
            values += [field.metadata["low"], field.metadata["high"]]
        yield from ((field.name, value) for value in values if value != field.default)


# With random features LSVI-PHE takes as many normal draws in every row, and refuses other numbers of members.
COMMON = {("lsvi-phe", "random-features"): {"members", "delta"}}


def beside(algorithm, setting):
    """A setting, and others that differ from it in one number each: what can run in lock step with it."""
    key, value = setting
    own = {} if setting == DEFAULTS else {key: value}
    yield own
    for field in dataclasses.fields(agents.catalogue.module(algorithm).Parameters):
        if field.metadata["kind"] is not float or field.name in COMMON.get((algorithm, value), ()):
            continue
        if field.name == key:  # the default beside one of the ends
            yield {}
            continue
        low, high, default = field.metadata["low"], field.metadata["high"], field.default
        if default == "theory":
            others = [0.3, 0.0]
        elif default is None:
            others = [min(max(2.0, low), high)]
        else:
            others = [default / 2 or 0.3]
        for other in others:
            values = own | {field.name: other}
            try:
                agents.parameters(algorithm, values)
            except InputError:
                assert own  # it and the setting's own number exclude each other
                continue
            yield values


def works(algorithm, setting, name):
    return all(name in WORKS_ON.get(part, INSTANCES) for part in (algorithm, setting[1]))


@pytest.fixture(autouse=True)
def together(monkeypatch):
    """Fewer episodes are evaluated together than are played."""
    monkeypatch.setattr(regret, "TOGETHER", 5)


@contextlib.contextmanager
def nothing_else_changes(problem):
    """Neither the instance nor the global generators."""
    keys = ("theta_p", "theta_r", "start_masses", "P", "R", "optimal_policy")
    arrays = [getattr(problem, key).copy() for key in keys]
    numpy_state, python_state = np.random.get_state(), random.getstate()  # noqa: NPY002
    yield
    assert all(np.array_equal(getattr(problem, key), old) for key, old in zip(keys, arrays, strict=True))
    assert all(np.array_equal(new, old) for new, old in zip(np.random.get_state(), numpy_state, strict=True))  # noqa: NPY002
    assert random.getstate() == python_state


def run(algorithm, setting, name, track, seeds, episodes, build=instance, **instance_values):
    """A run that leaves all else alone, whose numbers are finite and whose regret is possible."""
    problem, (key, value) = build(name, **instance_values), setting
    with nothing_else_changes(problem):
        log = play(algorithm, problem, track, seeds, episodes, **({} if setting == DEFAULTS else {key: value}))
    worst = problem.optimum[1][0].max() - problem.horizon * min(0.0, problem.R.min())
    assert np.all(log["regret"] >= -1e-9)
    assert np.all(log["regret"] <= worst)
    for logged in LOG:
        assert np.isfinite(log[logged]).all() or np.isnan(log[logged]).all(), logged
    return log


@contextlib.contextmanager
def recorded(where=lambda k, environment: environment):
    """Keep every policy and trajectory; `where` may send episode k to another environment."""
    episodes = []
    original = loop.Environment.rollout

    def rollout(self, agent, policy):
        episodes.append((policy, original(where(len(episodes), self), agent, policy)))
        return episodes[-1][1]

    with mock.patch.object(loop.Environment, "rollout", rollout):
        yield episodes


# The properties.


def same_bytes_alone(algorithm, setting, name, track, **short):
    """A row's numbers do not depend on the seeds beside it, nor on anything that is not its own."""
    episodes = 35 if setting == DEFAULTS and name in CONSTANT else 7
    block = run(algorithm, setting, name, track, (0, 1, 3), episodes, **short)
    alone = run(algorithm, setting, name, track, (3,), episodes, **short)
    for key in LOG:
        assert block[key][2:].tobytes() == alone[key].tobytes(), key


def same_bytes_beside_other_settings(algorithm, setting, name, track, **short):
    """A row's numbers do not depend on the settings beside it: each number of the agent at two values or three."""
    problem, seeds, episodes = instance(name, **short), (0, 1), 12 if setting == DEFAULTS else 5
    several = list(beside(algorithm, setting))
    with nothing_else_changes(problem):
        together = loop.run(
            RunSpec.of(problem, "test", algorithm, several, episodes, seeds, track=track, root_seed=ROOT)
        )
    for i, values in enumerate(several):
        alone = play(algorithm, problem, track, (1,), episodes, **values)
        for key in LOG:
            row = together[key].reshape(len(several), len(seeds), -1)[i, 1]
            assert row.tobytes() == alone[key][0].tobytes(), (values, key)


def no_look_ahead(algorithm, setting, name, track, **short):
    """With other noise from episode 2 on, what is logged before and the policy of episode 2 keep their bytes."""
    other = loop.Environment(instance(name, **short), ROOT + 1, "test", (0, 1))
    with recorded() as episodes:
        as_it_was = run(algorithm, setting, name, track, (0, 1), 4, **short)
    with recorded(lambda k, environment: environment if k < 2 else other) as other_episodes:
        changed = run(algorithm, setting, name, track, (0, 1), 4, **short)
    for key in LOG:
        assert as_it_was[key][:, :2].tobytes() == changed[key][:, :2].tobytes(), key
    assert episodes[2][0].tobytes() == other_episodes[2][0].tobytes()
    if setting == DEFAULTS and not np.isnan(changed["error_p"]).any():  # a learner does see the change afterwards
        assert np.any(as_it_was["error_p"][:, 3] != changed["error_p"][:, 3])


def shapes_and_common_starts(algorithm, setting, name, track, **short):
    problem = instance(name, **short)
    H, C, A = problem.horizon, problem.model.n_cells, problem.model.n_actions
    with recorded() as mine:
        run(algorithm, setting, name, track, (0, 1, 2), 4, **short)
    with recorded() as the_oracles:
        play("oracle", problem, "U", (0, 1, 2), 4)
    assert len(mine) == 4
    for (policy, t), (_, oracle_t) in zip(mine, the_oracles, strict=True):
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


def one_step_episodes(algorithm, setting, name, track, **short):
    """`run` has assertions enough.

    On the instance's own grid: on a coarse one the interpolated design of a few visits has negative eigenvalues, which
    the smallest penalty does not lift.
    """
    run(algorithm, setting, name, track, (0, 1), 5, build=whole, horizon=1)


# The first is the one that the cover fills up with where any would do.
PROPERTIES = [
    shapes_and_common_starts,
    same_bytes_alone,
    same_bytes_beside_other_settings,
    no_look_ahead,
    one_step_episodes,
]


def covered():
    """For every agent all pairs of its settings, the instances, the tracks and the properties."""
    for algorithm in AGENTS:

        def allowed(setting, name, *_, algorithm=algorithm):
            return works(algorithm, setting, name)

        chosen = cover(list(settings(algorithm)), INSTANCES, TRACKS, PROPERTIES, allowed=allowed)
        for (key, value), name, track, check in chosen:
            of = "defaults" if (key, value) == DEFAULTS else f"{key}={value}"
            yield pytest.param(
                check, algorithm, (key, value), name, track, id=f"{check.__name__}-{algorithm}-{of}-{name}-{track}"
            )


@pytest.mark.parametrize(("check", "algorithm", "setting", "name", "track"), covered())
def test_contract(check, algorithm, setting, name, track):
    check(algorithm, setting, name, track, **({} if setting == DEFAULTS else SHORT))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "name"), [pair for pair in itertools.product(AGENTS, INSTANCES) if works(pair[0], DEFAULTS, pair[1])]
)
def test_contract_in_the_whole_product(algorithm, name):
    """Every property with the defaults, and one of them with every setting."""
    for setting, track in itertools.product(settings(algorithm), TRACKS):
        if works(algorithm, setting, name):
            for check in PROPERTIES if setting == DEFAULTS else [shapes_and_common_starts]:
                check(algorithm, setting, name, track)


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("algorithm", AGENTS)
def test_a_pair_is_refused_before_it_runs_and_with_a_reason_or_not_at_all(algorithm, name):
    model = instance(name).model
    if works(algorithm, DEFAULTS, name):
        assert agents.specification(model, algorithm, agents.parameters(algorithm, {})) in ("exact", "misspecified")
        return
    with pytest.raises(Refused, match=algorithm):
        agents.specification(model, algorithm, agents.parameters(algorithm, {}))
    with pytest.raises(Refused):
        play(algorithm, instance(name), "U", seeds=(0,), episodes=1)
