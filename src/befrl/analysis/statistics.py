"""Statistics over seeds: log-log slopes, failures, quantiles over repetitions. Intervals are in `intervals.py`."""

import numpy as np

NO_REGRET = 1e-6  # a cumulative regret up to this is rounding
EVERYWHERE = 0.99  # an agent ties everywhere if more than this share of its plans' entries do


def without_rounding(regret):
    """Cumulative regret, or differences of it, with zeros where there is nothing but rounding errors."""
    return np.where(np.abs(regret) <= NO_REGRET, 0.0, regret)


def slope(curve):
    """Least-squares slope of log cumulative regret against log k, over the second half of the episodes; NaN if none."""
    K = len(curve)
    k = np.unique(np.geomspace(max(1, K // 2), K, num=64).astype(int))
    y = curve[k - 1]
    if len(k) < 2 or np.any(y <= 1e-9):
        return float("nan")
    return round(float(np.polyfit(np.log(k), np.log(y), 1)[0]), 9)


def time_exponent(seconds):
    """Power of k with which seconds per episode (K,) grow from the second to the last tenth; NaN if K < 20."""
    tenth = len(seconds) // 10
    if tenth < 2:
        return float("nan")
    early, late = np.median(seconds[tenth : 2 * tenth]), np.median(seconds[-tenth:])
    return float(np.log(late / early) / np.log(9.5 / 1.5))


def failed(regret, uniform_regret):
    """Which seeds failed to learn: those with mean regret in the last tenth above half that of random play."""
    last = max(1, regret.shape[1] // 10)
    return regret[:, -last:].mean(1) > 0.5 * uniform_regret


def spread(rows, keys, count, values) -> list[dict]:
    """Median, 10 % and 90 % quantile of some `values` over the rows that share the `keys`, and their number `count`."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    found = []
    for key, group in groups.items():
        entry = dict(zip(keys, key, strict=True)) | {count: len(group)}
        for name in values:
            column = [row[name] for row in group]
            with np.errstate(invalid="ignore"):  # interpolation between infinite errors is undefined
                low, high = np.quantile(column, [0.1, 0.9]).tolist()
            entry |= {name: float(np.median(column)), f"{name}_low": low, f"{name}_high": high}
        found.append(entry)
    return found
