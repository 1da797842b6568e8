"""The direction of imports: the real package passes, and a package with a wrong import does not."""

import importlib

import pytest

from helpers import PROJECT

FOLDER = PROJECT / "tools"


@pytest.fixture
def complaints(monkeypatch, tmp_path):
    """Complaints about a small package, given as {path: text}."""
    monkeypatch.syspath_prepend(FOLDER)
    module = importlib.import_module("check_imports")

    def call(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return list(module.complaints(tmp_path))

    return call


def test_the_package_imports_downwards_only(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    assert list(importlib.import_module("check_imports").complaints(PROJECT / "src" / "befrl")) == []


GOOD = {
    "common/errors.py": "",
    "model/spaces.py": "from befrl.common.errors import InputError\n",
    "agents/shared/cells.py": "from befrl.model import spaces\n",
    "agents/greedy.py": "def plan():\n    from befrl.agents.shared import cells\n",
}
BAD = {
    "upwards": ({"model/spaces.py": "from befrl.agents import greedy\n"}, "model must not import from agents"),
    "upwards in a function": (
        {"common/errors.py": "def f():\n    import befrl.model.spaces\n"},
        "common/errors.py:2: common must not import from model",
    ),
    "beside": ({"learning/data.py": "from befrl.planning import optimism\n"}, "learning must not import from planning"),
    "alternative": ({"agents/psrl.py": "from befrl.agents import greedy\n"}, "psrl must not import its alternative"),
    "unknown room": ({"attic/box.py": ""}, "the room 'attic' is not in FLOORS"),
    "no such room": ({"model/spaces.py": "from befrl.attic import box\n"}, "there is no room 'attic'"),
}


def test_imports_downwards_are_fine(complaints):
    assert complaints(GOOD) == []


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_import_is_named(complaints, name):
    files, words = BAD[name]
    (sentence,) = complaints(GOOD | files)
    assert words in sentence
