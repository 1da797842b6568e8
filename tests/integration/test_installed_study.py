"""A study of the wheel, in a folder of its own and without a checkout."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

import befrl
from befrl.common import storage
from helpers import PROJECT

SMALLEST = {
    "seeds": 2,
    "include": ["agents.yaml"],
    "instances": {"tiny": {"family": "chain", "set": {"bins": 3, "horizon": 4}}},
    "agents": {"mine": {"algorithm": "greedy"}},
    "study": {"tiny": {"episodes": 3, "agents": ["mine"]}},
    "claims": {"ids": ["C31"]},
    "statistics": {"coverage": 1},
}
SOURCES = ("pyproject.toml", "LICENSE", "Snakefile", "workflow", "config", "results/reference", "src")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python with the wheel, and the packages of this one that it needs."""
    folder = tmp_path_factory.mktemp("installed")
    source, here = folder / "source", folder / "venv"
    source.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (PROJECT / name).is_dir() else shutil.copy
        copy(PROJECT / name, source / name)
    subprocess.run([sys.executable, "-c", BUILD, folder], cwd=source, check=True, capture_output=True)
    shutil.rmtree(source)
    venv.create(here, symlinks=True)
    python = here / "bin" / "python"
    installer = [sys.executable, "-m", "pip", "--python", python]
    if importlib.util.find_spec("pip") is None:
        installer = ["uv", "pip", "--python", python]
    (wheel,) = folder.glob("*.whl")
    subprocess.run([*installer, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    (packages,) = here.glob("lib/*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    return python


@pytest.mark.parametrize(
    "target", ["results/regret/tiny_U/summary.csv", pytest.param("results/report.html", marks=pytest.mark.slow)]
)
def test_the_wheel_runs_a_study_in_any_folder(python, tmp_path, target):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "my.yaml").write_text(json.dumps(SMALLEST))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [python.with_name("befrl"), "study", "own/my.yaml", target, "--cores", "1"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and (tmp_path / target).exists(), done.stderr
    made_by = storage.read_meta(tmp_path / "results/runs/tiny/U/mine/1000-1001.npz", "run")["code"]
    assert made_by and not Path(PROJECT / "own").exists()
    study = storage.read_json(tmp_path / "results/study.json")
    assert str(python.parents[1]) in str((tmp_path / study["snakefile"]).resolve())
    again = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert again.returncode == 0 and "Nothing to be done" in again.stdout + again.stderr


def test_the_wheel_has_the_tuned_settings_of_the_study(python, tmp_path):
    """Those of every case with tuned agents, and no other tables."""
    settings = "{agent: tuned.values for agent, tuned in befrl.tuned('jao', 'K').items()}"
    command = [python, "-P", "-c", f"import befrl, json; print(json.dumps({settings}))"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == {agent: tuned.values for agent, tuned in befrl.tuned("jao", "K").items()}
    (home,) = python.parents[1].rglob("share/befrl/results/reference")
    reference = PROJECT / "results" / "reference"
    cases = [path.parent for path in reference.glob("regret/*/tuning.csv") if len(path.read_text().splitlines()) > 1]
    wanted = {case.relative_to(reference) / name for case in cases for name in ("summary.csv", "tuning.csv")}
    installed = {path.relative_to(home) for path in home.rglob("*.csv")}
    assert installed == wanted | {Path("instances.csv")}


MODULE = """
configfile: "my.yaml"

module befrl:
    snakefile: "{home}/Snakefile"
    config: config
    prefix: "our study's"

use rule * from befrl as befrl_*
"""


def test_the_workflow_is_a_module_of_another_one(python, tmp_path):
    (home,) = python.parents[1].rglob("share/befrl")
    (tmp_path / "my.yaml").write_text(json.dumps(SMALLEST))
    (tmp_path / "Snakefile").write_text(MODULE.format(home=home))
    target = "our study's/results/regret/tiny_U/summary.csv"
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    command = [python, "-P", "-m", "snakemake", "--cores", "1", target]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PATH": path}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and (tmp_path / target).exists(), done.stderr
    assert not (tmp_path / "results").exists()
