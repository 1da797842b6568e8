"""The hash of code: what counts as a change and what does not, on a small package and on the real one."""

import importlib
import platform
import sys

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


def forget():
    """Make the next hash that of a new process."""
    for function in vars(provenance).values():
        getattr(function, "cache_clear", lambda: None)()


class Toys:
    """A package befrl.toys in a temporary folder: main -> near -> far, main -> late inside a function, and stranger."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.write("__init__.py", "")
        self.write("main.py", MAIN)
        self.write("near.py", "import befrl.toys.far\n\n\ndef double(x):\n    return 2 * x * befrl.toys.far.ONE\n")
        self.write("far.py", "ONE = 1\n")
        self.write("late.py", "VALUE = 3\n")
        self.write("stranger.py", "from befrl.toys import main\n\nVALUE = 4\n")

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def edit(self, name, old, new):
        text = (self.folder / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def hash(self, module="main"):
        """As a new process would compute it."""
        forget()
        importlib.invalidate_caches()
        return provenance.code_hash(f"befrl.toys.{module}")


@pytest.fixture
def toys(tmp_path, monkeypatch):
    monkeypatch.setattr(befrl, "__path__", [*befrl.__path__, str(tmp_path)])
    yield Toys(tmp_path / "toys")
    for name in [name for name in sys.modules if name.startswith("befrl.toys")]:
        del sys.modules[name]
    vars(befrl).pop("toys", None)
    forget()


def test_the_same_text_has_the_same_hash(toys):
    assert toys.hash() == toys.hash()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Thing:", "# a remark\nclass Thing:  # and another"),
        ("+ 1", "+ (  # nothing\n            1\n        )"),
        ("def lazy():", "\n\n\ndef lazy():"),
        ('"""A module."""', '"""Another module."""'),
        ('"""A module."""', ""),
        ('    """A class."""', '    """Another class.\n\n    With notes.\n    """'),
        ('"""A method."""', '"""Another method."""'),
        ("def lazy():\n", 'def lazy():\n    """A new docstring."""\n\n'),
    ],
    ids=["comment", "layout", "blank lines", "module docs", "no docs", "class docs", "method docs", "new docs"],
)
def test_comments_layout_and_docstrings_do_not_count(toys, old, new):
    before = toys.hash()
    toys.edit("main.py", old, new)
    assert toys.hash() == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("+ 1", "- 1"),
        ("+ 1", "+ 1.0"),
        ("x=1", "x=2"),
        ("Thing", "Thong"),
        ("return late.VALUE", 'print("text")\n    return late.VALUE'),
        ("return late.VALUE", "pass"),
    ],
    ids=["operator", "type", "default", "name", "text", "less"],
)
def test_code_counts(toys, old, new):
    before = toys.hash()
    toys.edit("main.py", old, new)
    assert toys.hash() != before


@pytest.mark.parametrize(
    ("name", "old"), [("near.py", "2 * x"), ("far.py", "1"), ("late.py", "3")], ids=["direct", "indirect", "lazy"]
)
def test_what_is_imported_counts(toys, name, old):
    before = toys.hash()
    toys.edit(name, old, f"7 + {old}")
    assert toys.hash() != before


def test_what_is_not_imported_does_not_count(toys):
    before = toys.hash()
    toys.edit("stranger.py", "4", "5")
    toys.write("newcomer.py", "VALUE = 1\n")
    assert toys.hash() == before


def test_what_is_imported_by_a_relative_name_counts(toys):
    toys.write("cousin.py", "from .far import ONE\n")
    before = toys.hash("cousin")
    toys.edit("far.py", "1", "2")
    assert toys.hash("cousin") != before


def test_the_package_that_a_module_lives_in_counts(toys):
    """Importing befrl.toys.far runs befrl/toys/__init__.py first."""
    before = toys.hash("far")
    toys.write("__init__.py", "import os\n\nos.environ['OMP_NUM_THREADS'] = '2'\n")
    assert toys.hash("far") != before


def test_files_beside_a_packages_code_count(toys):
    before = toys.hash()
    toys.write("page.css", "body {}")
    added = toys.hash()
    toys.edit("page.css", "body", "main")
    edited = toys.hash()
    (toys.folder / "page.css").rename(toys.folder / "style.css")
    assert len({before, added, edited, toys.hash()}) == 4


def test_caches_of_the_interpreter_do_not_count(toys):
    before = toys.hash()
    (toys.folder / "__pycache__").mkdir(exist_ok=True)
    toys.write("__pycache__/main.cpython-311.pyc", "bytes")
    assert toys.hash() == before


# Locked packages.


@pytest.fixture
def lock(tmp_path, monkeypatch):
    """A copy of the lock, edited by (old, new); returns the hashes of a run, a figure and the layout of the results."""
    copy = tmp_path / "requirements.lock"

    def hashes(old="", new=""):
        text = provenance.LOCK.read_text() if not copy.exists() else copy.read_text()
        assert old in text
        copy.write_text(text.replace(old, new, 1))
        monkeypatch.setattr(provenance, "LOCK", copy)
        forget()
        modules = ("befrl.experiment.runs", "befrl.figures.support.render", "befrl.common.layout")
        return [provenance.code_hash(name) for name in modules]

    yield hashes
    forget()


def version_of(package):
    return provenance.locked()[package][0]


def test_another_version_of_a_package_counts_where_it_is_imported(lock):
    before = lock()
    after = lock(version_of("numpy"), "numpy==0.0.1")
    assert [a != b for a, b in zip(before, after, strict=True)] == [True, True, False]


def test_a_package_counts_where_another_one_needs_it(lock):
    """Figures are saved by pillow, which matplotlib needs and nothing here imports; runs need neither."""
    before = lock()
    after = lock(version_of("pillow"), "pillow==0.0.1")
    assert [a != b for a, b in zip(before, after, strict=True)] == [False, True, False]


def test_tools_hashes_and_comments_of_the_lock_do_not_count(lock):
    before = lock()
    assert lock(version_of("ruff"), "ruff==0.0.1") == before
    assert lock("--hash=sha256:", "--hash=sha256:0") == before
    assert lock("# This file", "# That file") == before


def test_every_package_that_the_code_imports_is_in_the_lock():
    modules = [
        ".".join(path.relative_to(PROJECT / "src").with_suffix("").parts).removesuffix(".__init__")
        for path in (PROJECT / "src" / "befrl").rglob("*.py")
    ]
    packages = set().union(*(provenance.external(module) for module in modules))
    assert {"numpy", "yaml", "matplotlib", "joblib"} <= packages
    assert [package for package in packages if not provenance.requirements(package)] == []


def test_without_a_lock_only_code_counts(lock, monkeypatch, tmp_path):
    with_lock = lock()
    monkeypatch.setattr(provenance, "LOCK", tmp_path / "missing.lock")
    forget()
    assert provenance.locked() == {}
    assert provenance.code_hash("befrl.common.layout") == with_lock[2]
    assert provenance.code_hash("befrl.experiment.runs") != with_lock[0]


# The real graph.


def run_closure(family, algorithm, **values):
    """What a job of rule `run` depends on."""
    parts = agents.modules(algorithm, agents.parameters(algorithm, values))
    return provenance.closure("befrl.experiment.runs", instances.registry.module_name(family), *parts)


def test_a_run_depends_on_its_learner_and_on_no_figure():
    modules = run_closure("chain", "bef-rlsvi")
    assert modules >= {
        "befrl.agents.bef_rlsvi",
        "befrl.learning.learner",
        "befrl.experiment.loop",
        "befrl.learning.estimators.mle",
        "befrl.planning.planners.exact",
    }
    for other in ("figures", "report", "claims", "analysis", "study", "cli"):
        assert not [name for name in modules if name.startswith(f"befrl.{other}")]


@pytest.mark.parametrize("algorithm", agents.registry.names())
def test_a_run_depends_on_no_other_agent_and_no_other_family(algorithm):
    modules = run_closure("chain", algorithm)
    known = {agents.registry.module_name(name) for name in agents.registry.names()}
    families = {instances.registry.module_name(name) for name in instances.registry.names()}
    assert modules & known == {agents.registry.module_name(algorithm)}
    assert modules & families == {"befrl.instances.chain"}


@pytest.mark.parametrize("part", agents.PARTS)
def test_a_run_depends_on_its_own_estimator_and_planner_alone(part):
    known = {agents.PARTS[part].module_name(name) for name in agents.PARTS[part].names()}
    for name in agents.PARTS[part].names():
        mine = agents.PARTS[part].module_name(name)
        modules = run_closure("chain", "bef-rlsvi", **{part: name})
        assert mine in modules
        # A part may build on another one, but on no agent's account.
        assert modules & known == provenance.closure(mine) & known
    assert not run_closure("chain", "random") & known


def test_instances_depend_on_no_agent_and_claims_on_no_figure():
    for family in instances.registry.names():
        modules = provenance.closure("befrl.instances", instances.registry.module_name(family))
        assert not [name for name in modules if name.startswith("befrl.agents")]
    for name in claims.names():
        modules = provenance.closure("befrl.claims", claims.describe(name)["module"])
        assert not modules & {"befrl.figures", "befrl.analysis.aggregation", "befrl.experiment.tuning"}
        assert "befrl.claims.second" in modules


def test_the_report_depends_on_its_template():
    assert "befrl.report" in provenance.closure("befrl.report.assemble")


def test_figures_depend_on_their_own_module_and_style():
    for kind in figures.registry.names():
        own = figures.registry.module_name(kind)
        assert {"befrl.figures.support.style", own} <= provenance.closure("befrl.figures.support.render", own)


def test_versions_are_those_that_run():
    versions = provenance.versions()
    assert versions["python"] == platform.python_version()
    assert versions["numpy"] == np.__version__
    assert set(versions) == {"python", *provenance.PACKAGES}
