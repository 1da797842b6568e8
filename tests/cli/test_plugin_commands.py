"""Plug-ins on the command line: before or after the verb, from the environment, checked, or refused."""

import json
import os

import pytest

from befrl.common import plugin_variable

pytestmark = pytest.mark.usefixtures("unplugged")

AGENT = (
    '"""Plays as greedy does."""\nfrom befrl.agents.greedy import Agent as Greedy, Parameters\nclass Agent(Greedy):\n'
)
MDP = "from befrl.instances.chain import Parameters, build as chain\ndef build(p):\n    return chain(p)\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "my_agent.py").write_text(AGENT + "    pass\n")
    (tmp_path / "my_mdp.py").write_text(MDP)
    return tmp_path


TINY = "--instance-set bins=3 horizon=3 --episodes 3 --seeds 2 --json"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "line",
    [
        f"run --instance my-mdp --agent my-agent {TINY} --plugin mine --plugin my_mdp.py",
        f"--plugin mine --plugin my_mdp.py run --instance my-mdp --agent my-agent {TINY}",
        f"--plugin my_mdp.py run --plugin mine/my_agent.py --instance my-mdp --agent my-agent {TINY}",
    ],
)
def test_plugins_stand_before_or_after_the_verb(good, line):
    mine = json.loads(good(line))
    ours = json.loads(good(f"run --instance my-mdp --agent greedy {TINY}"))
    assert mine["algorithm"] == "my-agent"
    assert mine["variants"][0]["final_regret"] == ours["variants"][0]["final_regret"]


@pytest.mark.usefixtures("folder")
def test_plugins_of_the_environment_are_listed_and_described(good, monkeypatch):
    monkeypatch.setenv(plugin_variable.NAME, os.pathsep.join(["mine", "my_mdp.py"]))
    assert "my-agent: Plays as greedy does.\n    planner = exact" in good("list agents")
    assert json.loads(good("instance my-mdp --set bins=3 --json"))["family"] == "my-mdp"


@pytest.mark.usefixtures("folder")
def test_a_run_file_and_its_instance_file_name_the_plugin(good):
    good("instance my-mdp --set bins=3 horizon=3 --out m.npz --plugin my_mdp.py")
    run = json.loads(
        good("run --instance m.npz --agent my-agent --episodes 2 --seeds 2 --json --out r.npz --plugin mine")
    )
    assert (run["instance"], run["algorithm"]) == ("my-mdp", "my-agent")


def test_check_passes_a_sound_file(good, folder):
    out = good("check my_mdp.py --set bins=3 horizon=3")
    assert out == "my-mdp (instance): 6 checks\n  all hold\n"


def test_check_says_what_is_broken_and_ends_with_one(befrl, folder):
    (folder / "bad.py").write_text(AGENT + "    def plan(self, k):\n        return super().plan(k).policy\n")
    code, out, err = befrl("check bad.py")
    assert code == 1
    assert out.splitlines()[1] == (
        "  shapes and common starts: plan() returns a ndarray, it must return a Plan [chain, track U, and 7 more cases]"
    )
    assert err == "befrl: bad.py breaks 1 property of the contract\n"


BAD = {
    "check nowhere.py": "there is no",
    "check notes.txt": "notes.txt is not allowed: it must be a folder, or a Python file",
    "check none.py": "none.py is no plug-in: it must define one of Agent (agent), build (instance)",
    "check syntax.py": "syntax.py, line 3: expected an indented block",
    "check imports.py": "imports.py, line 1: ModuleNotFoundError: No module named 'nothing_there'",
    "check mine --set width=3": "agent 'my-agent': unknown parameter 'width'",
    "list agents --plugin nowhere": "plugin nowhere: there is no",
    "list agents --plugin empty": "empty: the folder contains no Python file",
    "--plugin clash list agents": "greedy.py: agent 'greedy' exists already: choose another name",
    "list agents --plugin mine --plugin twice": "my_agent.py: agent 'my-agent' exists already",
    f"run --agent my-agent --instance chain {TINY}": "unknown agent 'my-agent'",
    f"run --agent imports --instance chain {TINY} --plugin imports.py": "imports.py, line 1: ModuleNotFoundError",
    "list agents --plugin": "expected one argument",
}


@pytest.mark.parametrize("line", BAD)
def test_a_wrong_plugin_is_one_sentence(befrl, folder, line):
    for name in ("empty", "clash", "twice"):
        (folder / name).mkdir()
    (folder / "clash" / "greedy.py").write_text(AGENT + "    pass\n")
    (folder / "twice" / "my_agent.py").write_text(AGENT + "    pass\n")
    (folder / "notes.txt").write_text("")
    (folder / "none.py").write_text("x = 1\n")
    (folder / "syntax.py").write_text(AGENT)
    (folder / "imports.py").write_text("import nothing_there\n" + AGENT + "    pass\n")
    code, out, err = befrl(line)
    assert (code, out) == (2, "")
    assert err.startswith("befrl") and err.count("\n") == 1
    assert BAD[line] in err
