"""Choose one multiple of the radius of bef-seed on instances outside the study: tools/seed_multiple.py --out FILE

All MULTIPLES play the same 60 seeds on each of CASES, in both tracks (seven minutes). Runs are kept in --data, in files
named for the case, its settings and the code. The loss of a multiple on a case is its mean regret over that of the best
one there, with half a per cent of the regret of random play added to both. The choice has the smallest geometric mean
of the losses; of equal ones it is the larger.
"""

import argparse
from pathlib import Path

import numpy as np

from befrl import agents, instances
from befrl.common import storage, tidy
from befrl.common.defaults import LOCKSTEP
from befrl.experiment import certificates, runs
from befrl.experiment.spec import RunSpec
from befrl.study import provenance

AGENT, MULTIPLES = "bef-seed", (1.0, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 0.003)
SEEDS, ROOT = 60, 777
RIVERSWIM = {"kernel": "cho", "states": 5, "horizon": 15, "small": 0.12}
CASES = {  # family, parameters and episodes
    "chain-6": ("chain", {"bins": 6, "horizon": 30}, 300),
    "chain-12": ("chain", {"bins": 12, "horizon": 20, "right": 0.05}, 300),
    "riverswim-5": ("riverswim", RIVERSWIM, 300),
    "riverswim-5-leak": ("riverswim", RIVERSWIM | {"leak": 0.02}, 300),
    "riverswim-7": ("riverswim", {"kernel": "osband", "states": 7, "horizon": 24, "small": 0.05}, 300),
    "jao-4": ("jao", {"arms": 4, "horizon": 15, "rate": 0.4, "eps": 0.25, "leave": 0.15}, 300),
    "jao-10": ("jao", {"arms": 10, "horizon": 10}, 300),
    "literal-4": ("literal", {"bins": 4, "horizon": 12, "left": 0.2, "right": 0.04}, 200),
    "factored-2": ("factored", {"machines": 2, "horizon": 10, "cost": 0.15}, 200),
    "trap-two-3": ("trap-two", {"best": 3.0, "prize": 1.2}, 200),
    "trap-one-3": ("trap-one", {"pairs": 3, "best": 1.5}, 100),
    "lds-wide": ("lds", {"horizon": 10, "sigma": 0.4, "force": 0.4}, 60),
    "circle-6": ("circle", {"knots": 6, "horizon": 15, "kappa": 8.0}, 40),
}
COLUMNS = ("instance", "track", "multiple", "episodes", "random", "regret", "loss", "certified_share", "broken")


def played(folder, name, track):
    """Regret, sum of certificates and whether one is broken, (multiples, seeds) each, and the regret of random play."""
    family, values, episodes = CASES[name]
    modules = (runs.__name__, *agents.modules(AGENT, agents.parameters(AGENT, {})), *instances.modules(family, values))
    key = provenance.short_hash([CASES[name], MULTIPLES, SEEDS, ROOT, provenance.code_hash(*modules)])
    path = Path(folder) / f"{name}_{track}_{key}.npz"
    if not path.exists():
        built = instances.build(family, values)
        settings = [{"scale": multiple} for multiple in MULTIPLES]
        spec = RunSpec.of(built, name, AGENT, settings, episodes, range(SEEDS), track=track, root_seed=ROOT)
        log, _ = runs.run_rows(spec, LOCKSTEP)
        broken, random = certificates.broken(log, built.horizon).any(2), built.optimal_value - built.uniform_value
        certified = log["certificate"].sum(2) / (built.horizon * episodes)
        np.savez(path, regret=log["regret"].sum(2), certified=certified, broken=broken, random=episodes * random)
    return np.load(path)


def rows(folder, name, track):
    """One row for each multiple on a case."""
    found = played(folder, name, track)
    mean, random = found["regret"].mean(1).clip(min=0.0), float(found["random"])
    loss = (mean + 0.005 * random) / (mean.min() + 0.005 * random)
    columns = zip(MULTIPLES, mean, loss, found["certified"].mean(1), found["broken"].sum(1), strict=True)
    return [(name, track, one, CASES[name][2], random, *numbers) for one, *numbers in columns]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--data", default="build/multiple")
    args = parser.parse_args()
    Path(args.data).mkdir(parents=True, exist_ok=True)
    table = [
        dict(zip(COLUMNS, row, strict=True)) for name in CASES for track in "UK" for row in rows(args.data, name, track)
    ]
    losses = {one: np.log([row["loss"] for row in table if row["multiple"] == one]) for one in MULTIPLES}
    for one, part in losses.items():
        print(f"{one:6g}: geometric mean of the losses {np.exp(part.mean()):.3f}, largest {np.exp(part.max()):.2f}")
    print(f"chosen: {min(losses, key=lambda one: (losses[one].mean(), -one)):g}")
    storage.write_text(args.out, tidy.text(table, dict.fromkeys(COLUMNS, "")))


if __name__ == "__main__":
    main()
