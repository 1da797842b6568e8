"""The environment variable that names plug-ins for every command; reading it loads none of them."""

import os

NAME = "BEFRL_PLUGINS"


def read() -> list[str]:
    """The named folders, files and installed packages, separated as in PATH."""
    return [source for source in os.environ.get(NAME, "").split(os.pathsep) if source]
