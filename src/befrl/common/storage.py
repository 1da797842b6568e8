"""Read and write result files: writes are atomic, and unreadable files raise an `InputError`."""

import json
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from befrl.common.errors import InputError

FORMAT = "befrl-1"
# Of compression, from 0 to 9.
LEVEL = 1


def check_target(path):
    """Raise if no file can be written at `path`; called before the work starts."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: cannot be written, it is a folder: name a file")
    for parent in path.parents:
        if parent.exists():
            if not parent.is_dir():
                raise InputError(f"{path}: cannot be written, {parent} is not a folder")
            if not os.access(parent, os.W_OK):
                raise InputError(f"{path}: cannot be written, you have no write permission for {parent}")
            return


@contextmanager
def replacing(path, mode="wb"):
    """Write to a temporary file in the same folder, which is renamed to `path` on success and removed on failure."""
    path = Path(path)
    check_target(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    try:
        # mkstemp creates private files; results get the permissions that the user's umask allows.
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
    """Write arrays and their metadata to one npz file, without pickles."""
    text = json.dumps({"format": FORMAT, "kind": kind, "arrays": sorted(arrays), **meta}, allow_nan=False)
    arrays = {"meta": np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    # np.savez_compressed has no option for the level, and its own takes twice as long for files a little smaller.
    with replacing(path) as file, ZipFile(file, "w", ZIP_DEFLATED, compresslevel=LEVEL) as stored:
        for name, array in arrays.items():
            with stored.open(f"{name}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, np.asanyarray(array), allow_pickle=False)


def read_arrays(path, kind: str):
    """Read the arrays and the metadata of a file of the given kind."""
    arrays = _read(path, kind, only=None)
    return arrays, arrays.pop("meta")


def read_meta(path, kind: str) -> dict:
    """Read the metadata of a file without its arrays."""
    return _read(path, kind, only=("meta",))["meta"]


def kind(path) -> str:
    """The kind of an npz file that befrl has written, such as run; empty if it is none."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            return json.loads(stored["meta"].tobytes())["kind"]
    except Exception:
        # Corrupt files raise many kinds of exception; the reader of the expected kind says what is wrong.
        return ""


def _read(path, kind, only):
    try:
        # Opened here because np.load leaves a damaged file open.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in only or stored.files}
        arrays["meta"] = meta = json.loads(arrays["meta"].tobytes())
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except Exception:
        # Corrupt files raise many kinds of exception in the readers of zip, npy and JSON.
        raise InputError(f"{path}: truncated, or not a befrl {kind} file: delete it and run again") from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT or meta.get("kind") != kind:
        raise InputError(f"{path}: not a befrl {kind} file of format {FORMAT}: delete it and run again")
    if meta.pop("arrays", None) != sorted({*arrays} - {"meta"}) and only is None:
        raise InputError(f"{path}: damaged, it does not contain the arrays that it lists: delete it and run again")
    return arrays
