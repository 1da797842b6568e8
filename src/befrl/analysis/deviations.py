"""The deviations of all algorithms from their sources, for docs/agents.md, as their docstrings state them."""

import importlib
import pkgutil
import re

from befrl import agents
from befrl.agents import shared


def markdown() -> str:
    """A list: first the modules that several algorithms share, then the algorithms, each with what it states."""
    found = {}
    for module in pkgutil.iter_modules(shared.__path__, f"{shared.__name__}."):
        found[f"`{module.name.rpartition('.')[2]}.py`"] = importlib.import_module(module.name)
    found |= {name: agents.registry.module(name) for name in agents.registry.own()}
    stated = {name: _stated(module.__doc__) for name, module in found.items()}
    return "".join(f"- **{name}**: {text}\n" for name, text in stated.items() if text)


def _stated(docstring):
    """The text under **Deviations**, or of the sentence that starts with it; empty if there is none."""
    heading, _, text = docstring.partition("**Deviations")[2].partition("**")
    words = " ".join(text.split()).removeprefix(":").strip()
    words = f"deviations {words}" if words and not heading and not words.startswith("none") else words
    return re.sub(r"(`[^`]*`)|([*_])", lambda part: part[1] or f"\\{part[2]}", words)  # escaped outside code
