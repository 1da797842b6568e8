"""From runs to tidy tables: one case, an (instance, track), at a time.

The best point of each grid is chosen by mean regret on the tuning seeds; every number in the tables is of the
evaluation seeds, but for the column that says what the choice was made by, and the timings. These stand apart, so that
the other tables are the same whenever they are made.
"""

import dataclasses
import zlib

import numpy as np

from befrl import agents
from befrl.analysis import statistics
from befrl.common import tidy
from befrl.common.errors import InputError
from befrl.experiment import run_file

POINTS = 100
# What all runs of a case have in common.
CASE = ("instance", "family", "instance_parameters", "track", "episodes", "root_seed")


def collect(paths):
    """Runs of one case by label, their blocks put together in the order of the seeds."""
    if not paths:
        raise InputError("no run files were named: give labels and the blocks of their seeds")
    blocks = {}
    for path in paths:
        log, meta = run_file.load(path)
        blocks.setdefault(meta["label"], []).append((meta, log))
    first = next(iter(blocks.values()))[0][0]
    found = {}
    for label, parts in blocks.items():
        parts.sort(key=lambda part: part[0]["seeds"][0])
        for meta, _ in parts:
            _same(meta, first, CASE, "aggregate one case only")
            _same(meta, parts[0][0], ("algorithm", "parameters"), "a label means one setting")
        log = {key: np.concatenate([part[1][key] for part in parts]) for key in ("regret", "optimism", "saturated")}
        log["seeds"] = np.concatenate([part[0]["seeds"] for part in parts])
        if len(np.unique(log["seeds"])) < len(log["seeds"]):
            raise InputError(f"runs of '{label}' share seeds: name each block once, and none that overlap")
        weights = np.array([len(part[0]["seeds"]) for part in parts])
        log |= {key: np.average([part[1][key] for part in parts], axis=0, weights=weights) for key in run_file.COST}
        found[label] = (parts[0][0], log)
    return found


def _same(meta, other, keys, advice):
    for key in keys:
        if meta[key] != other[key]:
            raise InputError(f"runs of '{meta['label']}' and '{other['label']}' differ in {key}: {advice}")


def aggregate(paths, tuning, resamples, level):
    """The tables of a case as CSV texts; seeds below `tuning` choose the grid's best points."""
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
    paired = [
        {"instance": meta["instance"], "track": meta["track"], "first": a, "second": b}
        | _difference(finals[a] - finals[b], weights, level)
        for i, a in enumerate(shown)
        for b in shown[i + 1 :]
    ]
    return {
        "summary": tidy.text(rows, tidy.SUMMARY),
        "curves": tidy.text(curves, tidy.CURVES),
        "paired": tidy.text(paired, tidy.PAIRED),
        "timings": tidy.text(timings, tidy.TIMINGS),
    }


def _common_seeds(case, tuning):
    shared = None
    for label, (_, log) in case.items():
        seeds = log["seeds"][log["seeds"] >= tuning]
        if shared is not None and not np.array_equal(seeds, shared):
            raise InputError(f"runs of '{label}' are of other evaluation seeds than the rest: run the missing blocks")
        shared = seeds
    if not len(shared):
        raise InputError(f"there are no evaluation seeds: all seeds of the runs are below tuning = {tuning}")
    return shared


def _roles(case, tuning):
    """Agent, role, parameter, value, tuning mean and edge of every label."""
    found, by_agent = {}, {}
    for label, (meta, log) in case.items():
        # A point of a grid is labelled agent@parameter=value.
        agent, at, point = label.partition("@")
        entry = {
            "agent": agent,
            "algorithm": meta["algorithm"],
            "setting": _setting(meta, point.partition("=")[0]),
            "fit": meta["fit"],
            "parameter": "",
            "value": np.nan,
            "tuning_mean": np.nan,
            "at_edge": False,
        }
        if at:
            parameter = point.partition("=")[0]
            value = meta["parameters"][parameter]
            held_out = log["regret"][log["seeds"] < tuning]
            if not len(held_out):
                raise InputError(f"runs of '{label}' have no tuning seeds: run seeds 0-{tuning - 1} too")
            entry |= {"parameter": parameter, "value": value, "role": "grid"}
            entry["tuning_mean"] = held_out.sum(1).mean()
            by_agent.setdefault(agent, []).append(label)
        else:
            entry["role"] = {"none": "baseline", "surrogate": "theory"}.get(meta["constants"], meta["constants"])
        found[label] = entry
    for agent, labels in by_agent.items():
        best = min(labels, key=lambda label: found[label]["tuning_mean"])
        found[best]["role"] = "tuned"
        values = [found[label]["value"] for label in labels]
        found[best]["at_edge"] = found[best]["value"] in (min(values), max(values))
        if agent in found:
            parameter = found[best]["parameter"]
            found[agent]["parameter"] = parameter
            given = case[agent][0]["parameters"].get(parameter)
            found[agent]["value"] = case[agent][0]["facts"].get(parameter, 1.0 if given == "theory" else given)
    return found


def _setting(meta, varied):
    """The parameters that differ from the algorithm's defaults, but for the one that a grid varies."""
    default = dataclasses.asdict(agents.parameters(meta["algorithm"], {}))
    given = {key: value for key, value in meta["parameters"].items() if key != varied and value != default[key]}
    return " ".join(f"{key}={value}" for key, value in given.items())


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
    }


def _cost(log):
    """Seconds, how they grow, and plans."""
    seconds = {key: log[key].mean() for key in run_file.SECONDS}
    by_episode = sum(log[key] for key in run_file.SECONDS)
    return {
        "seeds": len(log["seeds"]),
        **seconds,
        "seconds_per_episode": sum(seconds.values()),
        "exponent_k": statistics.time_exponent(by_episode),
        "plans": log["plans"].mean(),
    }


def _curve(cumulative, optimal_value, weights, level):
    K = cumulative.shape[1]
    # Evenly spaced for the eye on a linear axis, and for the early episodes on a logarithmic one.
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
