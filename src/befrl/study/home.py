"""The folder with the Snakefile, `workflow/` and `config/`: the checkout, or what a wheel installs in `share/befrl`."""

from importlib import metadata
from pathlib import Path


def home() -> Path:
    checkout = Path(__file__).parents[3]
    if (checkout / "Snakefile").is_file():
        return checkout
    # Where a wheel puts its data files depends on the installation.
    found = [file.locate() for file in metadata.files("befrl") or () if file.match("share/befrl/Snakefile")]
    return Path(*found).resolve().parent
