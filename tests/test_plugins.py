"""Plug-ins: found by name in every kind, the same bits as own files, known to workers, rejected with a message."""

import importlib
import pickle
import sys
import types

import numpy as np
import pytest

from befrl import agents, instances, plugins
from befrl.common.errors import InputError
from befrl.experiment import runs
from befrl.experiment.spec import RunSpec
from befrl.learning import estimators
from befrl.planning import planners
from helpers import LOG, light, play

# Each does what one of befrl's own files does, so that its numbers are known.
FILES = {
    "my_agent.py": '"""Plays as greedy does."""\nfrom ._shared import Greedy, Parameters\nclass Agent(Greedy): pass\n',
    "_shared.py": "from befrl.agents.greedy import Agent as Greedy, Parameters\n",
    "my_mdp.py": '"""A chain."""\nfrom befrl.instances.chain import Parameters, build as chain\nbuild = chain\n',
    "my_law.py": "from befrl.model.rewards import bernoulli\nclass Law(bernoulli.Law): pass\n",
    "my_estimator.py": "from befrl.learning.estimators import mle\nclass Estimator(mle.Estimator): pass\n",
    "my_planner.py": "from befrl.planning.planners import exact\nclass Planner(exact.Planner): pass\n",
}
KINDS = {"my-agent": "agent", "my-mdp": "instance", "my-law": "reward law"}
KINDS |= {"my-estimator": "estimator", "my-planner": "planner"}

pytestmark = pytest.mark.usefixtures("unplugged")


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "mine", FILES)


def written(folder, files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def assert_same_bits(log, other):
    for key in LOG:
        assert log[key].tobytes() == other[key].tobytes(), key


def test_every_kind_is_recognised_and_listed(folder):
    before = {kind: registry.names() for kind, registry in plugins.REGISTRIES.items()}
    assert dict((name, kind) for kind, name in plugins.load(folder)) == KINDS
    for name, kind in KINDS.items():
        assert plugins.REGISTRIES[kind].names() == sorted([*before[kind], name])
        assert plugins.REGISTRIES[kind].own() == before[kind]
    assert agents.registry.summary("my-agent") == "Plays as greedy does."
    assert estimators.registry.summary("my-estimator") == ""


def test_plug_ins_work_together_like_own_files(folder):
    plugins.load(folder)
    own = instances.build("chain", {"bins": 3, "horizon": 6})
    mine = instances.build("my-mdp", {"bins": 3, "horizon": 6, "reward": "my-law"})
    parts = {"estimator": "my-estimator", "planner": "my-planner"}
    assert type(mine.model.reward).__module__ == "befrl_plugins.mine.my_law"
    assert_same_bits(play("my-agent", mine, episodes=12, **parts), play("greedy", own, episodes=12))


def test_files_are_imported_when_they_are_used(folder):
    written(folder, {"my_agent.py": FILES["my_agent.py"] + "\nraise RuntimeError('imported')\n"})
    plugins.load(folder)
    assert estimators.registry.module("my-estimator")
    with pytest.raises(InputError, match=r"my_agent\.py, line 5: RuntimeError: imported"):
        agents.registry.module("my-agent")


def test_a_file_is_loaded_alone_and_its_folder_adds_the_rest(folder):
    assert plugins.load(folder / "my_agent.py") == [("agent", "my-agent")]
    assert "my-mdp" not in instances.registry.names()
    assert len(plugins.load("mine", folder.parent)) == len(plugins.load(folder)) == 5
    assert agents.registry.module("my-agent").Agent is agents.registry.module("my-agent").Agent
    assert plugins.state() == ([str(folder / "my_agent.py"), str(folder)], [])


def test_folders_of_the_same_name_do_not_mix(tmp_path):
    for i in (1, 2):
        place = tmp_path / str(i)
        place.mkdir()
        text = "from ._shared import MARK\nfrom befrl.agents.greedy import Agent as Greedy, Parameters\n"
        files = {"_shared.py": f"MARK = {i}\n", f"agent_{i}.py": text + "class Agent(Greedy):\n    mark = MARK\n"}
        plugins.load(written(place / "mine", files))
    assert [agents.registry.module(f"agent-{i}").Agent.mark for i in (1, 2)] == [1, 2]


def in_memory():
    """An agent that other processes cannot import: cloudpickle sends its code."""
    module = types.ModuleType("made_here", "Plays as greedy does.")
    text = "from befrl.agents.greedy import Agent as Greedy, Parameters as Base\nfrom dataclasses import dataclass\n"
    text += "@dataclass(frozen=True)\nclass Parameters(Base):\n    pass\nclass Agent(Greedy):\n    pass\n"
    exec(text, module.__dict__)
    return module


def test_an_agent_in_memory_can_be_added_and_replaced():
    agents.registry.add("lazy", in_memory())
    assert agents.registry.summary("lazy") == "Plays as greedy does."
    assert_same_bits(play("lazy", light("chain")), play("greedy", light("chain")))
    with pytest.raises(InputError, match="agent 'lazy' has no file"):
        agents.registry.module_name("lazy")
    agents.registry.add("lazy", in_memory(), replace=True)
    for name, replace in (("lazy", False), ("greedy", True)):
        with pytest.raises(InputError, match=f"agent '{name}' exists already"):
            agents.registry.add(name, in_memory(), replace=replace)


def test_workers_know_files_and_objects_in_memory(folder):
    plugins.load(folder)
    agents.registry.add("lazy", in_memory())
    own, mine = (instances.build(name, {"bins": 3, "horizon": 4}) for name in ("chain", "my-mdp"))

    def run(problem, algorithm, threads, **values):
        spec = RunSpec.of(problem, "x", algorithm, [values, values | {"eta": 2.0}], 6, range(4), root_seed=3)
        return runs.run_rows(spec, width=4, threads=threads)[0]

    expected = run(own, "greedy", 1)
    assert_same_bits(run(mine, "my-agent", 2, estimator="my-estimator", planner="my-planner"), expected)
    assert_same_bits(run(mine, "lazy", 2), expected)
    assert pickle.loads(pickle.dumps(planners.registry)) is planners.registry


def agent(body):
    return {"mine.py": f"from befrl.agents.greedy import Agent as Greedy, Parameters\n{body}"}


# Files, and part of the message when they are loaded.
REJECTED = [
    ({}, "contains no Python file"),
    ({"mine.py": "class agent:\n    pass\n"}, r"mine\.py is no plug-in: it must define one of Agent"),
    (agent("class Agent(Greedy): pass\ndef build(p): pass\n"), r"mine\.py has several .*agent, instance"),
    (agent("class Agent(Greedy)\n"), r"mine\.py, line 2: expected ':'"),
    ({"mine.py": "x = '\0'\n"}, r"mine\.py.*null bytes"),
    ({"my agent.py": "class Agent: pass\n"}, "made of letters, digits and underscores"),
    ({"greedy.py": "class Agent: pass\n"}, r"greedy\.py: agent 'greedy' exists already"),
    ({"riverswim_cho_4.py": "def build(p): pass\n"}, "instance 'riverswim-cho-4' exists already"),
]
OTHER = {"_other.py": "x = = 1\n"}
# Files, and part of the message when they are used.
BROKEN = [
    (agent("import nothing_of_the_kind\nclass Agent(Greedy): pass\n"), r"mine\.py, line 2: ModuleNotFound"),
    (agent("class Agent: pass\n"), r"mine\.py: Agent must be a subclass of befrl\.agents\.base\.BaseAg"),
    ({"mine.py": "from befrl.agents.greedy import Agent as A\nclass Agent(A): pass\n"}, "must define Parameters"),
    (agent("from ._other import x\nclass Agent(Greedy): pass\n") | OTHER, r"_other\.py, line 1: SyntaxError"),
    (agent("class Agent(Greedy): pass\nclass Parameters: pass\n"), "Parameters of .* must be a dataclass"),
]


@pytest.mark.parametrize(("files", "words"), REJECTED)
def test_a_wrong_file_is_rejected_when_it_is_loaded_and_nothing_is_added(tmp_path, files, words):
    with pytest.raises(InputError, match=words):
        plugins.load(written(tmp_path / "mine", files))
    assert plugins.state() == ([], [])
    assert not any(registry.added for registry in plugins.REGISTRIES.values())


@pytest.mark.parametrize(("files", "words"), BROKEN)
def test_a_broken_file_is_rejected_when_it_is_used(tmp_path, files, words):
    plugins.load(written(tmp_path / "mine", files))
    with pytest.raises(InputError, match=words):
        agents.parameters("mine", {})


def test_wrong_paths_and_duplicate_names_are_rejected(folder, tmp_path):
    (tmp_path / "notes.txt").write_text("")
    plugins.load(folder)
    for source, words in (
        ("nowhere", r"nowhere: there is no .*nowhere, and no installed package offers it"),
        (tmp_path / "notes.txt", r"notes\.txt is not allowed: it must be a folder, or a Python file"),
        (written(tmp_path / "other", FILES), r"other.my_agent\.py: agent 'my-agent' exists already"),
    ):
        with pytest.raises(InputError, match=words):
            plugins.load(source)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A distribution that offers a package, a module, and a module that it does not have."""
    site = tmp_path / "site"
    written(site, {})
    written(site / "offering", {"__init__.py": "", "alone.py": agent("class Agent(Greedy): pass\n")["mine.py"]})
    written(site / "offering" / "parts", FILES | {"__init__.py": ""})
    entries = "[befrl.plugins]\nparts = offering.parts\nalone = offering.alone\nlost = offering.lost\n"
    written(site / "offering-1.dist-info", {"METADATA": "Name: offering\n", "entry_points.txt": entries})
    monkeypatch.syspath_prepend(site)
    importlib.invalidate_caches()
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "offering"]:
        del sys.modules[name]


@pytest.mark.usefixtures("installed")
def test_installed_plugins_are_loaded_by_name_and_only_then():
    assert "my-agent" not in agents.registry.names()
    assert plugins.load("alone") == [("agent", "alone")]
    assert dict((name, kind) for kind, name in plugins.load("parts")) == KINDS
    assert agents.registry.module_name("my-agent") == "offering.parts.my_agent"
    assert np.isfinite(play("my-agent", light("chain"))["regret"]).all()
    with pytest.raises(InputError, match=r"lost: the installed module 'offering\.lost' is not there"):
        plugins.load("lost")
    with pytest.raises(InputError, match=r"no installed package offers it \(offered: alone, lost, parts\)"):
        plugins.load("nobody")
