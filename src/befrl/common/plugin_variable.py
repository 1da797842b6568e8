"""The environment variable that names the plug-ins of a workflow's jobs; reading it loads none of them."""

import os

NAME = "BEFRL_PLUGINS"


def read() -> list[str]:
    """The named folders, files and installed packages, separated as in PATH."""
    return [source for source in os.environ.get(NAME, "").split(os.pathsep) if source]


def write(sources):
    """Set the variable for the processes that this one starts."""
    os.environ[NAME] = os.pathsep.join(sources)
