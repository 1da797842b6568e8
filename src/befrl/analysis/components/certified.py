"""BEF-SEED beside three rivals, and how often its certificates are broken, with unknown and with known rewards.

BEF-SEED plays with its theoretical constants, and with smaller radii, for which nothing is promised. Each rival plays
with theoretical constants and with tuned ones, which `tuning.halve` chooses on tuning seeds, with fewer configurations
than in the cases of a study. All agents meet the same random numbers, so that differences are paired. The certificates
of BEF-SEED with theoretical constants are checked on more seeds than the rivals play.
"""

import math

from befrl import agents
from befrl.analysis import certificates
from befrl.analysis.intervals import mean_with_interval
from befrl.common.defaults import LEVEL, LOCKSTEP, TRACKS
from befrl.common.errors import InputError
from befrl.experiment import runs, tuning
from befrl.experiment.settings import setting_text
from befrl.experiment.spec import RunSpec

OURS = "bef-seed"
MULTIPLES = (1.0, 0.1)  # of the radii of BEF-SEED: those of its theory, and smaller ones
ETA = [0.01, 100]
RIVALS = {  # ranges of tuning
    "bef-rlsvi": {"x": [0.01, 10000], "eta": ETA},
    "exp-ucrl": {"scale": [0.003, 3], "eta": ETA},
    "exp-psrl": {"scale": [0.05, 10], "eta": ETA},
}
SMOOTH = 40  # rows in lock step where features vary within cells: a row takes tens of MB there in two dimensions
FLOOR = 0.001  # of the regret of random play, added to both sides of a ratio
PAIRED = ("difference", "difference_low", "difference_high")


def uses():
    """BEF-SEED and its rivals, with their default estimators and planners."""
    return [name for agent in (OURS, *RIVALS) for name in agents.modules(agent, agents.parameters(agent, {}))]


def study(name, instance, root_seed, episodes: int, seeds: int, checked: int, configurations: int, tuning_seeds: int):
    """Regrets on `seeds` seeds, and certificates, those of the multiple 1 on `checked` seeds."""
    if checked < seeds:
        raise InputError(
            f"component study 'certified': checked = {checked} is not allowed: it must be at least {seeds}"
        )
    width = SMOOTH if instance.model.smooth else LOCKSTEP
    halving = tuning.Halving(configurations, 0, (tuning_seeds, 4 * tuning_seeds), (max(1, configurations // 4),))
    random = episodes * (instance.optimal_value - instance.uniform_value)
    tables = {"regrets": [], "certificates": []}
    for track in TRACKS:
        head, played = {"instance": name, "track": track}, []

        def spec(algorithm, several, count, track=track):
            numbers = range(tuning.EVALUATION, tuning.EVALUATION + count)
            return RunSpec.of(instance, name, algorithm, several, episodes, numbers, track=track, root_seed=root_seed)

        for multiple in MULTIPLES:
            run = spec(OURS, [{"scale": multiple}], checked if multiple == 1 else seeds)
            log, seconds = runs.run_rows(run, width)
            meta, log = runs.describe(run, [OURS], seconds), {key: log[key][0] for key in ("regret", "certificate")}
            meta |= {key: meta[key][0] for key in ("facts", "specification")}
            row = certificates.row(meta, log, LEVEL)
            row |= {"first_k": None if math.isnan(row["first_k"]) else row["first_k"]}
            tables["certificates"].append(head | {"multiple": multiple} | row)
            role = "theory" if multiple == 1 else "set"
            played.append((OURS, role, {"scale": multiple}, log["regret"][:seeds].sum(1)))
        for algorithm, tune in RIVALS.items():
            outcome = tuning.halve(spec(algorithm, [{}], 1), {}, tune, halving, width)
            chosen = outcome["configurations"][outcome["chosen"]["tuned"]]["values"]
            regrets = runs.run_rows(spec(algorithm, [{}, chosen], seeds), width)[0]["regret"].sum(2)
            played += [(algorithm, "theory", {}, regrets[0]), (algorithm, "tuned", chosen, regrets[1])]
        first = played[0][-1]
        tables["regrets"] += [
            head
            | {"agent": algorithm, "role": role, "setting": setting_text(algorithm, values)}
            | {"episodes": episodes, "seeds": seeds, "random": random}
            | mean_with_interval(regret, LEVEL, least=0.0)
            | {"ratio": (regret.mean() + FLOOR * random) / (first.mean() + FLOOR * random)}
            | mean_with_interval(regret - first, LEVEL, PAIRED)
            for algorithm, role, values, regret in played
        ]
    return tables
