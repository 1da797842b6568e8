"""Tables of a case (instance, track) from its run files, over the evaluation seeds, and from its tuning outcomes."""

from pathlib import Path

import numpy as np

from befrl.analysis import certificates, comparisons, intervals, regret_columns, remarks, statistics
from befrl.common import tidy
from befrl.common.errors import InputError
from befrl.experiment import run_file, settings, tuning
from befrl.experiment.certificates import given

# Shared by all runs of a case, and `identity` up to rounding.
CASE = ("instance", "family", "instance_parameters", "track", "horizon", "episodes", "root_seed", "ties")
ROUNDING = 1e-8  # largest difference of the identities of an instance on different processors
FAMILIES = ("tuned", "theory")  # comparisons of agents with tuned and with theoretical constants


def collect(paths):
    """Yield the variants in some run files, see `variants_of`, one agent at a time to save memory."""
    if not paths:
        raise InputError("no run files were named: give agents and the batches of their seeds")
    by_agent, first = {}, None
    for path in map(Path, paths):
        by_agent.setdefault(path.parent.name, []).append(path)
    for own in by_agent.values():
        runs = [run_file.load(path) for path in own]
        for path, (_, meta) in zip(own, runs, strict=True):
            _check_name(path, meta)
        first = first or runs[0][1]
        yield from variants_of(runs, first)


def variants_of(runs, first):
    """Yield label, (meta, log) of each variant in `runs`, (log, meta) of one agent; `first` is a meta of the case."""
    logs, metas = zip(*sorted(runs, key=lambda run: run[1]["seeds"][0]), strict=True)
    meta = metas[0]
    for log, each in zip(logs, metas, strict=True):
        check_case(each, first)
        check_agent(each, meta)
        if (least := run_file.negative(log["regret"], meta["horizon"], meta["optimal_value"])) is not None:
            raise InputError(f"runs of '{meta['labels'][0]}' have the regret {least:g}, and none can be negative")
    seeds = np.concatenate([each["seeds"] for each in metas])
    if len(np.unique(seeds)) < len(seeds):
        raise InputError(f"runs of '{meta['labels'][0]}' share seeds: name each batch once, and none that overlap")
    weights = np.array([len(each["seeds"]) for each in metas])
    cost = {key: np.average([log[key] for log in logs], axis=0, weights=weights) for key in run_file.COST}
    cost |= {"batches": len(runs), "wall_seconds": sum(each["seconds"] for each in metas), "seeds": seeds}
    for i, label in enumerate(meta["labels"]):
        own = {key: value[i] if key in run_file.BY_LABEL else value for key, value in meta.items()}
        yield label, (own, {key: np.concatenate([log[key][i] for log in logs]) for key in run_file.LOGGED} | cost)


def _check_name(path, meta):
    agent, seeds = meta["labels"][0], meta["seeds"]
    if agent != path.parent.name:
        raise InputError(f"{path}: it is a run of '{agent}', not of '{path.parent.name}': delete it and run again")
    if path.stem != f"{seeds[0]}-{seeds[-1]}":
        raise InputError(f"{path}: it is not a run of the seeds {path.stem}: delete it and run again")


def check_case(meta, other):
    """Raise unless two runs are of the same case."""
    _same(meta, other, CASE, "aggregate one case only")
    if not np.allclose(meta["identity"], other["identity"], rtol=ROUNDING, atol=ROUNDING):
        runs = f"runs of '{meta['labels'][0]}' and '{other['labels'][0]}'"
        named = f"of two different instances named '{meta['instance']}'"
        raise InputError(f"{runs} are {named}: their transitions, rewards or starts differ")


def check_agent(meta, other):
    """Raise unless two runs are of the same agent in the same settings."""
    _same(meta, other, ("algorithm", "labels", "settings"), "a label means one setting")


def _same(meta, other, keys, advice):
    for key in keys:
        if meta[key] != other[key]:
            raise InputError(f"runs of '{meta['labels'][0]}' and '{other['labels'][0]}' differ in {key}: {advice}")


def aggregate(paths, outcomes, level):
    """The tables of a case as CSV texts by name; `outcomes` are the results of `tuning.halve` by agent."""
    if not 0 < level < 1:
        raise InputError(f"level = {level} is not allowed: it must be a number between 0 and 1")
    rows = tables(collect(paths), outcomes, level)
    return {name: tidy.text(part, getattr(regret_columns, name.upper())) for name, part in rows.items()}


def finals(paths):
    """The cumulative regret of each agent but the oracle after K episodes, (seeds,): tuned, if it was tuned."""
    found = {}
    for label, (meta, log) in collect(paths):
        agent, role, _ = settings.split(label)
        if role in ("", "tuned") and meta["algorithm"] != "oracle":  # the tuned variant comes after the agent's own
            found[agent] = log["regret"].sum(1)
    return found


def tables(variants, outcomes, level):
    """The rows of each table of a case by name, from the variants of all its agents, see `variants_of`."""
    rows, curves, timings, finals, metas, seeds = [], [], [], {}, {}, None
    certified, certified_curves = [], []
    for label, (meta, log) in variants:
        agent = settings.split(label)[0]
        outcome = outcomes.get(agent)
        for key in ("algorithm", "instance", "track") if outcome else ():
            if outcome[key] != meta[key]:
                wrong = f"the runs of '{agent}' have {key} '{meta[key]}' and its tuning has '{outcome[key]}'"
                raise InputError(f"{wrong}: delete both and run again")
        if seeds is not None and not np.array_equal(log["seeds"], seeds):
            raise InputError(f"runs of '{label}' are of other evaluation seeds than the rest: run the missing batches")
        seeds, metas[label] = log["seeds"], meta
        cumulative = statistics.without_rounding(log["regret"].cumsum(1))
        finals[label] = cumulative[:, -1].copy()  # a view would keep all episodes in memory
        names = {"instance": meta["instance"], "track": meta["track"], "variant": label}
        names |= _role(label, meta, outcome, level)
        row = names | _summary(meta, log, cumulative, level)
        row["remarks"] = remarks.of(row, meta, outcome)
        rows.append(row)
        curves += [names | point for point in _curve(cumulative, meta["optimal_value"], level)]
        if given(log):
            certified.append(names | certificates.row(meta, log, level))
            certified_curves += [names | point for point in certificates.curve(log)]
        if label == agent:
            timings.append(names | _cost(meta, log))
    names = {"instance": meta["instance"], "track": meta["track"]}
    paired, order = [], []
    for family in FAMILIES:
        compared = _compared(rows, family)
        if not compared:  # only the oracle has been played
            continue
        adjusted = comparisons.adjusted_p_values(np.stack([finals[row["variant"]] for row in compared], axis=1))
        paired += [names | {"family": family} | row for row in _pairs(compared, finals, adjusted, level)]
        order += [names | {"family": family} | row for row in _order(compared, finals, adjusted, level)]
    theory = {row["variant"] for row in rows if row["role"] == "theory"} & {row["variant"] for row in certified}
    for first in (row for row in rows if row["variant"] in theory):
        paired += [names | {"family": "certified"} | row for row in _against_tuned(first, rows, finals, level)]
    groups = {row["variant"]: row["group"] for row in order}
    rows = [row | {"group": groups.get(row["variant"], "")} for row in rows]
    tuned = [names | row for agent, each in outcomes.items() for row in tried(agent, each, metas[agent]["settings"])]
    found = dict(summary=rows, curves=curves, paired=paired, order=order, tuning=tuned, timings=timings)
    return found | {"certificates": certified, "certificate_curves": certified_curves}


def _role(label, meta, outcome, level):
    agent, role, _ = settings.split(label)
    swept = next((settings.split(other)[2] for other in reversed(meta["labels"]) if "=" in other), None)
    value = meta["facts"].get(swept, meta["settings"].get(swept)) if role in ("", "sweep") else None
    value = 1.0 if value == "theory" else value  # a scale of 1 gives the theoretical constant
    entry = {
        "agent": agent,
        "algorithm": meta["algorithm"],
        "setting": settings.setting_text(meta["algorithm"], meta["settings"]),
        "specification": meta["specification"],
        "role": role or ("baseline" if meta["constants"] == "none" else meta["constants"]),
        "parameter": swept if value is not None else "",
        "value": np.nan if value is None else value,
        "tuning_mean": np.nan,
        "at_edge": "",
        "edge_matters": False,
    }
    if role == "tuned" and outcome:
        number = outcome["chosen"][role]
        entry["tuning_mean"] = outcome["configurations"][number]["mean"]
        entry["at_edge"] = ", ".join(tuning.edges(outcome, number))
        # An edge matters if all configurations inside the ranges are significantly worse on the tuning seeds.
        regrets = {int(key): np.array(each) for key, each in outcome["regrets"].items()}
        worse = [each - regrets[number] for key, each in regrets.items() if not tuning.edges(outcome, key)]
        clear = (intervals.mean_interval(each, level)[0] > 0 for each in worse)
        entry["edge_matters"] = bool(entry["at_edge"]) and all(clear)
    return entry


def _over_seeds(values, level):
    quantiles = zip(("q10", "q50", "q90"), np.quantile(values, [0.1, 0.5, 0.9], axis=0), strict=True)
    return intervals.mean_with_interval(values, level, least=0.0) | dict(quantiles)


def _summary(meta, log, cumulative, level):
    names = ("optimistic", "optimistic_low", "optimistic_high")
    row = dict.fromkeys((*names, "saturated"), np.nan)
    if np.isfinite(log["optimism"]).all():
        shares = (log["optimism"] >= 0).mean(1)
        row |= intervals.share_with_interval(shares, level, names)
    if np.isfinite(log["saturated"]).all():
        row["saturated"] = log["saturated"].mean(dtype=float)
    failed = statistics.failed(log["regret"], meta["optimal_value"] - meta["uniform_value"])
    failed_low, failed_high = intervals.clopper_pearson(failed.sum(), len(failed), level)
    return row | {
        "seeds": len(cumulative),
        "episodes": meta["episodes"],
        **_over_seeds(cumulative[:, -1], level),
        "failed": failed.mean(),
        "failed_low": failed_low,
        "failed_high": failed_high,
        "slope": statistics.slope(cumulative.mean(0)),
        "tied": log["tied"].mean(dtype=float),
        "changed": log["changed"][:, 1:].mean(dtype=float),
        "plans": log["plans"].mean(dtype=float),
    }


def _cost(meta, log):
    """Seconds per episode of all variants of an agent together, their growth, and the wall-clock time of the runs."""
    seconds = {key: log[key].mean(dtype=float) for key in run_file.SECONDS}
    return {
        "rows": len(meta["labels"]) * len(log["seeds"]),
        **seconds,
        "seconds_per_episode": sum(seconds.values()),
        "exponent_k": statistics.time_exponent(sum(log[key] for key in run_file.SECONDS)),
        "batches": log["batches"],
        "wall_seconds": log["wall_seconds"],
    }


def _curve(cumulative, optimal_value, level):
    k = run_file.marks(cumulative.shape[1])
    values = cumulative[:, k - 1]
    returns = optimal_value - np.diff(values, axis=1, prepend=0.0) / np.diff(k, prepend=0)
    columns = {"episode": k} | _over_seeds(values, level)
    columns |= intervals.mean_with_interval(returns, level, ("return", "return_low", "return_high"))
    return [dict(zip(columns, point, strict=True)) for point in zip(*columns.values(), strict=True)]


def _compared(rows, family):
    """One row per agent without the oracle, best mean first; in family "tuned" the tuned variant, if any."""
    shown = [row for row in rows if row["role"] == family == "tuned"]
    tuned = {row["agent"] for row in shown}
    shown += [row for row in rows if row["variant"] == row["agent"] and row["agent"] not in tuned]
    shown = [row for row in shown if row["algorithm"] != "oracle"]
    return sorted(shown, key=lambda row: float(f"{row['mean']:.10g}"))  # equal up to rounding: the config's order


def _pairs(compared, finals, adjusted, level):
    for i, row in enumerate(compared):
        for j in range(i + 1, len(compared)):
            yield _pair(row["variant"], compared[j]["variant"], finals, adjusted[i, j], level)


def _against_tuned(first, rows, finals, level):
    """An agent with theoretical constants and certificates against the tuned variants of all others."""
    rivals = [row["variant"] for row in rows if row["role"] == "tuned" and row["agent"] != first["agent"]]
    if rivals:
        regrets = np.stack([finals[rival] for rival in rivals], axis=1)
        for rival, p in zip(rivals, comparisons.adjusted_against(finals[first["variant"]], regrets), strict=True):
            yield _pair(first["variant"], rival, finals, p, level)


def _pair(first, second, finals, p, level):
    difference = finals[first] - finals[second]
    entry = {"first": first, "second": second}
    entry |= intervals.mean_with_interval(difference, level, ("difference", "low", "high"))
    return entry | {"share_first_better": (difference < 0).mean(), "p": p}


def _order(compared, finals, adjusted, level):
    letters = comparisons.groups(adjusted, level)
    for i, row in enumerate(compared):
        entry = {"place": i + 1, "agent": row["agent"], "variant": row["variant"], "group": letters[i]}
        if i:
            better = compared[i - 1]["variant"]
            difference, scale = finals[row["variant"]] - finals[better], max(row["mean"], statistics.NO_REGRET)
            gaps = intervals.mean_with_interval(difference, level, ("gap", "gap_low", "gap_high"))
            entry |= {"better": better, **{gap: value / scale for gap, value in gaps.items()}, "p": adjusted[i - 1, i]}
        yield entry


def tried(agent, outcome, values):
    """The rows of the table `tuning` of an agent, without its case; `values` are those of its other parameters."""
    chosen = {number: role for role, number in reversed(outcome["chosen"].items())}
    ranks = np.argsort(np.argsort([each["first_mean"] for each in outcome["configurations"]], kind="stable"))
    for number, each in enumerate(outcome["configurations"]):
        yield {
            "agent": agent,
            "algorithm": outcome["algorithm"],
            "configuration": number + 1,
            "setting": settings.setting_text(outcome["algorithm"], values | each["values"]),
            **{key: each[key] for key in ("rung", "seeds", "mean", "first_mean")},
            "rank": int(ranks[number]) + 1,
            "chosen": chosen.get(number, ""),
        }
