"""The environment variable that tells a workflow's jobs which plug-ins to load; it is read without loading any."""

import os

NAME = "BEFRL_PLUGINS"


def read() -> list[str]:
    """The folders, files and installed packages that the variable names, separated like the folders of PATH."""
    return [source for source in os.environ.get(NAME, "").split(os.pathsep) if source]


def write(sources):
    """Hand plug-ins on to the processes that this one starts."""
    os.environ[NAME] = os.pathsep.join(sources)
