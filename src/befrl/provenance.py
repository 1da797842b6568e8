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
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            if isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
                body[0].value.value = ""
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
    """befrl modules that a module imports anywhere in its text."""
    tree, _ = _tree(module)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(name for name in found if name.split(".")[0] == "befrl" and _is_module(name))


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
