"""The tables of a case, that is of an instance and a track, from its run files.

The best point of each grid is chosen by its mean regret on the tuning seeds. All other numbers are of the evaluation
seeds, except the counted plans and the measured seconds, which are of all seeds. Seconds have a table of their own:
every other table depends on code and config alone.
"""

import zlib

import numpy as np

from befrl.analysis import regret_columns, statistics
from befrl.common import tidy
from befrl.common.errors import InputError
from befrl.experiment import run_file, settings

POINTS = 100
# Keys of the meta that all runs of a case share.
CASE = ("instance", "family", "instance_parameters", "track", "episodes", "root_seed")


def collect(paths):
    """The runs of one case by label, with their batches concatenated in the order of the seeds."""
    if not paths:
        raise InputError("no run files were named: give labels and the batches of their seeds")
    batches = {}
    for path in paths:
        log, meta = run_file.load(path)
        batches.setdefault(meta["label"], []).append((meta, log))
    first = next(iter(batches.values()))[0][0]
    found = {}
    for label, parts in batches.items():
        parts.sort(key=lambda part: part[0]["seeds"][0])
        for meta, _ in parts:
            _same(meta, first, CASE, "aggregate one case only")
            _same(meta, parts[0][0], ("algorithm", "parameters"), "a label means one setting")
        log = {key: np.concatenate([part[1][key] for part in parts]) for key in ("regret", "optimism", "saturated")}
        log["seeds"] = np.concatenate([part[0]["seeds"] for part in parts])
        if len(np.unique(log["seeds"])) < len(log["seeds"]):
            raise InputError(f"runs of '{label}' share seeds: name each batch once, and none that overlap")
        weights = np.array([len(part[0]["seeds"]) for part in parts])
        log |= {key: np.average([part[1][key] for part in parts], axis=0, weights=weights) for key in run_file.COST}
        log |= {"batches": len(parts), "wall_seconds": sum(part[0]["seconds"] for part in parts)}
        found[label] = (parts[0][0], log)
    return found


def _same(meta, other, keys, advice):
    for key in keys:
        if meta[key] != other[key]:
            raise InputError(f"runs of '{meta['label']}' and '{other['label']}' differ in {key}: {advice}")


def aggregate(paths, tuning, resamples, level):
    """The tables of a case as CSV texts by name; seeds below `tuning` decide the best point of each grid."""
    if not 0 < level < 1:
        raise InputError(f"level = {level} is not allowed: it must be a number between 0 and 1")
    case = collect(paths)
    meta = next(iter(case.values()))[0]
    evaluation = _common_seeds(case, tuning)
    # The name keys the resampling, so that a table depends on nothing but its own runs.
    rng = np.random.default_rng([meta["root_seed"], zlib.crc32(f"{meta['instance']}/{meta['track']}".encode())])
    weights = statistics.resampling_weights(len(evaluation), resamples, rng)
    roles = _roles(case, tuning)
    rows, curves, timings, finals = [], [], [], {}
    for label, (meta, log) in case.items():
        shown = np.isin(log["seeds"], evaluation)
        regret = log["regret"][shown]
        cumulative = regret.cumsum(1)
        finals[label] = cumulative[:, -1]
        names = {"instance": meta["instance"], "track": meta["track"], "variant": label, **roles[label]}
        rows.append(names | _summary(meta, log, shown, cumulative, weights, level))
        curves += [names | point for point in _curve(cumulative, meta["optimal_value"], weights, level)]
        timings.append(names | _cost(log))
    shown = [row["variant"] for row in rows if row["role"] != "grid"]
    names = {"instance": meta["instance"], "track": meta["track"]}
    paired = [
        names | {"first": a, "second": b} | _difference(finals[a] - finals[b], weights, level)
        for i, a in enumerate(shown)
        for b in shown[i + 1 :]
    ]
    order = [names | row for row in _order(rows, finals, weights, level)]
    return {
        "summary": tidy.text(rows, regret_columns.SUMMARY),
        "curves": tidy.text(curves, regret_columns.CURVES),
        "paired": tidy.text(paired, regret_columns.PAIRED),
        "order": tidy.text(order, regret_columns.ORDER),
        "timings": tidy.text(timings, regret_columns.TIMINGS),
    }


def _common_seeds(case, tuning):
    shared = None
    for label, (_, log) in case.items():
        seeds = log["seeds"][log["seeds"] >= tuning]
        if shared is not None and not np.array_equal(seeds, shared):
            raise InputError(f"runs of '{label}' are of other evaluation seeds than the rest: run the missing batches")
        shared = seeds
    if not len(shared):
        raise InputError(f"there are no evaluation seeds: all seeds of the runs are below tuning = {tuning}")
    return shared


def _roles(case, tuning):
    """Agent, setting, role, parameter, value, tuning mean and edge of every label."""
    found, by_agent = {}, {}
    for label, (meta, log) in case.items():
        agent, parameter = settings.split(label)
        entry = {
            "agent": agent,
            "algorithm": meta["algorithm"],
            "setting": settings.setting_text(meta["algorithm"], meta["parameters"], varied=parameter),
            "specification": meta["specification"],
            "role": "baseline" if meta["constants"] == "none" else meta["constants"],
            "parameter": "",
            "value": np.nan,
            "tuning_mean": np.nan,
            "at_edge": False,
        }
        if parameter is not None:
            held_out = log["regret"][log["seeds"] < tuning]
            if not len(held_out):
                raise InputError(f"runs of '{label}' have no tuning seeds: run seeds 0-{tuning - 1} too")
            entry |= {"parameter": parameter, "value": meta["parameters"][parameter], "role": "grid"}
            entry["tuning_mean"] = held_out.sum(1).mean()
            by_agent.setdefault(agent, []).append(label)
        found[label] = entry
    for agent, labels in by_agent.items():
        # Of equally good points the smallest value, whatever the order of the grid.
        best = min(labels, key=lambda label: (found[label]["tuning_mean"], found[label]["value"]))
        found[best]["role"] = "tuned"
        values = [found[label]["value"] for label in labels]
        found[best]["at_edge"] = found[best]["value"] in (min(values), max(values))
        if agent in found:
            parameter = found[best]["parameter"]
            found[agent]["parameter"] = parameter
            given = case[agent][0]["parameters"].get(parameter)
            found[agent]["value"] = case[agent][0]["facts"].get(parameter, 1.0 if given == "theory" else given)
    return found


def _summary(meta, log, shown, cumulative, weights, level):
    final = cumulative[:, -1]
    low, high = statistics.bootstrap_mean(final, weights, level)
    q10, q50, q90 = np.quantile(final, [0.1, 0.5, 0.9])
    gap = log["optimism"][shown]
    row = {"optimistic": np.nan, "optimistic_low": np.nan, "optimistic_high": np.nan, "saturated": np.nan}
    if np.isfinite(gap).all():
        share = (gap >= 0).mean(1)
        bounds = statistics.bootstrap_mean(share, weights, level)
        row |= {"optimistic": share.mean(), "optimistic_low": bounds[0], "optimistic_high": bounds[1]}
    if np.isfinite(log["saturated"][shown]).all():
        row["saturated"] = log["saturated"][shown].mean()
    uniform_regret = meta["optimal_value"] - meta["uniform_value"]
    return row | {
        "seeds": len(final),
        "episodes": meta["episodes"],
        "mean": final.mean(),
        "low": low,
        "high": high,
        "q10": q10,
        "q50": q50,
        "q90": q90,
        "failed": statistics.failed(log["regret"][shown], uniform_regret).mean(),
        "slope": statistics.slope(cumulative.mean(0)),
        "plans": log["plans"].mean(),
    }


def _cost(log):
    """Seconds per episode, their growth, and the wall-clock time of the runs."""
    seconds = {key: log[key].mean() for key in run_file.SECONDS}
    by_episode = sum(log[key] for key in run_file.SECONDS)
    return {
        "seeds": len(log["seeds"]),
        **seconds,
        "seconds_per_episode": sum(seconds.values()),
        "exponent_k": statistics.time_exponent(by_episode),
        "batches": log["batches"],
        "wall_seconds": log["wall_seconds"],
    }


def _curve(cumulative, optimal_value, weights, level):
    K = cumulative.shape[1]
    # Points for a linear axis and, denser at the early episodes, for a logarithmic one.
    k = np.unique(np.concatenate([np.linspace(1, K, POINTS), np.geomspace(1, K, POINTS)]).round().astype(int))
    values = cumulative[:, k - 1]
    low, high = statistics.bootstrap_mean(values, weights, level)
    q10, q50, q90 = np.quantile(values, [0.1, 0.5, 0.9], axis=0)
    columns = {"episode": k, "mean": values.mean(0), "low": low, "high": high, "q10": q10, "q50": q50, "q90": q90}
    returns = optimal_value - np.diff(values, axis=1, prepend=0.0) / np.diff(k, prepend=0)
    low, high = statistics.bootstrap_mean(returns, weights, level)
    columns |= {"return": returns.mean(0), "return_low": low, "return_high": high}
    return [dict(zip(columns, point, strict=True)) for point in zip(*columns.values(), strict=True)]


def _difference(difference, weights, level):
    low, high = statistics.bootstrap_mean(difference, weights, level)
    better = (difference < 0).mean()
    return {"difference": difference.mean(), "low": low, "high": high, "share_first_better": better}


def _order(rows, finals, weights, level):
    """One row for each agent with regret, best mean first: its place and its relative gap to the agent before it."""
    tuned = {row["agent"] for row in rows if row["role"] == "tuned"}
    shown = [
        row
        for row in rows
        if row["mean"] > statistics.NO_REGRET
        and (row["role"] == "tuned" or (row["role"] != "grid" and row["agent"] not in tuned))
    ]
    # Means that differ by rounding only keep the order of the config.
    shown.sort(key=lambda row: float(f"{row['mean']:.10g}"))
    for place, row in enumerate(shown, start=1):
        entry = {"place": place, "agent": row["agent"], "variant": row["variant"]}
        if place > 1:
            better = shown[place - 2]["variant"]
            difference = _difference(finals[row["variant"]] - finals[better], weights, level)
            gaps = {"gap": "difference", "gap_low": "low", "gap_high": "high"}
            entry |= {"better": better} | {gap: difference[key] / row["mean"] for gap, key in gaps.items()}
        yield entry
