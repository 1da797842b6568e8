"""The shell completes names of verbs, agents, instances, claims and parameters."""

import os
import subprocess
import sys

import pytest

from befrl import agents, claims, instances


def completed(line, folder):
    """The words that the shell offers after a line."""
    found = folder / "found"
    environment = {"COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n"}
    environment |= {"_ARGCOMPLETE_STDOUT_FILENAME": str(found), "_ARGCOMPLETE_SUPPRESS_SPACE": "1"}
    subprocess.run([sys.executable, "-m", "befrl"], env=os.environ | environment, check=True)
    return found.read_text().split()


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("befrl run --agent ", agents.registry.names()),
        ("befrl compare chain --agents greedy ", agents.registry.names()),
        ("befrl instance ", [*instances.registry.names(), *instances.PRESETS]),
        ("befrl claim C6", [name for name in claims.names() if name.startswith("C6")]),
        ("befrl run --agent bef-rlsvi --set est", ["estimator="]),
        ("befrl run --instance chain --instance-set hor", ["horizon="]),
        ("befrl tune chain --agent greedy --set hor", ["horizon="]),
        ("befrl run --agent nobody --set ", []),
    ],
)
def test_words_are_completed(line, names, tmp_path):
    assert set(names) == {word for word in completed(line, tmp_path) if not word.startswith("-")}
