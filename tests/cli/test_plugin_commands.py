"""Plug-ins on the command line: before or after the verb, from the environment, checked, or rejected."""

import json
import os
import re

import pytest

from befrl.common import plugin_variable
from torture.broken_agents import HEAD, IN_A_RUN

pytestmark = pytest.mark.usefixtures("unplugged", "folder")

AGENT = '"""Plays as greedy."""\nfrom befrl.agents.greedy import Agent as Greedy, Parameters\nclass Agent(Greedy):\n'
FILES = {
    "mine/my_agent.py": f"{AGENT}    pass\n",
    "my_mdp.py": "from befrl.instances.chain import Parameters, build as chain\ndef build(p):\n    return chain(p)\n",
    "bad.py": f"{AGENT}    def plan(self, k):\n        return super().plan(k).policy\n",
    "clash/greedy.py": f"{AGENT}    pass\n",
    "twice/my_agent.py": f"{AGENT}    pass\n",
    "empty/notes.txt": "",
    "none.py": "x = 1\n",
    "syntax.py": AGENT,
    "imports.py": f"import nothing_there\n{AGENT}    pass\n",
}
TINY = "--instance-set bins=3 horizon=3 --episodes 3 --seeds 2 --json"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)


RUN = f"run --instance my-mdp --agent my-agent {TINY}"
BOTH = "--plugin mine --plugin my_mdp.py"


@pytest.mark.parametrize(
    "line", [f"{RUN} {BOTH}", f"{BOTH} {RUN}", f"--plugin my_mdp.py {RUN} --plugin mine/my_agent.py"]
)
def test_plugins_stand_before_or_after_the_verb(good, line):
    mine = json.loads(good(line))
    ours = json.loads(good(f"run --instance my-mdp --agent greedy {TINY}"))
    assert mine["algorithm"] == "my-agent"
    assert mine["variants"][0]["final_regret"] == ours["variants"][0]["final_regret"]


def test_plugins_of_the_environment_are_listed_and_described(good, monkeypatch):
    monkeypatch.setenv(plugin_variable.NAME, os.pathsep.join(["mine", "my_mdp.py"]))
    assert "my-agent: Plays as greedy.\n    planner = exact" in good("list agents")
    assert json.loads(good("instance my-mdp --set bins=3 --json"))["family"] == "my-mdp"


def test_run_of_an_instance_file_names_the_plugins(good):
    good("instance my-mdp --set bins=3 horizon=3 --out m.npz --plugin my_mdp.py")
    run = json.loads(good("run --instance m.npz --agent my-agent --episodes 2 --seeds 2 --json --plugin mine"))
    assert (run["instance"], run["algorithm"]) == ("my-mdp", "my-agent")


def test_check_passes_a_sound_file_and_says_what_is_broken_in_another(befrl):
    assert befrl("check my_mdp.py --set bins=3 horizon=3") == (0, "my-mdp (instance): 3 checks\n  all hold\n", "")
    code, out, err = befrl("check bad.py")
    assert (code, err) == (1, "befrl: bad.py breaks 1 property of the contract\n")
    assert out.splitlines()[1] == (
        "  shapes and common starts: plan() returns a ndarray, it must return a Plan [chain, track U, and 7 more cases]"
    )


BAD = {
    "check nowhere.py": "there is no",
    "check empty/notes.txt": "notes.txt is not allowed: it must be a folder, or a Python file",
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
def test_wrong_plugin_is_one_sentence(befrl, line):
    code, out, err = befrl(line)
    assert (code, out) == (2, "")
    assert err.startswith("befrl") and err.count("\n") == 1
    assert BAD[line] in err


@pytest.mark.parametrize(("body", "words"), IN_A_RUN.values(), ids=IN_A_RUN)
def test_a_run_of_a_broken_agent_ends_with_one_sentence(befrl, tmp_path, body, words):
    (tmp_path / "mine.py").write_text(HEAD + body)
    case = "--instance chain --instance-set bins=3 horizon=4 --track K --episodes 5 --seeds 2 --quiet"
    code, out, err = befrl(f"run --plugin mine.py --agent mine {case}")
    assert (code, out) == (1, "") and err.count("\n") == 1
    assert re.search(words, err)
