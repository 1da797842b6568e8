"""Registries find a component by its name: one module per name, imported on demand."""

import importlib
import importlib.util
import pkgutil
import traceback
from functools import cache

from befrl.common.errors import InputError, unknown


class Registry:
    """Components by name: the modules of a package, where `bef-rlsvi` is the module `bef_rlsvi`, and added ones.

    A component must define the names `parts`; the first identifies its kind, and is a subclass of the class `base` of
    the package's module `base`, if given.
    """

    def __init__(self, kind, package, path, parts=(), base=None, reserved=()):
        self.kind, self.package, self.path = kind, package, path
        self.parts, self.base, self.reserved = parts, base, reserved
        self.added = {}

    def __iter__(self):
        return iter(self.names())

    def __reduce__(self):
        """Pickle by reference: in another process it is the registry of the same package."""
        return _attribute, (self.package, "registry")

    def own(self) -> list[str]:
        """The names of the package's own modules."""
        return sorted(name.replace("_", "-") for name in _modules(*self.path) if name != "base")

    def names(self) -> list[str]:
        return sorted([*self.own(), *self.added])

    def add(self, name: str, module, replace=False):
        """Add a module by its name, or an object with the same parts; `replace` allows a name that was added before."""
        self.check_free(name, replace)
        if not isinstance(module, str):
            self._check_parts(module, f"{self.kind} '{name}'")
        self.added[name] = module

    def check_free(self, name: str, replace=False):
        """Raise if nothing can be added under a name."""
        if name in self.own() or name in self.reserved or (name in self.added and not replace):
            raise InputError(f"{self.kind} '{name}' exists already: choose another name")

    def module_name(self, name: str) -> str:
        """The name of a component's module, by which its code is found."""
        if name not in self.names():
            raise unknown(self.kind, name, self.names())
        module = self.added.get(name, f"{self.package}.{name.replace('-', '_')}")
        if not isinstance(module, str):
            raise InputError(f"{self.kind} '{name}' has no file, and its code cannot be hashed: save it as a plug-in")
        return module

    def module(self, name: str):
        if name not in self.added:
            return importlib.import_module(self.module_name(name))
        module = self.added[name]
        if isinstance(module, str):
            try:
                module = importlib.import_module(module)
            except Exception as error:
                raise InputError(f"{place(error, module)}: {type(error).__name__}: {error}") from error
            self._check_parts(module, module.__file__)
        return module

    def summary(self, name: str) -> str:
        """The first line of the docstring of the module, or of its first part."""
        module = self.module(name)
        documented = [vars(module).get("__doc__"), *(getattr(module, part).__doc__ for part in self.parts[:1])]
        return next(filter(None, documented), "").strip().partition("\n")[0]

    def _check_parts(self, module, where):
        for part in self.parts:
            if not callable(getattr(module, part, None)):
                raise InputError(f"{where}: a component of the kind {self.kind} must define {part}")
        if self.base:
            cls = getattr(module, self.parts[0])
            if not isinstance(cls, type) or not issubclass(cls, _attribute(f"{self.package}.base", self.base)):
                raise InputError(f"{where}: {self.parts[0]} must be a subclass of {self.package}.base.{self.base}")


@cache
def _modules(*folders: str) -> tuple[str, ...]:
    return tuple(module.name for module in pkgutil.iter_modules(folders) if not module.ispkg)


def _attribute(module, name):
    return getattr(importlib.import_module(module), name)


def place(error, module: str):
    """The file and line of a module at which an exception was raised."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}"
    file = importlib.util.find_spec(module).origin
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{file}, line {lines[-1]}" if lines else file
