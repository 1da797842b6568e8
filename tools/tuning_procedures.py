"""Compare procedures of tuning on instances outside the study: tools/tuning_procedures.py --out FILE

All agents of AGENTS play 24 configurations of a first design and 53 of a finer one on CASES, 200 seeds each (an hour on
one core; tables are kept in --data). Each procedure then chooses from seeds drawn with replacement, 40 times. Its loss
is the mean regret of the choice over that of the best of the 77, both over all 200 seeds, with half a per cent of the
largest regret added to both, since some agents have next to none.
"""

import argparse
from pathlib import Path

import numpy as np
import yaml
from joblib import Parallel, delayed

from befrl import instances
from befrl.common import storage, tidy
from befrl.common.defaults import LOCKSTEP
from befrl.experiment import runs, tuning
from befrl.experiment.spec import RunSpec

SEEDS, REPETITIONS = 200, 40
CASES = {  # family, parameters and episodes
    "chain-5": ("chain", {"bins": 5, "horizon": 20, "sigma": 0.12, "right": 0.08}, 250),
    "riverswim-5": ("riverswim", {"kernel": "cho", "states": 5, "horizon": 16, "small": 0.06}, 200),
    "trap-one": ("trap-one", {}, 100),
}
AGENTS = (
    *("bef-rlsvi", "exp-ucrl", "exp-psrl", "rlsvi-shared", "lsvi-phe-shared", "opt-rlsvi-shared"),
    *("ucbvi", "ucbvi-bf", "eqo", "orlc", "psrl", "opsrl"),
)
PROCEDURES = {  # configurations of the second round, seeds of each rung, kept after each; own seeds first; errors added
    "one round, 4 12 40 seeds, common": (0, (4, 12, 40), (8, 3), False, 0.0),
    "one round, 8 24 80 seeds, common": (0, (8, 24, 80), (8, 4), False, 0.0),
    "two rounds, 6 18 50 100 seeds, common": (12, (6, 18, 50, 100), (14, 6, 3), False, 0.0),
    "two rounds, 6 18 50 100 seeds, common, mean + 1/2 error": (12, (6, 18, 50, 100), (14, 6, 3), False, 0.5),
    "two rounds, 6 18 50 100 seeds, first own": (12, (6, 18, 50, 100), (14, 6, 3), True, 0.0),
    "two rounds, 10 50 150 seeds, common": (12, (10, 50, 150), (8, 3), False, 0.0),
    "two rounds, 10 50 150 seeds, first own": (12, (10, 50, 150), (8, 3), True, 0.0),
    "two rounds, 10 50 150 seeds, first own, mean + 1/2 error": (12, (10, 50, 150), (8, 3), True, 0.5),
    "two rounds, 10 50 150 seeds, first own, mean + 1 error": (12, (10, 50, 150), (8, 3), True, 1.0),
}
COLUMNS = ("procedure", "runs", "median", "nine_tenths", "97_percent", "largest", "mean")


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


def choice(points, regrets, second, seeds, kept, own, errors):
    """The number of the chosen configuration and of the runs played; regrets (77, seeds) in the order of playing.

    If configurations have seeds of their own in the first rung, these do not count later.
    """

    def ranked(numbers, stop):
        counted = regrets[numbers, seeds[0] if own and stop > seeds[0] else 0 : stop]
        score = counted.mean(1) + errors * counted.std(1) / np.sqrt(counted.shape[1])
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
        losses, (_, seeds, _, own, _) = [], procedure
        for number, (points, regrets) in enumerate(tables):
            rng, mean = np.random.default_rng(number), regrets.mean(1)
            floor = 0.005 * mean.max() or 1.0  # some agents have no regret at all
            for _ in range(REPETITIONS):
                drawn = regrets[:, rng.integers(0, SEEDS, SEEDS)]
                if own:
                    drawn[:, : seeds[0]] = np.take_along_axis(regrets, rng.integers(0, SEEDS, (77, seeds[0])), 1)
                best, count = choice(points, drawn, *procedure)
                losses.append((mean[best] + floor) / (mean.min() + floor))
        quantiles = np.quantile(losses, (0.5, 0.9, 0.97, 1.0))
        rows.append(dict(zip(COLUMNS, (name, count, *quantiles, np.mean(losses)), strict=True)))
    storage.write_text(args.out, tidy.text(rows, dict.fromkeys(COLUMNS, "")))


if __name__ == "__main__":
    main()
