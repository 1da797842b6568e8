"""Read and write regular files, following symbolic links; writes are atomic, unreadable files raise an `InputError`."""

import json
import os
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from befrl.common.errors import InputError, one_line

UNFINISHED = ".part"  # suffix of unfinished files, which a killed process leaves behind
FORMAT = "befrl-1"
FOLDERS = 100  # most new folders made for a file
LEVEL = 1  # compression, from 0 to 9


def check_target(path) -> Path:
    """The file that a path leads to; raise if it cannot be written. Called before a computation starts."""
    try:
        target = Path(os.path.realpath(path))
        problem = _problem(target)
    except (OSError, ValueError) as error:
        problem = one_line(getattr(error, "strerror", None) or error)
    if problem:
        raise InputError(f"{path}: cannot be written, {problem}")
    return target


def _problem(target):
    if target.is_dir():
        return "it is a folder: name a file"
    if target.is_symlink() or (target.exists() and not target.is_file()):
        return "it is not a regular file: name one"
    parent = next(parent for parent in target.parents if parent.exists())
    if not parent.is_dir():
        return f"{parent} is not a folder"
    if not os.access(parent, os.W_OK):
        return f"you have no write permission for {parent}"
    longest = os.pathconf(parent, "PC_NAME_MAX")
    new = target.relative_to(parent).parts
    if len(new) > FOLDERS:
        return f"it lies more than {FOLDERS} folders deep in {parent}"
    return f"a name has at most {longest} bytes" if any(len(os.fsencode(name)) > longest for name in new) else ""


def check_source(path):
    """Raise if a path leads to a pipe or a device, from which reading may never end."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return  # the reader raises the error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(f"{path}: cannot be read, it is not a regular file: name one")


@contextmanager
def replacing(path):
    """Write to a temporary file in the same folder, which is renamed to `path` on success and removed on failure.

    Paths that cannot be written raise an `InputError` beforehand, and faults of the machine an `OSError`.
    """
    target = check_target(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # File names have a maximal length.
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=UNFINISHED, dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                # mkstemp creates private files; results get the permissions that the user's umask allows.
                umask = os.umask(0)
                os.umask(umask)
                os.fchmod(handle, 0o666 & ~umask)
                yield file
                # Flushed to disk before the rename: after a power failure the file is the old or the new one.
                file.flush()
                os.fsync(handle)
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:  # such as a full disk
        raise OSError(error.errno, f"cannot be written ({error.strerror})", str(path)) from None


def write_text(path, text: str):
    with replacing(path) as file:
        file.write(text.encode())


def write_json(path, value):
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def read_text(path) -> str:
    check_source(path)
    try:
        return Path(path).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as text ({one_line(error)}): delete it and run again") from None


def read_json(path):
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({one_line(error)}): delete it and run again") from None


def require(path, value, what: str, types: dict):
    """Raise unless `value`, read from a file, is a mapping that has these keys with values of these types."""
    for key, kind in types.items():
        found = value.get(key) if isinstance(value, dict) else None
        if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
            problem = f"its '{key}' is missing or damaged" if isinstance(value, dict) else "it has no keys"
            raise InputError(f"{path}: not {what}, {problem}: delete it and run again")


def write_arrays(path, kind: str, arrays: dict, meta: dict):
    """Write arrays and their metadata to one npz file, without pickles."""
    text = json.dumps({"format": FORMAT, "kind": kind, "arrays": sorted(arrays), **meta}, allow_nan=False)
    arrays = {"meta": np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    # np.savez_compressed has no option for the level; its default takes twice as long for slightly smaller files.
    with replacing(path) as file, ZipFile(file, "w", ZIP_DEFLATED, compresslevel=LEVEL) as stored:
        for name, array in arrays.items():
            with stored.open(f"{name}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, np.asanyarray(array), allow_pickle=False)


def read_arrays(path, kind: str, only=()):
    """Read the arrays of a file of the given kind, all or only some, and its metadata."""
    check_source(path)
    try:
        # Opened here because np.load leaves a damaged file open.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in only or stored.files}
        meta = json.loads(arrays.pop("meta").tobytes())
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path}: there is no such file") from None
    except MemoryError:
        raise  # the file may be sound
    except Exception:  # the readers of zip, npy and JSON raise many kinds
        raise InputError(f"{path}: truncated, or not a befrl {kind} file: delete it and run again") from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT or meta.get("kind") != kind:
        raise InputError(f"{path}: not a befrl {kind} file of format {FORMAT}: delete it and run again")
    if meta.pop("arrays", None) != sorted(arrays) and not only:
        raise InputError(f"{path}: damaged, it does not contain the arrays that it lists: delete it and run again")
    return arrays, meta


def read_meta(path, kind: str) -> dict:
    """Read the metadata of a file without its arrays."""
    return read_arrays(path, kind, only=("meta",))[1]


def kind(path) -> str:
    """The kind of an npz file written by befrl, such as run; empty for any other file."""
    check_source(path)
    try:
        with np.load(path, allow_pickle=False) as stored:
            return json.loads(stored["meta"].tobytes())["kind"]
    except MemoryError:
        raise
    except Exception:
        return ""
