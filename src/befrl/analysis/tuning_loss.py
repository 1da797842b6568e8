"""What tuning lost: the chosen configurations against the best ones on fresh seeds, by `tools/tuning_loss.py`."""

import numpy as np

from befrl.analysis.columns import read_data


def sentence(instance, track, chosen: dict[str, str]) -> str:
    """The losses of a case in words; empty if none was measured for the settings {agent: setting} chosen there."""
    rows = [
        row
        for row in read_data("tuning_loss.csv")
        if (row["instance"], row["track"]) == (instance, track) and chosen.get(row["agent"]) == row["chosen"]
    ]
    if not rows:
        return ""
    losses = np.array([float(row["loss"]) for row in rows])
    middle, most = np.quantile(losses, (0.5, 0.9))
    return (
        f"What tuning lost: on {rows[0]['seeds']} fresh seeds the chosen configurations of {len(rows)} agents have a "
        f"median of {middle:.2f} times the regret of the best of those tried, nine tenths of them at most {most:.2f} "
        f"times, and {rows[losses.argmax()]['agent']} {losses.max():.2f} times. This was measured once, for the same "
        "choices."
    )
