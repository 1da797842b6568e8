"""Fault injection: damaged configs, command lines and files, other processors, and kills (`make torture`).

PYTHONPATH=tools python tools/torture [--parts config,commands,files,agents,surroundings,kernels,kills] [--share 0.1]

All faults have fixed seeds. Exit code 1 if a case failed, that is ended in anything but a result or one error message.
"""

import argparse
import contextlib
import sys
import tempfile
import time
import warnings

import commands
import configs
import files
import kernels
import kills
import outcomes
import surroundings
from stock import study_in_a_folder

import agents


def inject_commands(number):
    with study_in_a_folder():
        return commands.inject(number)


def inject_files(number):
    with study_in_a_folder() as study:
        return files.inject(study, number)


def inject_agents(number):
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return agents.inject(number)


# The function of each part, and the number of its cases.
PARTS = {
    "config": (configs.inject, 10_000, 40),
    "commands": (inject_commands, 5_000),
    "files": (inject_files, 3_000),
    "agents": (inject_agents, len(agents.FOUND)),
    "surroundings": (surroundings.inject, len(surroundings.FOLDERS)),
    "kernels": (kernels.inject, len(kernels.KERNELS)),
    "kills": (kills.inject, 100),
}


def main():
    parser = argparse.ArgumentParser(prog="torture", description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}, with commas")
    parser.add_argument("--share", type=float, default=1.0, help="share of the cases, for a first look (default 1)")
    args = parser.parse_args()
    parts = args.parts.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"unknown part '{unknown[0]}': choose some of {', '.join(PARTS)}")
    warnings.simplefilter("ignore")  # of damaged numbers
    found = []
    for part in parts:
        begun, (inject, *numbers) = time.monotonic(), PARTS[part]
        found += inject(*(max(1, round(number * args.share)) for number in numbers))
        print(f"{part}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    print(outcomes.table(found))
    sys.exit(any(each.failures for each in found))


if __name__ == "__main__":
    main()
