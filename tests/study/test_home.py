"""The folder of the Snakefile: the checkout, that of an installation, or one sentence."""

from importlib import metadata

import pytest

from befrl.common.errors import InputError
from befrl.study import config, home
from helpers import PROJECT


def missing(name):
    raise metadata.PackageNotFoundError(name)


def test_the_checkout_is_the_home():
    assert home.home() == PROJECT


@pytest.mark.parametrize("files", [missing, lambda name: None, lambda name: [metadata.PackagePath("befrl/agents.py")]])
def test_a_package_without_its_files_is_an_error_where_they_are_needed(files, tmp_path, monkeypatch):
    """Not at the import of the config, and the current folder is not searched."""
    (tmp_path / "Snakefile").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(home, "CHECKOUT", tmp_path)
    monkeypatch.setattr(metadata, "files", files)
    with pytest.raises(InputError, match="Snakefile and config are not found: install the package"):
        config.check({"include": ["agents.yaml"]})
