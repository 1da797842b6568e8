"""Run Snakemake's linter, without the one suggestion that this project does not follow.

Snakemake would have all functions in common.smk. Here the helper functions of a rule stand beside the rule, and
common.smk holds what several rules share.
"""

import subprocess
import sys

DECLINED = "Mixed rules and functions in same snakefile."


def main():
    done = subprocess.run([sys.executable, "-m", "snakemake", "--lint"], capture_output=True, text=True)
    printed = done.stdout + done.stderr
    suggestions = [line.strip(" *:") for line in printed.splitlines() if line.startswith("    * ")]
    declined = [line for line in suggestions if line == DECLINED]
    # The exit code says that there are suggestions, or that the workflow could not be read.
    failed = len(declined) < len(suggestions) or (done.returncode and not suggestions)
    print(printed if failed else f"Snakemake's linter: nothing but {len(declined)} times '{DECLINED}'")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
