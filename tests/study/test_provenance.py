"""The hash of code: what counts as a change and what does not, in a small package and in befrl."""

import importlib
import platform
import subprocess
import sys
from importlib import metadata

import numpy as np
import pytest

import befrl
from befrl import agents, claims, figures, instances
from befrl.study import provenance
from helpers import PROJECT

MAIN = '''"""A module."""

from befrl.toys.near import double

class Thing:
    """A class."""

    def method(self, x=1):
        """A method."""
        return double(x) + 1

def lazy():
    from befrl.toys import late
    return late.VALUE
'''
# main -> near -> far, main -> late inside a function, and a module that main does not import.
TOYS = {
    "__init__.py": "",
    "main.py": MAIN,
    "near.py": "import befrl.toys.far\ndef double(x):\n    return 2 * x * befrl.toys.far.ONE\n",
    "far.py": "ONE = 1\n",
    "late.py": "VALUE = 3\n",
    "stranger.py": "from befrl.toys import main\nVALUE = 4\n",
    "cousin.py": "from .far import ONE\n",
    "page.css": "body {}",
}


def forget(*functions):
    """Make the next hash that of a new process."""
    for function in functions or vars(provenance).values():
        getattr(function, "cache_clear", lambda: None)()
    importlib.invalidate_caches()


@pytest.fixture
def changes(tmp_path, monkeypatch):
    """Whether the hash of a module of the package befrl.toys changes with an edit of one of its files."""
    monkeypatch.setattr(befrl, "__path__", [*befrl.__path__, str(tmp_path)])
    folder = tmp_path / "toys"
    (folder / "__pycache__").mkdir(parents=True)
    for name, text in TOYS.items():
        (folder / name).write_text(text)

    def code_hash(module):
        forget()
        return provenance.code_hash(f"befrl.toys.{module}")

    def edit(name, old, new, module="main"):
        before = code_hash(module)
        assert code_hash(module) == before and old in TOYS.get(name, "")
        (folder / name).write_text(TOYS[name].replace(old, new) if TOYS.get(name) else new)
        return code_hash(module) != before

    yield edit
    for name in [name for name in sys.modules if name.startswith("befrl.toys")]:
        del sys.modules[name]
    vars(befrl).pop("toys", None)
    forget()


SAME = {
    "comment": ("main.py", "class Thing:", "# a remark\nclass Thing:  # and another"),
    "layout": ("main.py", "+ 1", "+ (  # nothing\n            1\n        )"),
    "blank lines": ("main.py", "def lazy():", "\n\n\ndef lazy():"),
    "module docstring": ("main.py", '"""A module."""', '"""Another module."""'),
    "no docstring": ("main.py", '"""A module."""', ""),
    "class docstring": ("main.py", '    """A class."""', '    """Another class.\n\n    With notes.\n    """'),
    "method docstring": ("main.py", '"""A method."""', '"""Another method."""'),
    "new docstring": ("main.py", "def lazy():\n", 'def lazy():\n    """A new docstring."""\n\n'),
    "module that is not imported": ("stranger.py", "4", "5"),
    "new module": ("newcomer.py", "", "VALUE = 1\n"),
    "cache of the interpreter": ("__pycache__/main.cpython-311.pyc", "", "bytes"),
}
OTHER = {
    "operator": ("main.py", "+ 1", "- 1"),
    "type": ("main.py", "+ 1", "+ 1.0"),
    "default": ("main.py", "x=1", "x=2"),
    "name": ("main.py", "Thing", "Thong"),
    "text": ("main.py", "return late.VALUE", 'print("text")\n    return late.VALUE'),
    "less": ("main.py", "return late.VALUE", "pass"),
    "direct import": ("near.py", "2 * x", "7 + 2 * x"),
    "indirect import": ("far.py", "1", "2"),
    "lazy import": ("late.py", "3", "4"),
    "relative import": ("far.py", "1", "2", "cousin"),
    "package, which is imported first": ("__init__.py", "", "import os\n", "far"),
    "data file of the package": ("page.css", "body", "main"),
    "new data file of the package": ("style.css", "", "body {}"),
}


@pytest.mark.parametrize("case", [*SAME, *OTHER])
def test_hash_changes_with_code_imports_and_data_but_not_with_layout_or_documentation(changes, case):
    assert changes(*(SAME | OTHER)[case]) == (case in OTHER)


def test_version_of_a_package_counts_where_it_is_imported_or_needed(tmp_path, monkeypatch):
    """Figures are saved by pillow, which matplotlib needs and nothing here imports; runs need neither."""
    text, lock = provenance.LOCK.read_text(), tmp_path / "requirements.lock"
    monkeypatch.setattr(provenance, "LOCK", lock)
    locked = {line.partition("==")[0]: line.rstrip(" \\") for line in text.splitlines() if "==" in line}

    def hashes(old, new):
        """The hashes of a run, a figure and the layout of the results after an edit of the lock."""
        assert old in text
        lock.write_text(text.replace(old, new, 1))
        forget(provenance.locked, provenance.requirements, provenance.code_hash)
        modules = ("befrl.experiment.runs", "befrl.figures.support.render", "befrl.common.layout")
        return [provenance.code_hash(name) for name in modules]

    run, figure, layout = hashes("", "")
    for name in ("numpy", "pillow", "ruff"):
        changed = hashes(locked[name], f"{name}==0.0.1")
        assert [changed[0] != run, changed[1] != figure] == [name == "numpy", name != "ruff"] and changed[2] == layout
    for old, new in (("--hash=sha256:", "--hash=sha256:0"), ("# This file", "# That file")):
        assert hashes(old, new) == [run, figure, layout]
    lock.unlink()
    forget()
    assert provenance.locked() == {} and provenance.code_hash("befrl.common.layout") == layout
    assert provenance.requirements("yaml") == {f"pyyaml=={metadata.version('pyyaml')}"}
    monkeypatch.undo()
    forget()


def test_every_imported_package_is_locked():
    modules = [
        ".".join(path.relative_to(PROJECT / "src").with_suffix("").parts).removesuffix(".__init__")
        for path in (PROJECT / "src" / "befrl").rglob("*.py")
    ]
    packages = set().union(*(provenance.external(module) for module in modules))
    assert {"numpy", "yaml", "matplotlib", "joblib", "pydantic"} <= packages
    assert [package for package in packages if not provenance.requirements(package)] == []


def run_closure(algorithm, **values):
    """What a job of the rule `run` depends on."""
    parts = agents.modules(algorithm, agents.parameters(algorithm, values))
    return provenance.closure("befrl.jobs.run", "befrl.instances.chain", *parts)


@pytest.mark.parametrize("algorithm", agents.registry.names())
def test_run_depends_on_its_own_agent_and_family_and_on_no_analysis(algorithm):
    modules = run_closure(algorithm)
    for registry, own in ((agents.registry, algorithm), (instances.registry, "chain")):
        known = {registry.module_name(name) for name in registry.names()}
        assert modules & known == {registry.module_name(own)}
    assert {"befrl.experiment.loop", "befrl.jobs.tune"} <= modules
    for other in ("figures", "report", "claims", "analysis", "cli", "study.config", "study.schema", "study.study"):
        assert not [name for name in modules if name.startswith(f"befrl.{other}")]


@pytest.mark.parametrize("part", agents.PARTS)
def test_run_depends_on_its_own_estimator_and_planner_alone(part):
    known = {agents.PARTS[part].module_name(name) for name in agents.PARTS[part].names()}
    for name in agents.PARTS[part].names():
        mine = agents.PARTS[part].module_name(name)
        # A part may build on another one, but on no agent's account.
        assert run_closure("bef-rlsvi", **{part: name}) & known == provenance.closure(mine) & known >= {mine}
    assert not run_closure("random") & known


def test_instances_depend_on_no_agent_claims_on_no_figure_and_figures_on_their_style():
    families = map(instances.registry.module_name, instances.registry.names())
    assert not [
        name for name in provenance.closure("befrl.jobs.instance", *families) if name.startswith("befrl.agents")
    ]
    for section in claims.by_section():
        modules = provenance.closure(*claims.modules(section))
        assert not modules & {"befrl.figures", "befrl.analysis.aggregation", "befrl.experiment.tuning"}
        assert {"befrl.claims.judge", "befrl.claims.pages"} <= modules
    for kind in figures.registry.names():
        modules = provenance.closure("befrl.jobs.figure", figures.registry.module_name(kind))
        assert {"befrl.figures.support.style", "befrl.figures.support.render"} <= modules
    assert "befrl.report" in provenance.closure("befrl.jobs.report")


def test_versions_are_those_that_run():
    versions = provenance.versions()
    assert (versions["python"], versions["numpy"]) == (platform.python_version(), np.__version__)
    assert set(versions) == {"python", *provenance.PACKAGES}


def test_a_commit_is_named_in_the_repository_of_befrl_alone(tmp_path, monkeypatch):
    """And not that of a project in which befrl is installed; changes of the code are mentioned."""

    def git(*words):
        command = ["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    checkout = tmp_path / "checkout"
    (checkout / "src").mkdir(parents=True)
    (checkout / "src" / "code.py").touch()
    monkeypatch.setattr(provenance, "CHECKOUT", checkout)
    monkeypatch.setattr(provenance, "in_checkout", lambda: True)
    for name in ("GIT_DIR", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    none = "unknown, befrl is not in a git repository of its own"
    assert provenance.commit() == none
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message=first")
    assert provenance.commit() == none
    tmp_path = (tmp_path / ".git").rename(checkout / ".git").parent
    assert provenance.commit().endswith(" + changes")
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    assert provenance.commit() == git("log", "-1", "--format=%h of %cs")
    monkeypatch.setattr(provenance, "in_checkout", lambda: False)
    assert provenance.commit() == none
