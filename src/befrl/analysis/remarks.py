"""What a reader of a row of the regret tables must know before comparing it: handicaps, and agents that do not learn.

Each remark is a rule on the numbers of the row and on how the agent was run.
"""

from befrl import agents
from befrl.analysis.statistics import EVERYWHERE, NO_REGRET
from befrl.common.parameters import describe
from befrl.experiment.outside import OUTSIDE

# With fewer evaluation seeds, failures of a few per cent are likely to remain unseen.
ENOUGH_SEEDS = 100

NO_LOSS = "zero regret from the first episode"
CONSTANT = "its policy never changes"
TIED = "its actions tie everywhere, so it plays at random"
FIRST = "ties go to the first action"
FEW = f"fewer than {ENOUGH_SEEDS} seeds"
UNTUNED = "not tuned"
HELD = "held fixed in tuning: "
ESTIMATED = "from outside: its regret is estimated by gaps, without bias but with the noise of its episodes"
EDGE = "best at the edge of its range: "


def of(row, meta, outcome) -> str:
    """The remarks on a row of the summary, separated by semicolons."""
    found = []
    if row["mean"] <= NO_REGRET:
        found.append(NO_LOSS)
    if row["changed"] == 0:
        found.append(CONSTANT)
    if row["tied"] > EVERYWHERE:
        found.append(TIED if meta["ties"] == "random" else f"{TIED.split(',')[0]}, so it plays the first one")
    if meta["ties"] == "first":
        found.append(FIRST)
    if row["seeds"] < ENOUGH_SEEDS:
        found.append(FEW)
    if meta["algorithm"] == OUTSIDE:
        return "; ".join([*found, ESTIMATED])
    tunable = to_tune(meta["algorithm"])
    if outcome is None and (tunable or meta["constants"] != "none"):
        found.append(UNTUNED)
    if outcome is not None:
        held = [key for key in tunable if not isinstance(outcome["tune"].get(key), list)]
        found += [f"{HELD}{', '.join(held)}"] if held else []
    if row["at_edge"]:
        matters = "no setting inside the range is as good" if row["edge_matters"] else "a setting inside is as good"
        found.append(f"{EDGE}{row['at_edge']} ({matters})")
    return "; ".join(found)


def to_tune(algorithm) -> list[str]:
    """The penalty or prior of an algorithm, which its author would tune beside the multiplier of its bonus or noise."""
    return [entry["name"] for entry in describe(agents.registry.module(algorithm).Parameters) if entry["ridge"]]
