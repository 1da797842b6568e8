"""`befrl check`: sound components of every kind pass, and each way to break a contract gets its own message."""

import re

import pytest

from befrl import plugins
from befrl.common.errors import InputError
from befrl.experiment import agent_contract, checking, instance_contract
from helpers import INSTANCES, PROJECT, instance
from torture.broken_agents import HEAD, IN_A_CHECK, IN_A_RUN

pytestmark = pytest.mark.usefixtures("unplugged")
BROKEN_AGENTS = IN_A_RUN | IN_A_CHECK


def code(page):
    """The file that a guide shows."""
    text = (PROJECT / "docs" / f"{page}.md").read_text()
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)[0]


@pytest.fixture
def outcomes(tmp_path):
    """The outcomes of all checks of a file with this text."""

    def checked(text, **values):
        (tmp_path / "mine.py").write_text(text)
        ((kind, name),) = plugins.load(tmp_path / "mine.py")
        return checking.check(kind, name, values)

    return checked


SOUND = {
    "reward law": "from befrl.model.rewards import gaussian\nclass Law(gaussian.Law): pass\n",
    "estimator": "from befrl.learning.estimators import shah\nclass Estimator(shah.Estimator): pass\n",
    "planner": "from befrl.planning.planners import exact\nclass Planner(exact.Planner): pass\n",
    "agent for finite states": "from befrl.agents.rrl_mnl import Agent as Base, Parameters\nclass Agent(Base): pass\n",
}


@pytest.mark.parametrize("text", SOUND.values(), ids=SOUND)
def test_a_sound_component_passes(outcomes, text, monkeypatch):
    small = {"chain": {"bins": 3, "horizon": 3}, "riverswim": {"states": 3, "horizon": 3}}
    monkeypatch.setattr(checking, "INSTANCES", small)
    found = outcomes(text)
    assert len(found) >= 3
    assert [outcome for outcome in found if outcome.sentence] == []


@pytest.mark.parametrize("name", INSTANCES)
def test_every_instance_satisfies_the_contract(name):
    for check in instance_contract.PROPERTIES:
        check(instance(name))


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize(("body", "words"), BROKEN_AGENTS.values(), ids=BROKEN_AGENTS)
def test_a_broken_agent_gets_the_message_of_its_fault(outcomes, monkeypatch, body, words):
    monkeypatch.setattr(checking, "INSTANCES", {"chain": {"bins": 3, "horizon": 4}})
    monkeypatch.setattr(agent_contract, "settings", lambda algorithm: [{}])
    broken = [outcome.sentence for outcome in outcomes(HEAD + body) if outcome.sentence]
    assert any(re.search(words, sentence) for sentence in broken), broken


MDP = code("your-own-mdp")
START = "**space.uniform(0.0, 0.1),"
SIGMA = "sigma = parameters.sigma"
ZEROS = "A = np.zeros((5, 2, 4))"
CUBED = "**(space.uniform(0.0, 0.1) | {'start': lambda u: 0.1 * u**3}),"
# What is replaced in the guide's MDP, its replacement, the property, and words of the message.
BROKEN_MDPS = {
    "refused": ("B=[1.0, 0.0]", "B=[0.0, 0.0]", "build", "alpha_r = 0 is zero to rounding"),
    "first state": (START, CUBED, "build", r"start\(u\) disagrees with start_masses: cell 0"),
    "coarse": ("21)], order=5", "11)], order=2", "mass on a finer grid", "on a finer grid: use more cells or nodes"),
    "random": (SIGMA, "sigma = np.random.uniform(0.2, 0.3)", "build", "the instance is random"),
    "generator": (SIGMA, SIGMA + " + 0 * np.random.uniform()", "build", "global"),
    "an error": (ZEROS, ZEROS + "[9]", "build", r"IndexError: .*mine\.py, line 3"),
}


@pytest.mark.parametrize(("this", "other", "check", "words"), BROKEN_MDPS.values(), ids=BROKEN_MDPS)
def test_a_broken_mdp_gets_the_message_of_its_fault(outcomes, this, other, check, words):
    assert MDP.count(this) == 1
    broken = [outcome for outcome in outcomes(MDP.replace(this, other)) if outcome.sentence]
    assert any(outcome.check == check and re.search(words, outcome.sentence) for outcome in broken), broken


def test_a_law_whose_mean_is_not_that_of_its_draws_is_found(outcomes):
    law = "from befrl.model.rewards import bernoulli\nclass Law(bernoulli.Law):\n    def quantile(self, c, u):\n"
    (found,) = outcomes(law + "        return super().quantile(c + 0.2, u)\n")
    assert found.check == "build"
    assert "its draws have another mean" in found.sentence


def test_an_agent_that_rejects_every_instance_cannot_be_checked(outcomes):
    text = "from befrl.agents.random import Agent as Base, Parameters\nfrom befrl.common.errors import Refused\n"
    text += "class Agent(Base):\n    @classmethod\n    def specification(cls, model, parameters):\n"
    with pytest.raises(InputError, match="there is no instance to check it on"):
        outcomes(text + "        raise Refused('mine: never')\n")


def test_parameters_of_an_instance_are_used(outcomes):
    found = outcomes(MDP, horizon=3)
    assert [outcome for outcome in found if outcome.sentence] == []
    with pytest.raises(InputError, match="unknown parameter 'width'"):
        checking.check("instance", "mine", {"width": 3})
