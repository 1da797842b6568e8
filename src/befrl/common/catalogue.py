"""Catalogues find a component by its name: one module per name, imported on demand."""

import importlib
import pkgutil

from befrl.common.errors import unknown


class Catalogue:
    """The modules of a package by name: `bef-rlsvi` is the module `bef_rlsvi`."""

    def __init__(self, kind, package, path):
        self.kind, self.package, self.path = kind, package, path

    def names(self) -> list[str]:
        modules = (m.name for m in pkgutil.iter_modules(self.path) if not m.ispkg)
        return sorted(name.replace("_", "-") for name in modules if name != "base")

    def module_name(self, name: str) -> str:
        if name not in self.names():
            raise unknown(self.kind, name, self.names())
        return f"{self.package}.{name.replace('-', '_')}"

    def module(self, name: str):
        return importlib.import_module(self.module_name(name))

    def summary(self, name: str) -> str:
        """The first line of the module's docstring."""
        text = (self.module(name).__doc__ or "").strip()
        return text.splitlines()[0] if text else ""
