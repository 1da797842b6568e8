"""One truth about the environment: requirements.in -> requirements.lock, and the rest follows the lock."""

import os
import re
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]


def normal(name):
    """A package's name as PEP 503 spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def wanted():
    """Names in requirements.in."""
    lines = (line.split("#")[0].strip() for line in (ROOT / "requirements.in").read_text().splitlines())
    return [normal(line) for line in lines if line]


def locked():
    """{name: (version, number of sha256 hashes)} of requirements.lock."""
    pins = {}
    for entry in re.split(r"^(?=[^\s#])", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE)[1:]:
        name, pin = re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", entry).groups()
        assert normal(name) not in pins, f"{name} is pinned twice"
        pins[normal(name)] = pin, len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", entry))
    return pins


def conda():
    """environment.yml as (lines for conda, lines for pip)."""
    lines = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (pip,) = [line["pip"] for line in lines if isinstance(line, dict)]
    return [line for line in lines if isinstance(line, str)], pip


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_conda_installs_the_lock_and_chooses_only_python_and_pip():
    lines, pip = conda()
    assert pip == ["--require-hashes", "-r requirements.lock"]
    assert {re.match(r"[a-z0-9._-]+", line).group() for line in lines} == {"python", "pip"}


def test_requirements_name_no_versions():
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in wanted())
    assert len(set(wanted())) == len(wanted())


def test_every_requirement_is_locked():
    assert set(wanted()) <= set(locked())


def test_every_pin_has_a_hash():
    assert [name for name, (_, hashes) in locked().items() if hashes == 0] == []


@pytest.mark.parametrize(
    "pattern",
    ["requirements*", "*.lock", "environment.yml", "pyproject.toml", "Makefile", "tools/setup.sh", ".ci/*"],
)
def test_no_file_of_the_environment_names_an_index(pattern):
    files = sorted(ROOT.glob(pattern))
    assert files
    for file in files:
        found = re.findall(r"https?://\S*|(?<!-no-emit-)(?:index-url|find-links)", file.read_text())
        assert found == [], file.name


@pytest.mark.parametrize("name", wanted())
def test_what_runs_is_what_is_locked(name):
    assert version(name) == locked()[name][0]


def test_python_versions_agree():
    lowest = re.fullmatch(r">=(3\.\d+)", project()["requires-python"]).group(1)
    (python,) = [line for line in conda()[0] if line.startswith("python")]
    assert re.fullmatch(r"python >=(3\.\d+),<3\.\d+", python).group(1) == lowest
    assert f"--python-version {lowest} " in (ROOT / "Makefile").read_text()
    assert f"version_info < ({lowest.replace('.', ', ')})" in (ROOT / "tools" / "setup.sh").read_text()


def test_project_depends_on_requirements_only():
    assert set(project()["dependencies"]) <= set(wanted())


def test_citation_names_the_paper_and_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    (paper,) = citation["references"]
    assert paper["title"].startswith("Bilinear Exponential Family of MDPs")
    assert [author["family-names"] for author in paper["authors"]] == ["Ouhamma", "Basu", "Maillard"]
    assert paper["doi"] == "10.1609/aaai.v37i8.26119"
    assert paper["identifiers"][0]["value"].endswith("2210.02087")
    assert citation["version"] == project()["version"]
    assert citation["license"] == project()["license"] == "MIT"


def test_help_lists_every_target():
    targets = " ".join(re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)).split()
    clean = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    shown = subprocess.run(["make", "help"], cwd=ROOT, env=clean, capture_output=True, text=True, check=True)
    assert re.findall(r"^ +make ([\w-]+) +\S", shown.stdout, flags=re.MULTILINE) == targets
