"""A study in a user's own folder with plug-ins: it runs, and an edited plug-in costs exactly the jobs that use it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from befrl.common import storage
from helpers import PROJECT

STUDY = {
    "plugins": ["parts"],
    "seeds": 2,
    "jobs": {"lockstep": 1, "threads": 2},
    "instances": {"tiny": {"family": "chain", "set": {"bins": 3, "horizon": 4}}, "mine": {"family": "my-mdp"}},
    "agents": {"greedy": {"algorithm": "greedy"}, "mine": {"algorithm": "my-agent"}},
    "study": {"tiny": {"episodes": 5, "agents": ["greedy", "mine"]}, "mine": {"episodes": 5, "agents": ["greedy"]}},
}
PARTS = {
    "my_agent.py": "from befrl.agents.greedy import Agent as Greedy, Parameters\nfrom ._shared import MARK\n\n\n"
    "class Agent(Greedy):\n    mark = MARK\n",
    "_shared.py": "MARK = 1\n",
    "my_mdp.py": "from befrl.instances import chain\n\nParameters = chain.Parameters\n\n\n"
    "def build(parameters):\n    return chain.build(chain.Parameters(bins=3, horizon=4))\n",
    "my_law.py": "from befrl.model.rewards import bernoulli\n\n\nclass Law(bernoulli.Law):\n    pass\n",
}
CASES = ("tiny/U/greedy", "tiny/U/mine", "mine/U/greedy")
TARGETS = [f"results/runs/{case}/1000-1001.npz" for case in CASES]
MINE, ON_MINE = TARGETS[1:]


class Folder:
    """A user's folder outside the project, with a config in a subfolder and the plug-ins beside it."""

    def __init__(self, path):
        self.path, self.parts = path, path / "own" / "parts"
        self.parts.mkdir(parents=True)
        self.write_parts()
        for name in ("random.py", "befrl/__init__.py"):  # must not hide the modules that jobs import
            (self.path / name).parent.mkdir(exist_ok=True)
            (self.path / name).write_text("raise RuntimeError('imported from the current folder')\n")

    def write_parts(self, **added):
        for name, text in PARTS.items():
            (self.parts / name).write_text(text + added.get(name.removesuffix(".py"), ""))

    def snakemake(self, *words, study=STUDY):
        (self.path / "own" / "study.json").write_text(json.dumps(study))
        options = [*words, *TARGETS, "--cores", "2", "--configfile", "own/study.json"]
        command = [sys.executable, "-P", "-m", "snakemake", "--snakefile", PROJECT / "Snakefile", *options]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "PYTHONPATH": str(PROJECT / "src")}
        return subprocess.run(command, cwd=self.path, env=environment, capture_output=True, text=True, timeout=240)

    def planned_after(self, **added):
        """The files that would be made with some text at the end of plug-ins, {name: text}, which is taken back."""
        self.write_parts(**added)
        shown = self.snakemake("-n")
        self.write_parts()
        assert shown.returncode == 0, shown.stderr
        return set(re.findall(r"^ +output: (.*)$", shown.stdout + shown.stderr, flags=re.MULTILINE))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A finished study."""
    folder = Folder(tmp_path_factory.mktemp("user"))
    done = folder.snakemake()
    assert done.returncode == 0, done.stderr
    return folder


def test_the_study_runs_and_its_runs_name_the_plugins(folder):
    metas = {name: storage.read_meta(folder.path / name, "run") for name in TARGETS}
    assert (metas[MINE]["algorithm"], metas[ON_MINE]["family"]) == ("my-agent", "my-mdp")
    # The agent plays as ours does, and the MDP is ours, but their code is another.
    assert len({meta["code"] for meta in metas.values()}) == 3


def test_an_edit_costs_exactly_the_jobs_that_use_the_plugin(folder):
    """Comments, and plug-ins that no job uses, cost nothing; what a plug-in imports counts."""
    remark, edit = "\n\n# a remark\n", "\n\nEDITED = True\n"
    assert folder.planned_after(my_agent=remark, my_mdp=remark, my_law=edit) == set()
    assert folder.planned_after(_shared=edit) == {MINE}
    assert folder.planned_after(my_mdp=edit, my_agent=remark) == {"results/instances/mine.npz", ON_MINE}


def test_code_that_is_edited_during_a_run_and_restored_leaves_no_result(tmp_path):
    """The first job edits a module, and jobs that depend on it fail; with the old code they run."""
    folder = Folder(tmp_path)
    edit = "\n\nimport sys\nfrom pathlib import Path\n\nif 'job' in sys.argv:\n"
    folder.write_parts(my_mdp=f"{edit}    Path(__file__).with_name('_shared.py').write_text('MARK = 2\\n')\n")
    failed = folder.snakemake("--keep-going")
    made = {name for name in TARGETS if (tmp_path / name).exists()}
    assert failed.returncode == 1 and made == set(TARGETS) - {MINE}
    assert (
        "has changed since the workflow started"
        in (tmp_path / "results/logs/runs/tiny/U/mine/1000-1001.log").read_text()
    )
    folder.write_parts()
    done = folder.snakemake()
    assert done.returncode == 0 and (tmp_path / MINE).exists(), done.stderr


def test_a_wrong_plugin_ends_the_workflow_with_a_sentence(folder):
    shown = folder.snakemake("-n", study=STUDY | {"plugins": ["nowhere"]})
    assert shown.returncode == 2
    place = folder.path.resolve() / "own" / "nowhere"
    assert f"befrl: plugins: plugin nowhere: there is no {place}, and no installed package offers it" in shown.stderr
    assert "Traceback" not in shown.stderr
