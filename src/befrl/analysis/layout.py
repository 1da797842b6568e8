"""Paths of a study's files below its folder of results; measured seconds lie below `timings/`."""

from pathlib import Path


def instance(results, name) -> Path:
    return Path(results) / "instances" / f"{name}.npz"


def claim(results, name) -> Path:
    return Path(results) / "claims" / f"{name}.json"


def table(results, name) -> Path:
    return Path(results) / f"{name}.csv"


def regret(results, case, track, name) -> Path:
    """A table of `aggregation.aggregate`."""
    return _table(results, "regret", f"{case}_{track}", name)


def component(results, kind, case, name) -> Path:
    """A table of `components.run`."""
    return _table(results, f"components/{kind}", case, name)


def published(results, source, name) -> Path:
    """A table of `published.tables`."""
    return _table(results, "published", source, name)


def _table(results, stage, subject, name):
    if name == "timings":
        return Path(results) / "timings" / stage / f"{subject}.csv"
    return Path(results) / stage / subject / f"{name}.csv"
