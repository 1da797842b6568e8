"""Calls of the command line."""

import shlex

import pytest

from befrl import cli


@pytest.fixture
def befrl(tmp_path, monkeypatch, capsys):
    """Calls a command line in an empty folder: befrl("list agents") -> (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    # `main` sets these for its process; here they are to be as before afterwards.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONSAFEPATH"):
        monkeypatch.setenv(name, "1")

    def call(line):
        capsys.readouterr()
        try:
            code = cli.main(shlex.split(line))
        except SystemExit as end:
            code = end.code
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def good(befrl):
    """The same, for commands that must succeed quietly: returns stdout."""

    def call(line):
        code, out, err = befrl(line)
        assert (code, err) == (0, "")
        return out

    return call
