"""docs/your-own-mdp.md, followed step by step in an empty folder; its file, and the mistakes that it lists."""

import re

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scipy.special import expit

from befrl import agents, cli, instances, plugins
from befrl.common.errors import InputError
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from befrl.gym import BefEnv
from guides import Guide

GUIDE = Guide("your-own-mdp")
CHECK, INSTANCE, RUN, STUDY, ENVIRONMENT = GUIDE.commands
FILE = GUIDE.files["thermostat.py"]


def mistakes():
    """The rows (text, replacement, exception, message) of the last table."""
    table = GUIDE.text[GUIDE.text.index("## What is rejected") :]
    return re.findall(r"^\| `(.*)` \| `(.*)` \| `(\w+)` \| (.*) \|$", table, flags=re.MULTILINE)


@pytest.fixture
def drop(tmp_path, unplugged):
    """Load a text as the plug-in thermostat.py."""

    def put(text):
        (tmp_path / "thermostat.py").write_text(text)
        plugins.load(tmp_path / "thermostat.py")

    return put


def brute_force(horizon, sigma, points=1000):
    """V* from the first state on a grid of midpoints, from the page's formulas and not from befrl."""
    x = (np.arange(points) + 0.5) / points - 0.5
    kernels, rewards = [], []
    for heater in (0, 1):
        # exp(c z + v z^2 - z^2/2) is a normal density with variance 1/(1 - 2 v) and mean c/(1 - 2 v), cut to the room.
        z, c, v = x / sigma, (-0.1 + 0.8 * x + 0.25 * heater) / sigma, 0.1 * heater
        mean, variance = c / (1 - 2 * v), 1 / (1 - 2 * v)
        density = np.exp(-np.square(z - mean[:, None]) / (2 * variance))
        kernels.append(density / density.sum(1, keepdims=True))
        rewards.append(expit(-1.5 + 3 * np.exp(-np.square((x - 0.2) / 0.1)) - 0.5 * heater))
    V = np.zeros(points)
    for _ in range(horizon):
        V = np.maximum(*(r + P @ V for r, P in zip(rewards, kernels, strict=True)))
    return V[x < -0.4].mean()


@pytest.mark.parametrize("values", [{}, {"horizon": 7, "sigma": 0.3}])
def test_optimum_agrees_with_a_fine_grid(drop, values):
    drop(FILE)
    problem = instances.rebuild("thermostat", values, {})
    expected = brute_force(**{"horizon": 20, "sigma": 0.2, **values})
    assert problem.optimal_value == pytest.approx(expected, abs=2e-4)


def test_the_page_prints_what_the_command_prints(drop, capsys):
    drop(FILE)
    assert INSTANCE == "befrl instance thermostat --plugin thermostat.py"
    assert cli.main(["instance", "thermostat"]) == 0
    printed, shown = (text.split() for text in (capsys.readouterr().out, GUIDE.block("text")))
    assert printed[::2] == shown[::2]
    assert printed[1:4:2] == shown[1:4:2] == ["thermostat"] * 2
    # Six digits are shown; the last ones may depend on the machine.
    assert [float(x) for x in printed[5::2]] == pytest.approx([float(x) for x in shown[5::2]], rel=1e-4)


def test_agents_learn_to_heat_if_ties_are_broken_at_random(drop):
    drop(FILE)
    thermostat = instances.build("thermostat", {})

    def late(algorithm, ties="random", **values):
        parameters = agents.parameters(algorithm, values)
        log = loop.run(RunSpec(thermostat, "thermostat", algorithm, parameters, 40, [0, 1], "U", 7, ties))
        assert np.all(log["regret"] > 0)
        return log["regret"][:, -20:].mean()

    assert late("bef-rlsvi", x=1) < 0.3
    assert late("greedy") < 0.3
    assert late("greedy", ties="first") > 1.5


def test_a_reader_saves_the_files_and_runs_the_commands(tmp_path):
    assert list(GUIDE.files) == ["thermostat.py", "study.yaml", "environment.py"]
    GUIDE.save(tmp_path)
    assert "all hold" in GUIDE.run(CHECK, tmp_path)
    assert "bef-rlsvi" in GUIDE.run(RUN.replace("--episodes 500", "--episodes 5"), tmp_path)
    GUIDE.run(f"{STUDY} --dry-run", tmp_path)
    state = float(GUIDE.run(ENVIRONMENT, tmp_path).strip("[]\n"))
    assert 0 <= state <= 0.1


@pytest.mark.slow
def test_a_reader_runs_all_at_full_length(tmp_path):
    GUIDE.save(tmp_path)
    GUIDE.run(RUN, tmp_path)
    GUIDE.run(STUDY, tmp_path)
    assert (tmp_path / "figures" / "regret_thermostat-10_U.svg").exists()


def test_it_is_an_environment(drop):
    drop(FILE)
    env = BefEnv("thermostat", horizon=40)
    # Not registered: befrl.gym was imported before the file was there.
    check_env(env, skip_render_check=True)
    assert env.instance.horizon == 40


@pytest.mark.parametrize(("this", "other", "kind", "words"), mistakes())
def test_a_mistake_is_rejected_as_the_page_says(drop, this, other, kind, words):
    assert FILE.count(this) == 1
    drop(FILE.replace(this, other))
    with pytest.raises(InputError) as caught:
        instances.build("thermostat", {})
    assert type(caught.value).__name__ == kind
    assert words in str(caught.value)


def test_the_page_shows_every_exception():
    assert {kind for _, _, kind, _ in mistakes()} == {"WrongShape", "SingularDesign", "OutsideDomain", "InputError"}
