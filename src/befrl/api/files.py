"""Read the files that befrl writes."""

from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from befrl import instances
from befrl.api import continuing
from befrl.api.comparison import Comparison
from befrl.api.runs import Runs
from befrl.api.validation import shown
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.experiment import run_file
from befrl.model.instance import Instance
from befrl.study import columns


def read(path: str | PathLike[str]) -> pd.DataFrame | dict[str, Runs] | Instance | dict[str, Any] | Comparison:
    """Read a file that befrl has written: a table (csv), {name: Runs} or an Instance (npz), or a record (json).

    A folder with a saved comparison, or with the runs of a case of a study, is read as a `Comparison`.
    A table has the meanings of its columns in `attrs["meanings"]` and the command that made it in `attrs["made_by"]`.
    """
    if not isinstance(path, str | PathLike):
        raise InputError(f"path = {shown(path)} is not allowed: it must be the path of a file")
    file = Path(path)
    if file.is_dir():
        return _comparison(file)
    readers = {".csv": _table, ".npz": _arrays, ".json": storage.read_json}
    if file.suffix not in readers:
        raise InputError(f"{file}: befrl reads files that end in {', '.join(readers)}")
    return readers[file.suffix](file)


def _table(path: Path) -> pd.DataFrame:
    frame = tidy.read(path)
    try:
        about = columns.of(frame.columns)
    except InputError as error:
        raise InputError(f"{path}: {error}: read it with pandas.read_csv") from None
    frame.attrs |= {"meanings": about.columns, "made_by": about.made_by}
    return frame


def _comparison(folder: Path) -> Comparison:
    found: dict[str, list[Runs]] = {}
    for path in sorted(folder.glob("*/*.npz")):
        for label, each in _runs(path).items():
            found.setdefault(label, []).append(each)
    if not found:
        raise InputError(
            f"{folder}: is a folder without runs AGENT/SEEDS.npz: name a file, or the folder of a comparison"
        )
    return Comparison({label: continuing.merge(parts) for label, parts in found.items()})


def _arrays(path: Path) -> dict[str, Runs] | Instance:
    if storage.kind(path) == "instance":
        with threadpool_limits(limits=1):
            return instances.load(path)[1]
    return _runs(path)


def _runs(path: Path) -> dict[str, Runs]:
    log, meta = run_file.load(path)
    found = {}
    for i, label in enumerate(meta["labels"]):
        own = {key: value if key in run_file.COST else value[i : i + 1] for key, value in log.items()}
        found[label] = Runs(own, meta | {key: meta[key][i : i + 1] for key in ("labels", *run_file.BY_LABEL)})
    return found
