"""The summary of one run, which `befrl run` prints."""

import numpy as np

from befrl.analysis.intervals import mean_interval

SHOWN = ("instance", "instance_parameters", "track", "ties", "algorithm", "episodes", "seeds")
QUANTILES = (0.1, 0.5, 0.9)


def summary(finals, meta, level) -> dict:
    """For every setting the mean over seeds of the final regret (settings, seeds), its interval, and its quantiles."""
    variants = []
    for i, label in enumerate(meta["labels"]):
        interval = [float(end) for end in mean_interval(finals[i], level, least=0.0)]
        variants.append(
            {
                "label": label,
                "parameters": meta["settings"][i],
                "derived": meta["facts"][i],
                "final_regret": finals[i].tolist(),
                "mean": float(finals[i].mean()),
                "interval": interval if len(finals[i]) > 1 else None,
                "quantiles": {f"{q:g}": float(np.quantile(finals[i], q)) for q in QUANTILES},
            }
        )
    found = {key: meta[key] for key in SHOWN} | {"V_star": meta["optimal_value"], "level": level, "variants": variants}
    return found | {key: meta[key] for key in ("seconds", "steps_per_second")}
