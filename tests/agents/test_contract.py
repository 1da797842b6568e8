"""What every agent of the registry must satisfy, with each of its settings, on every instance and in both tracks."""

import itertools

import numpy as np
import pytest

from befrl import agents
from befrl.common.defaults import TRACKS
from befrl.common.errors import Refused
from befrl.experiment import agent_contract, regret
from befrl.experiment.agent_contract import Case
from helpers import CONSTANT, INSTANCES, WORKS_ON, play
from helpers import instance as whole
from helpers import light as instance
from pairs import cover

AGENTS = agents.registry.names()
# Instances in the pairwise cover, but for the agents' defaults.
SHORT = {"horizon": 8}
# With random features LSVI-PHE takes as many normal draws in every row, and refuses other numbers of members.
COMMON = {("lsvi-phe", "random-features"): {"members", "delta"}}


def settings(algorithm):
    return list(agent_contract.settings(algorithm))


def works(algorithm, setting, name):
    return all(name in WORKS_ON.get(part, INSTANCES) for part in (algorithm, *map(str, setting.values())))


@pytest.fixture(autouse=True)
def together(monkeypatch):
    """Fewer episodes are evaluated together than are played."""
    monkeypatch.setattr(regret, "TOGETHER", 5)


# The properties, with more episodes where they are cheap.


def same_bytes_alone(case, name):
    agent_contract.same_bytes_alone(case, episodes=35 if not case.values and name in CONSTANT else 7)


def same_bytes_beside_other_settings(case, name):
    """No setting but those of COMMON may be refused beside another."""
    common = set().union(*(COMMON.get((case.algorithm, value), set()) for value in case.values.values()))
    several = list(agent_contract.beside(case.algorithm, case.values))
    kept = [values for values in several if not common & (values.keys() - case.values.keys())]
    assert agent_contract.side_by_side(case) == kept
    agent_contract.same_bytes_beside_other_settings(case, kept, episodes=5 if case.values else 12)


def no_look_ahead(case, name):
    log, changed = agent_contract.no_look_ahead(case)
    if not case.values and not np.isnan(changed["error_p"]).any():  # a learner does see the change afterwards
        assert np.any(log["error_p"][:, 3] != changed["error_p"][:, 3])


def shapes_and_common_starts(case, name):
    agent_contract.shapes_and_common_starts(case)


def one_step_episodes(case, name):
    """On the instance's own grid.

    On a coarse one the interpolated design of a few visits has negative eigenvalues, which the smallest penalty does
    not lift.
    """
    agent_contract.one_step_episodes(Case(case.algorithm, whole(name), case.track, case.values))


# The first is the one that the cover fills up with where any would do.
PROPERTIES = [
    shapes_and_common_starts,
    same_bytes_alone,
    same_bytes_beside_other_settings,
    no_look_ahead,
    one_step_episodes,
]


def test_every_property_of_the_contract_is_tested():
    assert [check.__name__ for check in PROPERTIES] == [check.__name__ for check in agent_contract.PROPERTIES]


def covered():
    """For every agent all pairs of its settings, the instances, the tracks and the properties."""
    for algorithm in AGENTS:

        def allowed(setting, name, *_, algorithm=algorithm):
            return works(algorithm, setting, name)

        chosen = cover(settings(algorithm), INSTANCES, TRACKS, PROPERTIES, allowed=allowed)
        for setting, name, track, check in chosen:
            of = "-".join(f"{key}={value}" for key, value in setting.items()) or "defaults"
            yield pytest.param(
                check, algorithm, setting, name, track, id=f"{check.__name__}-{algorithm}-{of}-{name}-{track}"
            )


@pytest.mark.parametrize(("check", "algorithm", "setting", "name", "track"), covered())
def test_contract(check, algorithm, setting, name, track):
    check(Case(algorithm, instance(name, **(SHORT if setting else {})), track, setting), name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "name"), [pair for pair in itertools.product(AGENTS, INSTANCES) if works(pair[0], {}, pair[1])]
)
def test_contract_in_the_whole_product(algorithm, name):
    """Every property with the defaults, and one of them with every setting."""
    for setting, track in itertools.product(settings(algorithm), TRACKS):
        if works(algorithm, setting, name):
            for check in [shapes_and_common_starts] if setting else PROPERTIES:
                check(Case(algorithm, instance(name), track, setting), name)


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("algorithm", AGENTS)
def test_a_pair_is_refused_before_it_runs_and_with_a_reason_or_not_at_all(algorithm, name):
    model = instance(name).model
    if works(algorithm, {}, name):
        assert agents.specification(model, algorithm, agents.parameters(algorithm, {})) in ("exact", "misspecified")
        return
    with pytest.raises(Refused, match=algorithm):
        agents.specification(model, algorithm, agents.parameters(algorithm, {}))
    with pytest.raises(Refused):
        play(algorithm, instance(name), "U", seeds=(0,), episodes=1)
