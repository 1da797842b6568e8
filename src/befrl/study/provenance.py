"""The provenance of a result: versions, and a hash of exactly the code and packages that the result depends on.

The hash of a module covers its syntax tree without docstrings, that of every module of befrl or of the same plug-in
that it imports, directly or indirectly, and the locked versions of all packages that these import, with their
dependencies. If befrl is installed without its lock, the installed versions of the imported packages count. Rules carry
the hash as a parameter, so a change reruns only the jobs that depend on it.
"""

import ast
import datetime
import hashlib
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

from befrl.study.home import CHECKOUT, in_checkout

PACKAGES = ("numpy", "scipy", "matplotlib", "seaborn", "joblib", "pandas", "snakemake")
OWN = __name__.split(".")[0]
LOCAL_CPU = Path("/proc/cpuinfo")
LOCK = CHECKOUT / "requirements.lock"
SOURCES = ("Snakefile", "config", "requirements.lock", "src", "workflow")  # what results are made from
DISTRIBUTIONS = {"yaml": "pyyaml"}  # {name of the import: other name in the lock file}
# Data files with texts for many results; the settings of a job hold the entries that it uses.
SHARED_TEXTS = ("captions.yaml", "columns.csv")
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")  # fields of syntax nodes that contain statements
_read = {}  # {file that a hash depends on: its time and size when it was read}


def versions() -> dict[str, str]:
    """The versions of Python and of the packages, as far as they are installed."""
    return {"python": platform.python_version()} | {name: found for name in PACKAGES if (found := _installed(name))}


def _installed(package: str) -> str:
    """The version of an installed package; empty if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def machine() -> dict[str, str]:
    """Where and when: commit, date, system, processor, cores and BLAS of this process."""
    import numpy  # most callers need it not

    cpu = re.search(r"model name\s*: (.*)", LOCAL_CPU.read_text()) if LOCAL_CPU.exists() else None
    blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "commit": commit(),
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "system": platform.platform(),
        "processor": cpu[1] if cpu else platform.processor(),
        "cores": str(os.cpu_count()),
        "BLAS": f"{blas['name']} {blas['version']}",
    }


def commit() -> str:
    """The last commit of the checkout, and whether code or configs differ from it; for the eye only."""
    with suppress(OSError, subprocess.CalledProcessError):
        if in_checkout() and Path(_git("rev-parse", "--show-toplevel")) == CHECKOUT.resolve():
            changed = _git("status", "--porcelain", "--", *SOURCES)
            return _git("log", "-1", "--format=%h of %cs") + (" + changes" if changed else "")
    return "unknown, befrl is not in a git repository of its own"


def _git(*words) -> str:
    command = ["git", "--no-optional-locks", "-C", CHECKOUT, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def made_by(*modules: str) -> dict:
    """Code hash and versions, which are stored with a result."""
    return {"code": code_hash(*modules), "versions": versions()}


def short_hash(content) -> str:
    """A hash of a value that JSON can hold; the order of keys does not count."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _stamp(path):
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


def _content(path) -> bytes:
    """The content of a file, whose stamp is kept."""
    _read[path] = _stamp(path)
    return Path(path).read_bytes()


def edited() -> list[str]:
    """The files that were written, or removed, after they were read for a hash."""
    return [str(path) for path, stamp in _read.items() if not os.path.exists(path) or _stamp(path) != stamp]


@cache
def _tree(module: str):
    """Syntax tree of a module without its docstrings, and the folders of a package."""
    spec = importlib.util.find_spec(module)
    return _without_docstrings(ast.parse(_content(spec.origin))), list(spec.submodule_search_locations or ())


@cache
def _is_module(name: str) -> bool:
    """Whether a name is that of a module with a file; the folder of plug-ins is a package without one."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return False
    return spec is not None and spec.origin is not None


def _statements(tree):
    """The module and all statements in it; expressions, which are most of a tree, contain none and are skipped."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for field in BODIES:
            waiting += getattr(node, field, ())


def _without_docstrings(tree):
    for node in _statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return tree


@cache
def fingerprint(module: str) -> str:
    """Hash of one module's syntax tree without docstrings and, for a package, of the data files in its folder."""
    tree, folders = _tree(module)
    digest = hashlib.sha256(ast.dump(tree).encode())
    for folder in folders:
        for path in sorted(Path(folder).iterdir()):
            if path.is_file() and path.suffix != ".py" and path.name not in SHARED_TEXTS:
                digest.update(path.name.encode() + _content(path))
    return digest.hexdigest()


@cache
def _imported(module: str) -> frozenset[str]:
    """All names that a module imports anywhere in its source; `from a import b` counts as both a and a.b."""
    tree, folders = _tree(module)
    parts = module.split(".")
    # Relative imports start from the package itself, or from the package that contains the module.
    here = parts if folders else parts[:-1]
    found = set()
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            found |= {source, *(f"{source}.{alias.name}" for alias in node.names)}
    return frozenset(found)


@cache
def imports(module: str) -> frozenset[str]:
    """Modules of the same package and of befrl that a module imports, and the packages that contain it."""
    parts = module.split(".")
    found = _imported(module) | {".".join(parts[:i]) for i in range(1, len(parts))}
    return frozenset(name for name in found if name.split(".")[0] in (parts[0], OWN) and _is_module(name))


def external(module: str) -> set[str]:
    """Third-party packages that a module imports, by import name."""
    tops = {name.split(".")[0] for name in _imported(module)}
    return tops - {module.split(".")[0], OWN} - set(sys.stdlib_module_names)


def closure(*modules: str) -> set[str]:
    """The modules and all modules of their package that they import, directly or indirectly."""
    waiting, seen = list(modules), set()
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += imports(module)
    return seen


@cache
def locked() -> dict[str, tuple[str, frozenset[str]]]:
    """{package: (its locked requirement, the packages that need it)}; empty if there is no lock file."""
    found, name = {}, None
    for line in LOCK.read_text().splitlines() if LOCK.exists() else ():
        if entry := re.match(r"([A-Za-z0-9._-]+)==", line):
            name = entry.group(1)
            found[name] = (line.rstrip(" \\"), set())
        elif name and (user := re.match(r"    #(?: via)?\s+([A-Za-z0-9._-]+)$", line)):
            found[name][1].add(user.group(1))
    return {name: (text, frozenset(users)) for name, (text, users) in found.items()}


@cache
def requirements(package: str) -> frozenset[str]:
    """The locked requirements of an imported package and of all its dependencies, or its installed version."""
    name = DISTRIBUTIONS.get(package, package.replace("_", "-"))
    if not LOCK.exists():
        return frozenset([f"{name}=={_installed(name)}"])
    needed = {name} & locked().keys()
    while more := {name for name, (_, users) in locked().items() if users & needed} - needed:
        needed |= more
    return frozenset(locked()[name][0] for name in needed)


@cache
def code_hash(*modules: str) -> str:
    """Hash of some modules, all that they import from befrl, and the locked packages that these use."""
    found = closure(*modules)
    lines = [f"{module} {fingerprint(module)}" for module in sorted(found)]
    packages = set().union(*(external(module) for module in found))
    lines += sorted(set().union(*(requirements(package) for package in packages)))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
