"""Fail if a room imports from a room above it: dependencies point one way.

python tools/check_imports.py [SRC]      SRC is the folder of the package (default: src/befrl)

A room may import from its own modules and from the rooms below it, which are on earlier lines of `FLOORS`. An agent
imports no other agent, an instance no other instance, and so on: modules of a registry import what they share, not
each other.
"""

import ast
import sys
from pathlib import Path

# From the ground up. Rooms on the same line do not import from each other.
FLOORS = (
    ("common",),
    ("numerics",),
    ("model",),
    ("instances", "learning", "planning"),
    ("agents",),
    ("plugins",),
    ("experiment",),
    ("analysis", "claims"),
    ("figures",),
    ("study",),
    ("report",),
    ("api",),
    ("cli", "gym"),
    ("__main__",),
)
# Folders whose files are alternatives to each other; `base` and the subfolders hold what they share.
REGISTRIES = ("instances", "agents", "analysis/components", "analysis/published", "cli/verbs")


def imported(path):
    """Yield (line, dotted name below befrl) for every import of the package in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("befrl."):
                yield node.lineno, name.removeprefix("befrl.")


def complaints(package):
    """Yield a sentence for every import that goes the wrong way."""
    floor = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        room = place.parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        if room not in floor:
            yield f"{place}: the room '{room}' is not in FLOORS of tools/check_imports.py"
            continue
        for line, name in imported(path):
            other = name.split(".")[0]
            if other not in floor:
                yield f"{place}:{line}: imports befrl.{name}, and there is no room '{other}'"
            elif other != room and floor[other] >= floor[room]:
                yield f"{place}:{line}: {room} must not import from {other} (befrl.{name})"
            elif _siblings(package, place, name):
                yield f"{place}:{line}: {place.stem} must not import its alternative befrl.{name}"


def _siblings(package, place, name):
    """Whether a file of a registry imports another file of the same registry."""
    parent = place.parent.as_posix()
    if parent not in REGISTRIES or place.stem in ("__init__", "base"):
        return False
    inside = parent.replace("/", ".") + "."
    other = name.removeprefix(inside).split(".")[0] if name.startswith(inside) else ""
    return other not in ("", "base", place.stem) and (package / parent / f"{other}.py").exists()


def main(folder="src/befrl"):
    found = list(complaints(Path(folder)))
    for sentence in found:
        print(sentence)
    print(f"imports of {folder}: {f'{len(found)} go the wrong way' if found else 'all point one way'}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
