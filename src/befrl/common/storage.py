"""Result files: written whole or not at all, and read with a clear sentence when they are not what they should be."""

import json
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from befrl.common.errors import InputError

FORMAT = "befrl-1"


def check_target(path):
    """Refuse a place where no file can be written; to be asked before the work, not after it."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: cannot be written, it is a folder: name a file")
    for parent in path.parents:
        if parent.exists():
            if not parent.is_dir():
                raise InputError(f"{path}: cannot be written, {parent} is not a folder")
            if not os.access(parent, os.W_OK):
                raise InputError(f"{path}: cannot be written, {parent} is not yours to write to")
            return


@contextmanager
def replacing(path, mode="wb"):
    """A temporary file in the same folder that takes the name of `path` when all went well."""
    path = Path(path)
    check_target(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    try:
        # Not mkstemp's private mode: results are for everybody that the user's umask lets read.
        umask = os.umask(0)
        os.umask(umask)
        os.fchmod(handle, 0o666 & ~umask)
        with os.fdopen(handle, mode) as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def one_line(error) -> str:
    return " ".join(str(error).split())


def write_text(path, text: str):
    with replacing(path) as file:
        file.write(text.encode())


def write_json(path, value):
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def read_json(path) -> dict:
    try:
        return json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({one_line(error)}): delete it and run again") from None


def write_arrays(path, kind: str, arrays: dict, meta: dict):
    """Arrays and what made them, in one npz file without pickles."""
    text = json.dumps({"format": FORMAT, "kind": kind, "arrays": sorted(arrays), **meta}, allow_nan=False)
    with replacing(path) as file:
        np.savez_compressed(file, meta=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)


def read_arrays(path, kind: str):
    """Arrays and meta of a file of that kind."""
    arrays = _read(path, kind, only=None)
    return arrays, arrays.pop("meta")


def read_meta(path, kind: str) -> dict:
    """What made a file, without reading its arrays."""
    return _read(path, kind, only=("meta",))["meta"]


def _read(path, kind, only):
    try:
        # Opened here, since np.load leaves a damaged file open.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in only or stored.files}
        arrays["meta"] = meta = json.loads(arrays["meta"].tobytes())
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except Exception:
        # Damaged bytes make the readers of zip, npy and JSON fail in every way that there is.
        raise InputError(f"{path}: truncated, or not a befrl {kind} file: delete it and run again") from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT or meta.get("kind") != kind:
        raise InputError(f"{path}: not a befrl {kind} file of format {FORMAT}: delete it and run again")
    if meta.pop("arrays", None) != sorted({*arrays} - {"meta"}) and only is None:
        raise InputError(f"{path}: damaged, it does not have the arrays that it should: delete it and run again")
    return arrays
