"""The contract of agents: every agent of the registry, with each of its settings, on all instances, in both tracks."""

import itertools

import numpy as np
import pytest

from befrl import agents
from befrl.common.defaults import TRACKS
from befrl.common.errors import InputError, Refused
from befrl.experiment import agent_contract, regret
from befrl.experiment.agent_contract import Case
from helpers import CONSTANT, INSTANCES, SMOOTH, WORKS_ON, play
from helpers import instance as whole
from helpers import light as instance
from pairs import cover

AGENTS = agents.registry.names()
SHORT = 8  # the horizon where all settings are tried
# With random features LSVI-PHE takes as many normal draws in every row, and refuses other numbers of members.
COMMON = {("lsvi-phe", "random-features"): {"members", "delta"}}
# The agents whose model is exact only where features are constant on cells.
TABULAR = {
    "ensemble-rlsvi",
    "eqo",
    "lmc-lsvi",
    "lsvi-phe",
    "lsvi-ucb",
    "opsrl",
    "opt-rlsvi",
    "orlc",
    "psrl",
    "rlsvi",
    "uc-matrixrl",
}
TABULAR |= {"ucbvi", "ucbvi-bf", "ucrl-vtr"}
REASONS = {"ren-ts": "must be continuous", "smrl": "must be continuous"}


def works(algorithm, setting, name):
    return all(name in WORKS_ON.get(part, INSTANCES) for part in (algorithm, *map(str, setting.values())))


@pytest.fixture(autouse=True)
def together(monkeypatch):
    """Fewer episodes are evaluated together than are played."""
    monkeypatch.setattr(regret, "TOGETHER", 5)


# The properties, with more episodes where they are cheap.


def same_bytes_alone(case, name):
    cheap = not case.values and name in CONSTANT and case.instance.horizon > SHORT
    agent_contract.same_bytes_alone(case, episodes=35 if cheap else 7)


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
    """On the own grid: on a coarse one the interpolated design of a few visits need not be positive definite."""
    agent_contract.one_step_episodes(Case(case.algorithm, whole(name), case.track, case.values))


def certificates_hold(case, name):
    agent_contract.certificates_hold(case)


# The first is the one that the cover fills up with where any would do.
PROPERTIES = [
    shapes_and_common_starts,
    same_bytes_alone,
    same_bytes_beside_other_settings,
    no_look_ahead,
    one_step_episodes,
    certificates_hold,
]


def test_every_property_of_the_contract_is_tested():
    assert [check.__name__ for check in PROPERTIES] == [check.__name__ for check in agent_contract.PROPERTIES]


def selected():
    """The defaults with every property, and every setting with one: for words a row's bytes, for numbers in turn."""
    for start, algorithm in enumerate(AGENTS):
        for i, setting in enumerate(agent_contract.settings(algorithm)):
            names = [name for name in INSTANCES if works(algorithm, setting, name)]
            words = any(isinstance(value, str) for value in setting.values())
            checks = [same_bytes_alone] if words else [PROPERTIES[i % len(PROPERTIES)]] if setting else PROPERTIES
            of = "-".join(f"{key}={value}" for key, value in setting.items()) or "defaults"
            for j, check in enumerate(checks, start + i):
                name, track = names[j % len(names)], list(TRACKS)[j % 2]
                case = f"{check.__name__}-{algorithm}-{of}-{name}-{track}"
                yield pytest.param(check, algorithm, setting, name, track, id=case)


@pytest.mark.parametrize(("check", "algorithm", "setting", "name", "track"), selected())
def test_contract(check, algorithm, setting, name, track):
    check(Case(algorithm, instance(name, horizon=SHORT), track, setting), name)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", AGENTS)
def test_contract_for_all_pairs_of_settings_instances_tracks_and_properties(algorithm):
    def allowed(setting, name, *_):
        return works(algorithm, setting, name)

    cases = cover(list(agent_contract.settings(algorithm)), INSTANCES, TRACKS, PROPERTIES, allowed=allowed)
    for setting, name, track, check in cases:
        check(Case(algorithm, instance(name, **({"horizon": SHORT} if setting else {})), track, setting), name)


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "name"), list(itertools.product(AGENTS, INSTANCES)))
def test_contract_in_the_whole_product(algorithm, name):
    """Every property with the defaults, and one of them with every setting."""
    for setting, track in itertools.product(agent_contract.settings(algorithm), TRACKS):
        if works(algorithm, setting, name):
            for check in [shapes_and_common_starts] if setting else PROPERTIES:
                check(Case(algorithm, instance(name), track, setting), name)


def test_agents_say_where_they_are_exact_and_are_refused_with_a_reason_elsewhere():
    for algorithm, name in itertools.product(AGENTS, INSTANCES):
        model, chosen = instance(name).model, agents.parameters(algorithm, {})
        if works(algorithm, {}, name):
            wrong = name != "lds" if algorithm == "ren-ts" else algorithm in TABULAR and name in SMOOTH
            assert agents.specification(model, algorithm, chosen) == ("misspecified" if wrong else "exact")
        else:
            reason = REASONS.get(algorithm, "needs a finite state space$")
            with pytest.raises(Refused, match=f"agent '{algorithm}'.* {reason}"):
                agents.specification(model, algorithm, chosen)
            with pytest.raises(Refused):
                play(algorithm, instance(name), "U", seeds=(0,), episodes=1)


SPECIFICATIONS = [
    ("ucrl-vtr", "chain", {"presentation": "linearised"}, "misspecified"),
    ("eps-greedy", "chain", {"model": "counts"}, "exact"),
    ("eps-greedy", "waves", {"model": "counts"}, "misspecified"),
    ("rlsvi", "lds", {"presentation": "random-features"}, "misspecified"),
    # 16 pairs (cell, action): 8 frequencies span all functions of them, 7 do not.
    ("rlsvi", "chain", {"presentation": "random-features", "frequencies": 8}, "exact"),
    ("rlsvi", "chain", {"presentation": "random-features", "frequencies": 7}, "misspecified"),
]


@pytest.mark.parametrize(("algorithm", "name", "values", "fit"), SPECIFICATIONS)
def test_settings_decide_what_is_exact(algorithm, name, values, fit):
    assert agents.specification(instance(name).model, algorithm, agents.parameters(algorithm, values)) == fit


EXCLUSIVE = [
    ("bef-rlsvi", {"x": 1.0, "scale": 0.0}, "set either x or scale"),
    *((name, {"sigma": 1, "scale": 0.1}, "either sigma or scale") for name in ("ensemble-rlsvi", "lsvi-phe", "rlsvi")),
    ("opt-rlsvi", {"alpha_u": 1, "scale": 0.1}, "either sigma and alpha_u or scale"),
    ("smrl", {"bonus": "local", "search": "shooting"}, "no bonus"),
]


@pytest.mark.parametrize(("algorithm", "values", "reason"), EXCLUSIVE)
def test_parameters_that_exclude_each_other_are_rejected(algorithm, values, reason):
    with pytest.raises(InputError, match=reason):
        agents.parameters(algorithm, values)
