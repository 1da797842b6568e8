"""Plug-ins: agents, instances, reward laws, estimators and planners from outside the package.

A plug-in is a Python file, and its name is the component's name: `my_agent.py` is `my-agent`. What it defines tells its
kind: `Agent`, `build` (an instance), `Law`, `Estimator` or `Planner`. `load` takes a folder of such files, one file, or
the name under which an installed package offers some: an entry point of the group `befrl.plugins`, whose value is a
package with such modules, or one module. Nothing is loaded unless it is named, because a study compares all estimators
and planners that it knows: an installed package must not change its results.

Files of a folder whose names start with an underscore are no plug-ins; the others import them with
`from . import _mine`. Files are parsed when they are loaded, and imported when they are used.
"""

import ast
import importlib.util
import re
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

from befrl import agents, instances
from befrl.common import storage
from befrl.common.errors import InputError
from befrl.learning import estimators
from befrl.model import rewards
from befrl.planning import planners

REGISTRIES = {c.kind: c for c in (room.registry for room in (agents, instances, rewards, estimators, planners))}
GROUP = "befrl.plugins"
PACKAGE = "befrl_plugins"

# What has been loaded: the sources in their order, the components by file, and the packages of the files by folder.
_sources, _files, _packages = [], {}, {}


def load(source, folder="."):
    """Load plug-ins from a folder, relative to `folder`, from one file, or from an installed package by name.

    Returns the (kind, name) of each. What is loaded already is not loaded again.
    """
    path = (Path(folder) / Path(source).expanduser()).resolve()
    if path.exists():
        source, modules = str(path), {file: f"{_package(file.parent)}.{file.stem}" for file in _files_of(path)}
    else:
        modules = _installed(str(source), path)
    found = {file: (*_recognised(file), module) for file, module in modules.items()}
    new = {file: entry for file, entry in found.items() if file not in _files}
    for file, (kind, name, _) in new.items():
        try:
            REGISTRIES[kind].check_free(name)
        except InputError as error:
            raise InputError(f"{file}: {error}") from None
    for file, (kind, name, module) in new.items():
        REGISTRIES[kind].add(name, module)
        _files[file] = (kind, name)
    if source not in _sources:
        _sources.append(source)
    return [(kind, name) for kind, name, _ in found.values()]


def sources() -> list[str]:
    """The folders, files and names that have been loaded, in their order; folders and files are absolute."""
    return list(_sources)


def state():
    """What another process needs to know the same components: the sources, and the components added in memory."""
    in_memory = [
        (kind, name, module)
        for kind, registry in REGISTRIES.items()
        for name, module in registry.added.items()
        if not isinstance(module, str)
    ]
    return sources(), in_memory


def restore(known):
    """Load and add the components of a `state` of another process."""
    places, in_memory = known
    for place in places:
        load(place)
    for kind, name, module in in_memory:
        REGISTRIES[kind].add(name, module, replace=True)


def _files_of(path):
    """The plug-in files of a folder, or the file itself."""
    if path.is_file():
        if path.suffix != ".py":
            raise InputError(f"plugin {path} is not allowed: it must be a folder, or a Python file")
        return [path]
    files = sorted(file for file in path.glob("*.py") if not file.name.startswith("_"))
    if not files:
        raise InputError(f"plugin {path}: the folder contains no Python file that could be a plug-in")
    return files


def _installed(name, path):
    """The files and modules that an installed package offers under a name."""
    # Imported here because it takes 40 ms, and few commands use installed plug-ins.
    from importlib.metadata import entry_points

    offered = {entry.name: entry.value for entry in entry_points(group=GROUP)}
    if name not in offered:
        known = ", ".join(sorted(offered)) or "none"
        raise InputError(f"plugin {name}: there is no {path}, and no installed package offers it (offered: {known})")
    try:
        spec = importlib.util.find_spec(offered[name])
    except ImportError:
        spec = None
    if spec is None:
        raise InputError(f"plugin {name}: the installed module '{offered[name]}' is not there")
    if spec.submodule_search_locations is None:
        return {Path(spec.origin): spec.name}
    folders = map(Path, spec.submodule_search_locations)
    return {file: f"{spec.name}.{file.stem}" for folder in folders for file in _files_of(folder)}


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
    defined = {name for statement in tree.body for name in _defined(statement)}
    kinds = [kind for kind, registry in REGISTRIES.items() if registry.parts[0] in defined]
    if len(kinds) > 1:
        raise InputError(f"{file} has several components ({', '.join(kinds)}): keep each in a file of its own")
    if not kinds:
        parts = ", ".join(f"{registry.parts[0]} ({kind})" for kind, registry in REGISTRIES.items())
        raise InputError(f"{file} is no plug-in: it must define one of {parts}; start its name with _ if it is none")
    return kinds[0], file.stem.replace("_", "-")


def _defined(statement):
    """The names that a top-level statement defines."""
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _package(folder):
    """The package in which the files of a folder are imported, so that they can import each other."""
    if folder not in _packages:
        last = re.sub(r"\W", "_", folder.name) or "root"
        same = [name for name in _packages.values() if re.fullmatch(rf"{PACKAGE}\.{last}(__\d+)?", name)]
        name = f"{PACKAGE}.{last}__{len(same) + 1}" if same else f"{PACKAGE}.{last}"
        for package, places in ((PACKAGE, []), (name, [str(folder)])):
            spec = ModuleSpec(package, None, is_package=True)
            spec.submodule_search_locations = places
            sys.modules.setdefault(package, importlib.util.module_from_spec(spec))
        _packages[folder] = name
        importlib.invalidate_caches()
    return _packages[folder]
