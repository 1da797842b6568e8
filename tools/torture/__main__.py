"""Attack befrl in every way that has broken it, and count what became of the attacks: `make torture`.

PYTHONPATH=tools python tools/torture [--parts config,commands,files,kernels,kills] [--share 0.1]

All attacks have fixed seeds. Exit code 1 if an attack failed, that is ended in anything but a result or one sentence.
"""

import argparse
import sys
import time
import warnings

import commands
import configs
import files
import kernels
import kills
import tally

PARTS = {
    "config": lambda share: configs.attack(count(10_000, share), runs=count(40, share)),
    "commands": lambda share: commands.attack(count(5_000, share)),
    "files": lambda share: files.attack(count(3_000, share)),
    "kernels": lambda share: kernels.attack(tuple(kernels.KERNELS)[: count(len(kernels.KERNELS), share)]),
    "kills": lambda share: kills.attack(count(100, share)),
}


def count(number, share):
    return max(1, round(number * share))


def main():
    parser = argparse.ArgumentParser(prog="torture", description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}, with commas")
    parser.add_argument("--share", type=float, default=1.0, help="share of the attacks, for a first look (default 1)")
    args = parser.parse_args()
    unknown = [part for part in args.parts.split(",") if part not in PARTS]
    if unknown:
        parser.error(f"unknown part '{unknown[0]}': choose some of {', '.join(PARTS)}")
    # Of damaged numbers; what counts is how a command ends.
    warnings.simplefilter("ignore")
    tallies = []
    for part in args.parts.split(","):
        begun = time.monotonic()
        tallies += PARTS[part](args.share)
        print(f"{part}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    print(tally.table(tallies))
    sys.exit(any(found.failures for found in tallies))


if __name__ == "__main__":
    main()
