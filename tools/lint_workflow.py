"""Run Snakemake's linter, and fail on all suggestions but the two that this project declines."""

import subprocess
import sys

DECLINED = (
    # The helper functions of a rule are defined beside it; common.smk has what several rules share.
    "Mixed rules and functions in same snakefile.",
    # All rules run in the environment of requirements.lock.
    "Specify a conda environment or container for each rule.",
)

done = subprocess.run(
    [sys.executable, "-m", "snakemake", "--lint", "--snakefile", "workflow/Snakefile"], capture_output=True, text=True
)
printed = done.stdout + done.stderr
suggestions = [line.strip(" *:") for line in printed.splitlines() if line.startswith("    * ")]
# Without suggestions the exit code says whether the workflow could be read.
failed = not set(suggestions) <= set(DECLINED) if suggestions else done.returncode
print(printed if failed else f"Snakemake's linter: no suggestions besides {len(suggestions)} that are declined")
sys.exit(bool(failed))
