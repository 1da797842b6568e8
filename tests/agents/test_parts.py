"""An agent's estimator and planner: which modules they are, and which pairings with a model are rejected."""

import warnings

import pytest

from befrl import agents, instances
from befrl.common.errors import InputError, Refused
from befrl.experiment import loop
from helpers import WORKS_ON, instance, spec

PAIRS = [(key, name) for key, registry in agents.PARTS.items() for name in registry.names()]
each_pair = pytest.mark.parametrize(("key", "name"), PAIRS)


def test_modules_are_the_agents_own_and_those_of_its_parts():
    # `interval` is a width of bef-seed.
    assert set(WORKS_ON) <= {name for _, name in PAIRS} | set(agents.registry.names()) | {"interval"}
    own = agents.modules("bef-rlsvi", agents.parameters("bef-rlsvi", {}))
    assert own == ["befrl.agents.bef_rlsvi", "befrl.learning.estimators.mle", "befrl.planning.planners.exact"]
    other = agents.parameters("exp-psrl", {"estimator": "online-newton", "planner": "rff-paired"})
    parts = ["befrl.learning.estimators.online_newton", "befrl.planning.planners.rff_paired"]
    assert agents.modules("exp-psrl", other) == ["befrl.agents.exp_psrl", *parts]
    assert agents.modules("random", agents.parameters("random", {})) == ["befrl.agents.random"]


@each_pair
def test_pairings_are_rejected_where_they_cannot_work_and_nowhere_else(key, name):
    chosen = agents.parameters("greedy", {key: name})
    for family in instances.registry.names():
        model = instance(family).model
        agents.check_parts(model, agents.parameters("random", {}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if family in WORKS_ON.get(name, {family}):
                agents.check_parts(model, chosen)
                continue
            with pytest.raises(Refused) as refusal:
                agents.check_parts(model, chosen)
        text = str(refusal.value)
        assert text.startswith(f"{key} '{name}' cannot ") and type(model.family).__name__ in text and "\n" not in text


def test_rejected_pairings_end_before_the_first_step(monkeypatch):
    """As bad input, which the command line and the workflow answer with a message and exit code 2."""

    def never(*args):
        raise AssertionError("an episode was played")

    assert issubclass(Refused, InputError)
    monkeypatch.setattr(loop.Environment, "rollout", never)
    for key, name in (("estimator", "gaussian"), ("planner", "jacobi-anger")):
        with pytest.raises(Refused, match=name):
            loop.run(spec("greedy", instance("chain", bins=3, horizon=4), seeds=[0], episodes=3, **{key: name}))


@each_pair
def test_allowed_pairings_run(key, name):
    small = instance(min(WORKS_ON.get(name, {"chain"})), horizon=3)
    regret = loop.run(spec("greedy", small, seeds=[0, 1], episodes=3, **{key: name}))["regret"]
    assert regret.shape == (2, 3) and (regret > -1e-9).all()


OURS = [({}, "theory"), ({"eta": 3.0}, "theory"), ({"x": 3.0}, "set"), ({"scale": 1.0}, "set")]
OTHERS = [("lsvi-phe", {"members": 10}, "set"), ("opt-rlsvi", {"sigma": 1.0}, "set")]
OTHERS += [("greedy", {}, "none"), ("eps-greedy", {"epsilon": 0.2}, "none")]


@pytest.mark.parametrize(("algorithm", "values", "whose"), [*(("bef-rlsvi", *case) for case in OURS), *OTHERS])
def test_whose_constants_an_agent_runs_with(algorithm, values, whose):
    assert agents.constants(algorithm, agents.parameters(algorithm, values)) == whose


def test_surrogates_are_the_agents_that_say_so_in_their_deviations():
    """Only these do not know their source's constants; what stands in for them is one sentence."""
    modules = {name: agents.registry.module(name) for name in agents.registry.names()}
    marked = {name for name, module in modules.items() if module.Agent.surrogate}
    assert marked == {"ensemble-rlsvi", "eqo", "lmc-lsvi", "lsvi-phe", "opsrl", "orlc", "smrl", "ucrl-mnl"}
    flat = {name: " ".join(module.__doc__.lower().split()) for name, module in modules.items()}
    assert marked == {name for name, text in flat.items() if "the source's constants are not known" in text}
    for name in marked:
        assert modules[name].Agent.surrogate.endswith(".")
        assert agents.constants(name, agents.parameters(name, {})) == "surrogate"
        assert agents.constants(name, agents.parameters(name, {"scale": 0.5})) == "set"
