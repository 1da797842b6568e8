"""The folder with the files that are not in the package: the checkout, or `share/befrl` of an installation."""

from contextlib import suppress
from importlib import metadata
from pathlib import Path

from befrl.common.errors import InputError

CHECKOUT = Path(__file__).parents[3]


def in_checkout() -> bool:
    """Whether this is the code of a checkout, and not an installed copy."""
    return Path(__file__).parents[2] == CHECKOUT / "src" and (CHECKOUT / "Snakefile").is_file()


def home() -> Path:
    """The folder with the Snakefile, `workflow/`, `config/` and tables of the study; raise if it does not exist."""
    if in_checkout():
        return CHECKOUT
    with suppress(metadata.PackageNotFoundError):
        # Where a wheel puts its data files depends on the installation.
        for file in metadata.files("befrl") or ():
            if file.match("share/befrl/Snakefile"):
                return Path(file.locate()).resolve().parent
    raise InputError("befrl's Snakefile and config are not found: install the package with pip, or use a checkout")
