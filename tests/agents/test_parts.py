"""An agent's parts, its estimator and its planner: which modules they are, and which pairings are refused, and when."""

import warnings

import pytest

from befrl import agents, instances
from befrl.common.errors import InputError, Refused
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from befrl.learning import estimators
from befrl.planning import planners
from helpers import WORKS_ON, instance

PAIRS = [(key, name) for key, registry in agents.PARTS.items() for name in registry.names()]


def chosen(key, name):
    return agents.parameters("greedy", {key: name})


def test_parts_are_the_registries():
    assert agents.PARTS == {"estimator": estimators.registry, "planner": planners.registry}
    assert set(WORKS_ON) <= {name for _, name in PAIRS} | set(agents.registry.names())


# Modules.


def test_modules_are_the_agents_own_and_those_of_its_parts():
    own = agents.modules("bef-rlsvi", agents.parameters("bef-rlsvi", {}))
    assert own == ["befrl.agents.bef_rlsvi", "befrl.learning.estimators.mle", "befrl.planning.planners.exact"]
    other = agents.parameters("exp-psrl", {"estimator": "online-newton", "planner": "rff-paired"})
    assert agents.modules("exp-psrl", other) == [
        "befrl.agents.exp_psrl", "befrl.learning.estimators.online_newton", "befrl.planning.planners.rff_paired",
    ]  # fmt: skip
    assert agents.modules("random", agents.parameters("random", {})) == ["befrl.agents.random"]


@pytest.mark.parametrize("algorithm", agents.registry.names())
def test_every_part_that_an_agent_can_choose_is_among_its_modules(algorithm):
    parameters = agents.parameters(algorithm, {})
    expected = [agents.registry.module_name(algorithm)]
    expected += [
        agents.PARTS[key].module_name(getattr(parameters, key)) for key in agents.PARTS if hasattr(parameters, key)
    ]
    assert sorted(agents.modules(algorithm, parameters)) == sorted(expected)


# Pairings.


@pytest.mark.parametrize("family", instances.registry.names())
@pytest.mark.parametrize(("key", "name"), PAIRS)
def test_a_pairing_is_refused_where_it_cannot_work_and_nowhere_else(family, key, name):
    model = instance(family).model
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if family in WORKS_ON.get(name, {family}):
            agents.check_parts(model, chosen(key, name))
            return
        with pytest.raises(Refused) as refusal:
            agents.check_parts(model, chosen(key, name))
    text = str(refusal.value)
    assert text.startswith(f"{key} '{name}' cannot ") and type(model.family).__name__ in text and "\n" not in text


def test_a_refusal_is_bad_input():
    """So that the command line and the workflow answer it with a sentence and exit code 2."""
    assert issubclass(Refused, InputError)


def test_an_agent_without_parts_is_never_refused_for_them():
    for family in instances.registry.names():
        agents.check_parts(instance(family).model, agents.parameters("random", {}))


@pytest.mark.parametrize(("key", "name"), [("estimator", "gaussian"), ("planner", "jacobi-anger")])
def test_a_refused_pairing_ends_before_the_first_step(monkeypatch, key, name):
    def never(*args):
        raise AssertionError("an episode was played")

    monkeypatch.setattr(loop.Environment, "rollout", never)
    small = instance("chain", bins=3, horizon=4)
    with pytest.raises(Refused, match=name):
        loop.run(RunSpec(small, "chain-3", "greedy", chosen(key, name), 3, [0], "U", 0))


@pytest.mark.parametrize(("key", "name"), PAIRS)
def test_what_is_not_refused_runs(key, name):
    family = min(WORKS_ON.get(name, {"chain"}))
    small = instance(family, horizon=3)
    regret = loop.run(RunSpec(small, family, "greedy", chosen(key, name), 3, [0, 1], "U", 0))["regret"]
    assert regret.shape == (2, 3) and (regret > -1e-9).all()


@pytest.mark.parametrize(
    "algorithm, values, whose",
    [
        ("bef-rlsvi", {}, "theory"),
        ("bef-rlsvi", {"eta": 3.0}, "theory"),
        ("bef-rlsvi", {"x": 3.0}, "set"),
        ("bef-rlsvi", {"scale": 1.0}, "set"),
        ("lsvi-phe", {"members": 10}, "set"),
        ("opt-rlsvi", {"sigma": 1.0}, "set"),
        ("greedy", {}, "none"),
        ("eps-greedy", {"epsilon": 0.2}, "none"),
    ],
)
def test_whose_constants_an_agent_runs_with(algorithm, values, whose):
    assert agents.constants(algorithm, agents.parameters(algorithm, values)) == whose


def test_surrogates_are_the_agents_that_say_so_in_their_deviations():
    """Only these three do not know their source's constants; what stands in for them is one sentence."""
    modules = {name: agents.registry.module(name) for name in agents.registry.names()}
    marked = {name for name, module in modules.items() if module.Agent.surrogate}
    assert marked == {"smrl", "lsvi-phe", "ucrl-mnl"}
    assert marked == {
        name for name, module in modules.items() if "the source's constants are not known" in _flat(module)
    }
    for name in marked:
        assert modules[name].Agent.surrogate.endswith(".")
        assert agents.constants(name, agents.parameters(name, {})) == "surrogate"
        assert agents.constants(name, agents.parameters(name, {"scale": 0.5})) == "set"


def _flat(module):
    return " ".join(module.__doc__.lower().split())
