"""The contract of agents, for any setting, instance and track: functions of a `Case` that raise `ContractError`."""

import contextlib
import dataclasses
import random
from dataclasses import dataclass, field, replace

import numpy as np

from befrl import agents
from befrl.common.errors import InputError, require
from befrl.common.streams import ENVIRONMENT
from befrl.experiment import certificates, loop
from befrl.experiment.recording import Recording
from befrl.experiment.run_file import LOGGED, TRACED
from befrl.experiment.spec import RunSpec
from befrl.model.instance import Instance

LOG = LOGGED | TRACED


@dataclass(frozen=True)
class Case:
    """An algorithm with values of its parameters, on an instance, in a track."""

    algorithm: str
    instance: Instance
    track: str = "U"
    values: dict = field(default_factory=dict)

    def spec(self, seeds, episodes, settings=None):
        several, options = settings or [self.values], {"track": self.track, "root_seed": 7}
        return RunSpec.of(self.instance, "test", self.algorithm, several, episodes, seeds, **options)


class Recorder(Recording):
    """A recording that also copies policies; from episode `until` on, the noise is that of another root seed."""

    def __init__(self, spec, until=None):
        super().__init__(spec)
        self.kept = []
        self.other, self.until = replace(spec, root_seed=spec.root_seed + 1).stream(ENVIRONMENT), until

    def rollout(self, agent, policy):
        if len(self.policies) == self.until:
            self.stream = self.other
        self.kept.append(policy.copy())
        return super().rollout(agent, policy)


def generator_states():
    """The states of the global random generators of numpy and of Python."""
    _, keys, *rest = np.random.get_state()  # noqa: NPY002
    return (keys.tobytes(), rest), random.getstate()


def run(case, seeds, episodes, settings=None, until=None):
    """The log and the episodes of a run that must have finite numbers and no side effects."""
    spec, instance = case.spec(seeds, episodes, settings), case.instance
    recorder = Recorder(spec, until)
    numpy_state, python_state = generator_states()
    log = loop.run(spec, environment=recorder)
    now = generator_states()
    untouched = now[0] == numpy_state
    require(untouched, "the agent draws from numpy's global generator: use problem.normals or problem.uniforms")
    require(now[1] == python_state, "the agent draws from Python's global generator: use problem.uniforms")
    same = all(map(np.array_equal, recorder.policies, recorder.kept))
    require(same, "the agent changes a policy after it has returned it: make a new array for each plan")
    worst = instance.optimum[1][0].max() - instance.horizon * min(0.0, instance.R.min())
    highest = log["regret"].max()
    require(highest <= worst, f"the regret of an episode is {highest:g}, more than any policy loses: check the policy")
    for key, meaning in LOG.items():
        known = np.isfinite(log[key]).all() or np.isnan(log[key]).all()
        require(known, f"'{key}' ({meaning}) is not a finite number in some episodes")
    return log, recorder


def _different(log, other, rows=slice(None), part=slice(None)):
    """The first quantity of which some bytes differ between two logs, or None."""
    return next((key for key in LOG if log[key][rows, part].tobytes() != other[key][:, part].tobytes()), None)


def same_bytes_alone(case, episodes=7):
    """A row's numbers are the same in a second run, and do not depend on the seeds beside it."""
    block, alone, again = (run(case, seeds, episodes)[0] for seeds in ((0, 1, 3), (3,), (3,)))
    key = _different(alone, again)
    why = "the agent draws random numbers of its own, or its class remembers earlier runs"
    require(key is None, f"two equal runs differ in '{key}': {why}")
    key = _different(block, alone, rows=[2])
    require(key is None, f"a row depends on the rows beside it: '{key}' of a seed alone has other bits than in a block")


def same_bytes_beside_other_settings(case, settings=None, episodes=5):
    """A row's numbers do not depend on the settings beside it."""
    several = side_by_side(case) if settings is None else settings
    together = run(case, (0, 1), episodes, several)[0]
    for i, values in enumerate(several):
        key = _different(together, run(replace(case, values=values), (1,), episodes)[0], rows=[2 * i + 1])
        which = values or "the defaults"
        require(key is None, f"a row depends on the settings beside it: '{key}' with {which} has other bits")


def no_look_ahead(case):
    """With other noise from episode 2 on, the log before it and the policy of episode 2 keep their bytes."""
    log, recorder = run(case, (0, 1), 4)
    changed, other = run(case, (0, 1), 4, until=2)
    key = _different(log, changed, part=slice(2))
    require(key is None, f"the agent looks ahead: '{key}' depends on the noise of later episodes")
    same = recorder.kept[2].tobytes() == other.kept[2].tobytes()
    require(same, "the agent looks ahead: its policy depends on the noise of the episode that it is for")
    return log, changed


def shapes_and_common_starts(case):
    """Plans have the right shapes and values, and the agent faces the same noise as the oracle."""
    mine = run(case, (0, 1, 2), 4)[1]
    oracle = run(replace(case, algorithm="oracle", values={}), (0, 1, 2), 4)[1]
    for t, oracles in zip(mine.trajectories, oracle.trajectories, strict=True):
        # The same first state, and the same path as the oracle as long as actions agree.
        agree = np.cumprod(t.actions == oracles.actions, axis=1).astype(bool)
        same = (
            np.array_equal(t.states[:, 0], oracles.states[:, 0])
            and np.array_equal(t.next_states[agree], oracles.next_states[agree])
            and np.array_equal(t.rewards[agree], oracles.rewards[agree])
        )
        require(same, "the agent does not meet the noise that the oracle meets: it changes the environment's stream")


def one_step_episodes(case):
    """The agent can play episodes of a single step."""
    run(replace(case, instance=replace(case.instance, horizon=1)), (0, 1), 5)


def certificates_hold(case, episodes=12):
    """Certificates have a promised failure rate; where it is < 1 at the default scale and delta, they bound regret."""
    case = replace(case, values={key: case.values[key] for key in case.values if key not in ("scale", "delta")})
    agent = loop.make_agent(case.spec((0, 1, 2), episodes))
    if not agent.certifies:
        return
    facts, chosen = agent.facts(), agents.parameters(case.algorithm, case.values)
    delta = np.asarray(facts.get("certificate_delta", np.nan))
    known = np.all((delta > 0) & (delta <= 1))
    require(known, "facts() must have certificate_delta, the promised failure rate, from above 0 to 1 (no promise)")
    specification = agents.specification(case.instance.model, case.algorithm, chosen)
    if np.all(certificates.failure_rate(facts, specification) < 1):
        log = run(case, (0, 1, 2), episodes)[0]
        below = (log["regret"] - log["certificate"]).max()
        why = f"a certificate is {below:g} below the exact regret, at the default scale and delta"
        require(not certificates.broken(log, case.instance.horizon).any(), why)


PROPERTIES = [
    shapes_and_common_starts,
    same_bytes_alone,
    same_bytes_beside_other_settings,
    no_look_ahead,
    one_step_episodes,
    certificates_hold,
]


def settings(algorithm):
    """The defaults {}, and {key: value} for both ends of every number and for every other word."""
    yield {}
    for parameter in dataclasses.fields(agents.registry.module(algorithm).Parameters):
        about = parameter.metadata
        ends = (about["low"], about["high"]) if about["kind"] is float else ()
        values = (*about.get("choices", ()), *ends)
        yield from ({parameter.name: value} for value in values if value != parameter.default)


def beside(algorithm, own):
    """A setting, and those that can run in lock step with it: they differ from it in one number each."""
    yield own
    for parameter in dataclasses.fields(agents.registry.module(algorithm).Parameters):
        name, default, about = parameter.name, parameter.default, parameter.metadata
        if about["kind"] is not float:
            continue
        if name in own:  # the default beside one of the ends
            yield {key: value for key, value in own.items() if key != name}
            continue
        if default == "theory":
            others = [0.3, 0.0]
        elif default is None:
            others = [min(max(2.0, about["low"]), about["high"])]
        else:
            others = [default / 2 or 0.3]
        for other in others:
            with contextlib.suppress(InputError):  # two numbers may exclude each other
                agents.parameters(algorithm, own | {name: other})
                yield own | {name: other}


def side_by_side(case):
    """The settings of `beside` that the agent accepts in lock step with the case's own."""
    own, *others = beside(case.algorithm, case.values)
    found = [own]
    for other in others:
        with contextlib.suppress(InputError):
            loop.make_agent(case.spec((0,), 1, [own, other]))
            found.append(other)
    return found
