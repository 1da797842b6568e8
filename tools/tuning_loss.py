"""Measure what tuning lost: python tools/tuning_loss.py results/study.json --out src/befrl/analysis/tuning_loss.csv

For every tuned agent of the cases with `--instances`: the mean regret of the chosen configuration on fresh seeds, which
neither tuning nor evaluation used, over that of the best of all configurations tried, on the same seeds. All play 20
seeds, the best eight 80, and the best three and the chosen one all. The best of several is below its own mean, so that
the loss is an upper estimate.
"""

import argparse

import numpy as np
from joblib import Parallel, delayed

from befrl import instances
from befrl.analysis.intervals import mean_interval
from befrl.common import storage, tidy
from befrl.common.defaults import LEVEL, LOCKSTEP
from befrl.experiment import runs, tuning
from befrl.experiment.settings import setting_text
from befrl.experiment.spec import RunSpec
from befrl.study.study import Study

FIRST = 100_000  # of the fresh seeds
COLUMNS = "instance track agent seeds random chosen mean low high best best_mean loss".split()


def measured(study, case, agent, seeds):
    """One row: the chosen configuration and the best one."""
    entry, layout = study.agent(*case, agent), study.layout
    outcome = tuning.read(layout.tuned(*case, agent))
    name, built = instances.load(layout.instance(case[0]))
    episodes = study.case(*case)["episodes"]
    configurations = [entry["set"] | each["values"] for each in outcome["configurations"]]
    number = outcome["chosen"]["tuned"]
    played = {number: np.empty(0) for number in range(len(configurations))}

    def play(numbers, stop):
        numbers = list(dict.fromkeys(numbers))
        for start in sorted({len(played[number]) for number in numbers}):
            part = [number for number in numbers if len(played[number]) == start < stop]
            if part:
                values = [configurations[number] for number in part]
                options = {"track": case[1], "root_seed": study["root_seed"], "ties": study["ties"]}
                span = range(FIRST + start, FIRST + stop)
                spec = RunSpec.of(built, name, entry["algorithm"], values, episodes, span, **options)
                for number, regret in zip(part, runs.run_rows(spec, LOCKSTEP)[0]["regret"].sum(2), strict=True):
                    played[number] = np.append(played[number], regret)

    def leaders(count):
        longest = max(map(len, played.values()))
        return sorted((n for n in played if len(played[n]) == longest), key=lambda n: played[n].mean())[:count]

    play(list(played), 20)
    play([*leaders(8), number], 80)
    play([*leaders(3), number], seeds)
    best = leaders(1)[0]
    chosen, least = played[number], played[best].mean()
    floor = 1e-3 * episodes * (built.optimal_value - built.uniform_value)  # a thousandth of random play
    low, high = mean_interval(chosen, LEVEL, least=0.0)
    row = {"instance": case[0], "track": case[1], "agent": agent, "seeds": seeds, "random": 1000 * floor}
    texts = [setting_text(entry["algorithm"], configurations[each]) for each in (number, best)]
    row |= {"chosen": texts[0], "mean": chosen.mean(), "low": low, "high": high, "best": texts[1], "best_mean": least}
    row["loss"] = (chosen.mean() + floor) / (least + floor)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study")
    parser.add_argument("--out", required=True)
    parser.add_argument("--instances", nargs="+", default=["chain-8", "riverswim-6", "jao"])
    parser.add_argument("--agents", nargs="+", help="only these; their rows replace those of the table")
    parser.add_argument("--seeds", type=int, default=500)
    args = parser.parse_args()
    study = Study.read(args.study)
    order = [(*case, agent) for case in study.compared_cases() for agent in study.tuned(case[0])]
    chosen = [key for key in order if key[0] in args.instances and (not args.agents or key[2] in args.agents)]
    kept = tidy.read(args.out, COLUMNS).astype(object).to_dict("records") if args.agents else []
    made = {tuple(row[name] for name in COLUMNS[:3]): row for row in kept}
    for row in Parallel(n_jobs=-1, batch_size=1, return_as="generator")(
        delayed(measured)(study, key[:2], key[2], args.seeds) for key in chosen
    ):
        made[tuple(row[name] for name in COLUMNS[:3])] = row
        rows = [made[key] for key in order if key in made]
        storage.write_text(args.out, tidy.text(rows, dict.fromkeys(COLUMNS, "")))
    losses = np.array([row["loss"] for row in rows])
    middle, most = np.quantile(losses, (0.5, 0.9))
    print(f"median {middle:.3f}, nine tenths at most {most:.3f}, largest {losses.max():.2f}")


if __name__ == "__main__":
    main()
