"""The summary of one run, which `befrl run` prints."""

import numpy as np

from befrl.analysis.intervals import mean_interval
from befrl.analysis.statistics import without_rounding
from befrl.experiment import certificates

SHOWN = ("instance", "instance_parameters", "track", "ties", "algorithm", "episodes", "seeds", "optimal_value")
QUANTILES = (0.1, 0.5, 0.9)


def summary(log, meta, level) -> dict:
    """For every setting the mean over seeds of the final regret, its interval, its quantiles, and its certificates."""
    finals, variants = without_rounding(log["regret"].sum(2)), []
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
                "certificates": _certificates({key: log[key][i] for key in ("regret", "certificate")}, meta, i),
            }
        )
    found = {key: meta[key] for key in SHOWN} | {"level": level, "variants": variants}
    found |= {key: meta[key] for key in ("until_certified",) if key in meta}
    return found | {key: meta[key] for key in ("seconds", "steps_per_second")}


def _certificates(log, meta, i):
    """The mean sum of the certificates of a setting, H K, and the seeds in which one is broken; None without any."""
    if not certificates.given(log):
        return None
    return {
        "certified": float(log["certificate"].sum(1, dtype=float).mean()),
        "trivial": meta["horizon"] * meta["episodes"],
        "broken_seeds": int(certificates.broken(log, meta["horizon"]).any(1).sum()),
        "delta": certificates.failure_rate(meta["facts"][i], meta["specification"][i]),
    }
