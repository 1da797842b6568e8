"""The environment is defined once: requirements.in -> requirements.lock, and everything else follows the lock."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version

import yaml

from befrl import cli
from helpers import PROJECT

PROJECT_TABLE = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
LOCKS = (
    "requirements",
    "tools/bench_peers/requirements",
    "tools/site/requirements",
    "workflow/profiles/slurm/requirements",
)


def wanted(name="requirements"):
    """The packages that a file NAME.in lists."""
    lines = (line.split("#")[0].strip() for line in (PROJECT / f"{name}.in").read_text().splitlines())
    return [line for line in lines if line]


def locked(name="requirements"):
    """{package: version} of a file NAME.lock, in which every package has a hash."""
    text = (PROJECT / f"{name}.lock").read_text()
    entries = re.findall(r"^([a-z0-9-]+)==([^\s;]+).*\\\n +--hash=sha256:[0-9a-f]{64}\b", text, flags=re.MULTILINE)
    assert len(dict(entries)) == len(entries) == len(re.findall(r"^[^\s#]", text, flags=re.MULTILINE))
    return dict(entries)


def test_every_requirement_is_locked_with_a_hash():
    for name in LOCKS:
        assert {re.match(r"[a-z0-9-]+", line).group() for line in wanted(name)} <= set(locked(name))


def test_requirements_have_names_only_and_the_project_depends_on_them():
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in wanted()) and len(set(wanted())) == len(wanted())
    light, study = PROJECT_TABLE["dependencies"], PROJECT_TABLE["optional-dependencies"]["study"]
    lowest = dict(line.split(">=") for line in (*light, *study))
    assert set(lowest) <= set(wanted()) and {line.split(">=")[0] for line in study} == set(cli.STUDY)
    for name, number in lowest.items():
        oldest, used = ([int(part) for part in re.findall(r"\d+", text)] for text in (number, locked()[name]))
        assert oldest <= used


LIGHT = """
import sys
sys.modules |= dict.fromkeys({missing}, None)  # as if they were not installed
import befrl, befrl.gym
from befrl import cli
assert befrl.read
case = ["--set", "bins=3", "horizon=3", "--agents", "bef-seed", "--episodes", "3", "--seeds", "2", "--json"]
assert cli.main(["compare", "chain", *case, "--plot", "regret.png"]) == 0
sys.exit(cli.main(["study", "my.yaml"]))
"""


def test_without_the_packages_of_a_study_only_studies_do_not_work(tmp_path):
    code = LIGHT.format(missing=cli.STUDY)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    sentence = "befrl: snakemake is not installed, which studies need: pip install 'befrl[study]'\n"
    assert (done.returncode, done.stderr) == (2, sentence)
    assert (tmp_path / "regret.png").stat().st_size > 10_000


def test_installed_versions_are_locked_versions():
    pins = locked()
    assert {name: version(name) for name in wanted()} == {name: pins[name] for name in wanted()}


def test_no_file_of_the_environment_names_an_index():
    files = [f"{name}.{ending}" for name in LOCKS for ending in ("in", "lock")]
    files += ["environment.yml", "pyproject.toml", "Makefile", "tools/setup.sh", ".ci/run"]
    for name in files:
        text = (PROJECT / name).read_text()
        assert re.findall(r"https?://\S*|(?<!-no-emit-)(?:index-url|find-links)", text) == [], name


def test_conda_installs_the_lock_and_all_files_ask_for_the_same_python():
    *packages, pip = yaml.safe_load((PROJECT / "environment.yml").read_text())["dependencies"]
    lowest = re.fullmatch(r">=(3\.\d+)", PROJECT_TABLE["requires-python"]).group(1)
    assert re.fullmatch(rf"python >={re.escape(lowest)},<3\.\d+", packages[0]) and packages[1:] == ["pip"]
    assert pip == {"pip": ["--require-hashes", "-r requirements.lock"]}
    assert f"--python-version {lowest} " in (PROJECT / "Makefile").read_text()
    assert f"version_info < ({lowest.replace('.', ', ')})" in (PROJECT / "tools" / "setup.sh").read_text()


def test_citation_names_the_paper_and_this_version():
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text())
    (paper,) = citation["references"]
    assert paper["title"].startswith("Bilinear Exponential Family of MDPs")
    assert [author["family-names"] for author in paper["authors"]] == ["Ouhamma", "Basu", "Maillard"]
    assert paper["doi"] == "10.1609/aaai.v37i8.26119"
    assert paper["identifiers"][0]["value"].endswith("2210.02087")
    assert citation["version"] == PROJECT_TABLE["version"]
    assert citation["license"] == PROJECT_TABLE["license"] == "MIT"
    assert citation["abstract"] == PROJECT_TABLE["description"]


def test_codemeta_has_the_words_of_the_citation():
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text())
    codemeta = json.loads((PROJECT / "codemeta.json").read_text())
    same = {"name": "title", "version": "version", "description": "abstract"}
    assert {key: codemeta[key] for key in same} == {key: citation[name] for key, name in same.items()}
    assert codemeta["license"] == f"https://spdx.org/licenses/{citation['license']}"
    assert [author["name"] for author in codemeta["author"]] == [author["name"] for author in citation["authors"]]
    assert codemeta["keywords"] == PROJECT_TABLE["keywords"]
    (paper,) = citation["references"]
    assert codemeta["referencePublication"]["@id"] == f"https://doi.org/{paper['doi']}"
    assert codemeta["referencePublication"]["name"] == paper["title"]


def make(target, folder):
    """What a target does in a folder, as if it was called by hand."""
    clean = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(["make", target], cwd=folder, env=clean, capture_output=True, text=True)


def test_nothing_is_removed_while_a_run_is_active(tmp_path):
    shutil.copy(PROJECT / "Makefile", tmp_path)
    for name in ("src", "tests", "workflow", "build", ".snakemake"):
        (tmp_path / name).mkdir()
    with open(tmp_path / ".snakemake/befrl.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = make("clean", tmp_path)
        assert done.returncode == 2 and done.stderr.startswith("a run is active in this folder: wait for its end")
        assert (tmp_path / "build").exists()
    done = make("clean", tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and not (tmp_path / "build").exists()


def test_help_lists_every_target():
    targets = " ".join(re.findall(r"^\.PHONY: (.*)$", (PROJECT / "Makefile").read_text(), flags=re.MULTILINE)).split()
    shown = make("help", PROJECT)
    assert re.findall(r"^ +make ([\w-]+) +\S", shown.stdout, flags=re.MULTILINE) == targets
