"""What made a result: versions, and a hash of exactly the code that it depends on.

The hash of a module covers its syntax tree, so that comments and layout do not count, and that of every befrl module
that it imports, directly or not. Rules carry it as a parameter: editing a module reruns the jobs that use it.
"""

import ast
import hashlib
import importlib.util
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGES = ("numpy", "scipy", "matplotlib", "seaborn", "joblib", "pandas", "snakemake")


def versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in PACKAGES}}


@cache
def _tree(module: str):
    spec = importlib.util.find_spec(module)
    with open(spec.origin, encoding="utf-8") as file:
        return ast.parse(file.read()), list(spec.submodule_search_locations or ())


@cache
def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _without_docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return tree


@cache
def fingerprint(module: str) -> str:
    """Hash of one module's syntax tree, docstrings left out, and of the files that lie beside a package's code."""
    tree, folders = _tree(module)
    digest = hashlib.sha256(ast.dump(_without_docstrings(ast.parse(ast.unparse(tree)))).encode())
    for folder in folders:
        for path in sorted(Path(folder).iterdir()):
            if path.is_file() and path.suffix != ".py":
                digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


@cache
def imports(module: str) -> frozenset[str]:
    """Modules of the same package that a module imports anywhere in its text, and the packages that it lives in."""
    tree, folders = _tree(module)
    parts = module.split(".")
    found = {".".join(parts[:i]) for i in range(1, len(parts))}
    # Where relative names start from: a package itself, or the package of a module.
    here = parts if folders else parts[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            found |= {source, *(f"{source}.{alias.name}" for alias in node.names)}
    return frozenset(name for name in found if name.split(".")[0] == parts[0] and _is_module(name))


def closure(*modules: str) -> set[str]:
    """The modules and all that they import, directly or not."""
    waiting, seen = list(modules), set()
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += imports(module)
    return seen


def code_hash(*modules: str) -> str:
    """Hash of the closure of some modules."""
    lines = [f"{module} {fingerprint(module)}" for module in sorted(closure(*modules))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
