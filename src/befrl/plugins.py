"""Plug-ins: agents, instances, reward laws, estimators and planners from outside the package (docs/plug-ins.md).

A plug-in is a Python file; `my_agent.py` defines the component `my-agent`. Its kind is recognised by what it defines:
`Agent`, `build` (an instance), `Law`, `Estimator` or `Planner`. It is parsed when loaded, and imported when used. Only
named plug-ins are loaded, because a study compares all estimators and planners that are loaded.
"""

import ast
import importlib.util
import re
import sys
import traceback
from importlib.machinery import ModuleSpec
from pathlib import Path

from befrl import agents, instances
from befrl.common import storage
from befrl.common.errors import InputError
from befrl.learning import estimators
from befrl.model import rewards
from befrl.planning import planners

REGISTRIES = {layer.registry.kind: layer.registry for layer in (agents, instances, rewards, estimators, planners)}
GROUP = "befrl.plugins"
PACKAGE = "befrl_plugins"

# The loaded sources in their order, the components by file, and the packages of the files by folder.
_sources, _files, _packages = [], {}, {}


def load(source, folder="."):
    """Load the plug-ins of a folder, a file (relative to `folder`) or an installed package; return their (kind, name).

    A package names its plug-ins in an entry point of the group `befrl.plugins`: a package of modules, or one module.
    """
    path = (Path(folder) / Path(source).expanduser()).resolve()
    if path.exists():
        source, modules = str(path), {file: f"{_package(file.parent)}.{file.stem}" for file in _files_of(path)}
    else:
        modules = _installed(str(source), path)
    found = {file: _recognised(file) for file in modules}
    new = {file: component for file, component in found.items() if file not in _files}
    for file, (kind, name) in new.items():
        try:
            REGISTRIES[kind].check_free(name)
        except InputError as error:
            raise InputError(f"{file}: {error}") from None
    for file, (kind, name) in new.items():
        REGISTRIES[kind].add(name, modules[file])
    _files.update(new)
    if source not in _sources:
        _sources.append(source)
    return list(found.values())


def sources() -> list[str]:
    """The folders, files and names that have been loaded, in their order; folders and files are absolute."""
    return list(_sources)


def state():
    """The sources and the components added in memory, from which `restore` makes the same registries elsewhere."""
    added = [(kind, *entry) for kind, registry in REGISTRIES.items() for entry in registry.added.items()]
    return sources(), [entry for entry in added if not isinstance(entry[2], str)]


def blame(error):
    """What was raised, and in which line of a plug-in, as one sentence; None if no plug-in took part."""
    files = {str(file) for file in _files}
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    if not lines:
        return None
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, ValueError) and "read-only" in str(error):
        what = "it writes into an array that befrl reads, too: make a copy"
    return f"{what} ({lines[-1].filename}, line {lines[-1].lineno})"


def restore(known):
    """Load and add the components of a `state` of another process."""
    for source in known[0]:
        load(source)
    for kind, name, module in known[1]:
        REGISTRIES[kind].add(name, module, replace=True)


def _files_of(path):
    if path.is_file():
        if path.suffix != ".py":
            raise InputError(f"plugin {path} is not allowed: it must be a folder, or a Python file")
        return [path]
    files = sorted(file for file in path.glob("*.py") if not file.name.startswith("_"))
    if not files:
        raise InputError(f"plugin {path}: the folder contains no Python file that could be a plug-in")
    return files


def _installed(name, path):
    from importlib.metadata import entry_points  # takes 40 ms

    offered = {entry.name: entry.value for entry in entry_points(group=GROUP)}
    if name not in offered:
        known = ", ".join(sorted(offered)) or "none"
        raise InputError(f"plugin {name}: there is no {path}, and no installed package offers it (offered: {known})")
    try:
        spec = importlib.util.find_spec(offered[name])
        folders = spec.submodule_search_locations
    except (ImportError, AttributeError):
        raise InputError(f"plugin {name}: the installed module '{offered[name]}' is not there") from None
    if folders is None:
        return {Path(spec.origin): spec.name}
    return {file: f"{spec.name}.{file.stem}" for folder in folders for file in _files_of(Path(folder))}


def _recognised(file):
    """The kind and the name of a plug-in file, from its top-level definitions; it is not imported."""
    if not file.stem.isidentifier():
        raise InputError(f"{file}: a plug-in's name is made of letters, digits and underscores: rename the file")
    storage.check_source(file)
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except (OSError, SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise InputError(f"{file}{line}: {getattr(error, 'msg', error)}") from None
    defined = set()
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef):
            defined.add(statement.name)
        elif isinstance(statement, ast.Assign):
            defined |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    kinds = [kind for kind, registry in REGISTRIES.items() if registry.parts[0] in defined]
    if len(kinds) > 1:
        raise InputError(f"{file} has several components ({', '.join(kinds)}): keep each in a file of its own")
    if not kinds:
        parts = ", ".join(f"{registry.parts[0]} ({kind})" for kind, registry in REGISTRIES.items())
        raise InputError(f"{file} is no plug-in: it must define one of {parts}; start its name with _ if it is none")
    return kinds[0], file.stem.replace("_", "-")


def _package(folder):
    """The package in which the files of a folder are imported, so that they can import each other."""
    if folder not in _packages:
        name = f"{PACKAGE}." + (re.sub(r"\W", "_", folder.name) or "root")
        while name in _packages.values():
            name += "_"
        for package, places in ((PACKAGE, []), (name, [str(folder)])):
            spec = ModuleSpec(package, None, is_package=True)
            spec.submodule_search_locations = places
            sys.modules.setdefault(package, importlib.util.module_from_spec(spec))
        _packages[folder] = name
        importlib.invalidate_caches()
    return _packages[folder]
