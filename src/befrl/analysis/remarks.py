"""Caveats on a row of the regret tables, by rules on its numbers and on how the agent was run."""

from befrl import agents
from befrl.analysis.statistics import EVERYWHERE, NO_REGRET
from befrl.common.parameters import describe
from befrl.experiment.outside import OUTSIDE

ENOUGH_SEEDS = 100  # with fewer, failures of a few per cent are likely to remain unseen
CONSTANT = "its policy never changes"
ESTIMATED = "from outside: its regret is estimated by gaps, without bias but with the noise of its episodes"


def of(row, meta, outcome) -> str:
    """The remarks on a row of the summary, separated by semicolons."""
    found = []
    if row["mean"] <= NO_REGRET:
        found.append("zero regret from the first episode")
    if row["changed"] == 0:
        found.append(CONSTANT)
    if row["tied"] > EVERYWHERE:
        chosen = "at random" if meta["ties"] == "random" else "the first one"
        found.append(f"its actions tie everywhere, so it plays {chosen}")
    if meta["ties"] == "first":
        found.append("ties go to the first action")
    if row["seeds"] < ENOUGH_SEEDS:
        found.append(f"fewer than {ENOUGH_SEEDS} seeds")
    if meta["algorithm"] == OUTSIDE:
        return "; ".join([*found, ESTIMATED])
    tunable = to_tune(meta["algorithm"])
    if outcome is None and (tunable or meta["constants"] != "none"):
        found.append("not tuned")
    if outcome is not None:
        held = [key for key in tunable if not isinstance(outcome["tune"].get(key), list)]
        found += [f"held fixed in tuning: {', '.join(held)}"] if held else []
    if row["at_edge"]:
        matters = "no setting inside the range is as good" if row["edge_matters"] else "a setting inside is as good"
        found.append(f"best at the edge of its range: {row['at_edge']} ({matters})")
    return "; ".join(found)


def to_tune(algorithm) -> list[str]:
    """The penalty or prior of an algorithm, which its author would tune beside the multiplier of its bonus or noise."""
    return [entry["name"] for entry in describe(agents.registry.module(algorithm).Parameters) if entry["ridge"]]
