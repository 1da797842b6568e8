"""The guides of docs/: the files that a reader saves, and the commands to run."""

import os
import re
import subprocess
import sys
from pathlib import Path

from helpers import PROJECT


class Guide:
    """A page that says "Save this as `NAME`:" before a block of code, and shows commands as indented lines."""

    def __init__(self, name):
        self.text = (PROJECT / "docs" / f"{name}.md").read_text()
        saved = re.findall(
            r"Save this as\s+`([^`]+)`[^`]*?:\n\n```\w+\n(.*?)^```$", self.text, re.MULTILINE | re.DOTALL
        )
        self.files = dict(saved)
        self.commands = re.findall(r"^    ((?:befrl|snakemake|python) .*)$", self.text, re.MULTILINE)

    def block(self, language):
        """The page's only block of code in a language."""
        (text,) = re.findall(rf"^```{language}\n(.*?)^```$", self.text, flags=re.MULTILINE | re.DOTALL)
        return text

    def save(self, folder):
        """Save the files of the page in a folder."""
        for name, text in self.files.items():
            (folder / name).write_text(text)

    def run(self, command, folder):
        """Run a command of the page in a folder as a reader would; return what it prints."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = os.environ | {"PATH": path, "BEFRL": str(PROJECT), "PYTHONPATH": str(PROJECT / "src")}
        done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return done.stdout
