"""Compare procedures of tuning on instances outside the study: tools/tuning_procedures.py --out FILE

All agents of AGENTS play 24 configurations of a first design and 53 of a finer one on CASES, 200 seeds each (an hour on
one core; tables are kept in --data). Each procedure then chooses from seeds drawn with replacement, 24 times. Its loss
is the mean regret of the choice over that of the best of the 77, both over all 200 seeds, with half a per cent of the
largest regret added to both, since some agents have next to none.
"""

import argparse
from pathlib import Path

import numpy as np
import yaml
from joblib import Parallel, delayed

from befrl import instances
from befrl.analysis.intervals import mean_interval
from befrl.common import storage, tidy
from befrl.common.defaults import LOCKSTEP
from befrl.experiment import runs, tuning
from befrl.experiment.spec import RunSpec

SEEDS, REPETITIONS = 200, 24
CASES = {  # family, parameters and episodes
    "chain-5": ("chain", {"bins": 5, "horizon": 20, "sigma": 0.12, "right": 0.08}, 250),
    "riverswim-5": ("riverswim", {"kernel": "cho", "states": 5, "horizon": 16, "small": 0.06}, 200),
}
AGENTS = (
    *("bef-rlsvi", "exp-ucrl", "exp-psrl", "rlsvi-shared", "lsvi-phe-shared", "opt-rlsvi-shared"),
    *("ucbvi", "ucbvi-bf", "eqo", "orlc", "psrl", "opsrl"),
)
PROCEDURES = {  # configurations of the second round, seeds of each rung, kept after each; level of the upper limit
    "one round, 4 12 40 seeds, by the mean": (0, (4, 12, 40), (8, 3), None),
    "one round, 8 24 80 seeds, by the mean": (0, (8, 24, 80), (8, 4), None),
    "one round, 8 24 80 seeds, by the upper end of 80 %": (0, (8, 24, 80), (8, 4), 0.8),
    "two rounds, 6 20 60 seeds, by the mean": (12, (6, 20, 60), (16, 5), None),
    "two rounds, 6 18 50 100 seeds, by the mean": (12, (6, 18, 50, 100), (14, 6, 3), None),
    "two rounds, 6 18 50 100 seeds, by the upper end of 80 %": (12, (6, 18, 50, 100), (14, 6, 3), 0.8),
    "two rounds, 10 30 80 200 seeds, by the mean": (12, (10, 30, 80, 200), (12, 6, 3), None),
}
COLUMNS = ("procedure", "runs", "median", "nine_tenths", "97_percent", "mean")


def played(folder, case, track, agent, entry):
    """The logarithms of the configurations and their regrets (77, 200), from a file if there is one."""
    path = Path(folder) / f"{case}_{track}_{agent}.npz"
    if not path.exists():
        family, values, episodes = CASES[case]
        tune = tuning.active(entry["algorithm"], entry["tune"], track)
        tried = tuning.design(tune, 24) + tuning.design(tune, 53)
        settings = [entry.get("set", {}) | each for each in tried]
        options = {"track": track, "root_seed": 777, "ties": "random"}
        built = instances.build(family, values)
        spec = RunSpec.of(built, case, entry["algorithm"], settings, episodes, range(SEEDS), **options)
        regret = runs.run_rows(spec, LOCKSTEP)[0]["regret"].sum(2)
        tuned = [key for key, span in tune.items() if isinstance(span, list)]
        np.savez(path, regret=regret, values=[[each[key] for key in tuned] for each in tried])
    found = np.load(path)
    return np.log(found["values"]), found["regret"]


def choice(points, regrets, second, seeds, kept, level):
    """The number of the chosen configuration and of the runs played; regrets (77, seeds) in the order of playing."""

    def ranked(numbers, stop):
        own = regrets[numbers, :stop]
        score = own.mean(1) if level is None else mean_interval(own.T, level)[1]
        return [numbers[i] for i in np.argsort(score, kind="stable")]

    alive, cube = list(range(24)), (points - points.min(0)) / np.ptp(points, axis=0)
    best = ranked(alive, seeds[0])[: tuning.CENTRES]
    distance = np.min([np.abs(cube[24:] - cube[centre]).max(1) for centre in best], axis=0)
    alive += (24 + np.argsort(distance, kind="stable")[:second]).tolist()
    count = len(alive) * seeds[0]
    for start, stop, number in zip(seeds[:-1], seeds[1:], kept, strict=True):
        alive = ranked(alive, start)[:number]
        count += number * (stop - start)
    return ranked(alive, seeds[-1])[0], count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--data", default="build/tuning")
    args = parser.parse_args()
    Path(args.data).mkdir(parents=True, exist_ok=True)
    entries = yaml.safe_load((Path(__file__).parents[1] / "config/agents.yaml").read_text())["agents"]
    cases = [(case, track, agent) for case in CASES for track in "UK" for agent in AGENTS]
    tables = Parallel(n_jobs=-1, batch_size=1)(delayed(played)(args.data, *case, entries[case[2]]) for case in cases)
    rows = []
    for name, procedure in PROCEDURES.items():
        losses = []
        for number, (points, regrets) in enumerate(tables):
            rng, mean = np.random.default_rng(number), regrets.mean(1)
            floor = 0.005 * mean.max()
            for _ in range(REPETITIONS):
                drawn = regrets[:, rng.integers(0, SEEDS, SEEDS)]
                best, count = choice(points, drawn, *procedure)
                losses.append((mean[best] + floor) / (mean.min() + floor))
        quantiles = np.quantile(losses, (0.5, 0.9, 0.97))
        rows.append(dict(zip(COLUMNS, (name, count, *quantiles, np.mean(losses)), strict=True)))
    storage.write_text(args.out, tidy.text(rows, dict.fromkeys(COLUMNS, "")))


if __name__ == "__main__":
    main()
