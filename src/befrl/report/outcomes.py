"""Who wins: regret in all cases in one table, and the table and the figures of each case."""

from befrl.analysis import tuning_loss
from befrl.analysis.regret_columns import SUMMARY
from befrl.report import wording
from befrl.report.tables import case_title, pattern, records, split, table

ROLES = ("tuned", "set", "theory", "surrogate", "baseline")  # in this order; the points of a sweep are not shown
OUTCOME = {  # column of the summary: its heading
    "agent": "agent", "role": "constants", "setting": "setting", "group": "group", "mean": "mean", "low": "low",
    "high": "high", "q50": "median", "q10": "10 %", "q90": "90 %", "failed": "failed %", "failed_low": "from %",
    "failed_high": "to %", "slope": "slope", "optimistic": "optimistic %", "remarks": "remarks",
}  # fmt: skip
SHARES = ("failed", "failed_low", "failed_high", "optimistic")


def winners(summaries, layout, anchors) -> dict:
    """Regret over that of random play, a row for each agent and kind of constants and a column for each case.

    A star marks what is not significantly different from the best: it shares a letter with the first of its family.
    """
    found: dict[tuple[str, str], dict] = {}
    names, files = [], []
    for instance, track, part in split(summaries, SUMMARY):
        random = part.loc[part["agent"] == "random", "mean"]
        part = part[part["role"].isin(ROLES)].sort_values("mean", kind="stable")
        if random.empty:
            continue
        names.append(f"{instance} {track}")
        files.append(layout.regret("summary", instance, track))
        for family in (part["role"] == "tuned", part["role"] != "tuned"):
            letters = part.loc[family, "group"].astype(object).fillna("").astype(str)
            best = set(next(filter(None, letters), ""))
            for row in part[family].itertuples():
                share = wording.number(row.mean / random.iloc[0], 2)
                star = "*" if best & set(str(row.group)) and isinstance(row.group, str) else ""
                found.setdefault((row.agent, row.role), {})[names[-1]] = (row.mean / random.iloc[0], share + star)
    order = sorted(found, key=lambda key: (ROLES.index(key[1]), _typical(found[key].values())))
    rows = [
        {"agent": agent, "constants": role} | {name: found[agent, role].get(name, (0, ""))[1] for name in names}
        for agent, role in order
    ]
    return table("Regret in every case, random play = 1", rows, anchors, file=pattern(files))


def _typical(values):
    """The median of some shares of the regret of random play."""
    return sorted(share for share, _ in values)[len(values) // 2]


def cases(summaries, drawn, layout, anchors):
    """Each instance and track with its table, best mean first and rows without a mean last, and its figures."""
    for instance, track, part in split(summaries, (*SUMMARY, "specification")):
        name = f"{instance}_{track}"
        own = set(part.loc[part["role"] == "surrogate", "agent"])
        words = part["remarks"].astype(object).fillna("").astype(str)
        words += part["agent"].map(lambda agent, own=own: "; surrogate constants" if agent in own else "")
        words += part["specification"].map({"misspecified": "; misspecified"}).fillna("")
        part = part.assign(remarks=words.str.removeprefix("; "), **{key: 100 * part[key] for key in SHARES})
        shown = part[part["role"].isin(ROLES)].sort_values(["mean", "agent", "setting"], kind="stable")
        undetected = max(shown["failed_high"][shown["failed"] == 0], default=None)
        tuned = part[part["role"] == "tuned"]
        notes = (
            [f"Where no seed failed, a failure rate of up to {undetected:.1f} % cannot be excluded."]
            if undetected
            else []
        )
        notes.append(tuning_loss.sentence(instance, track, dict(zip(tuned["agent"], tuned["setting"], strict=True))))
        if len(part) > len(shown):
            notes.append(f"Not shown: {wording.count(len(part) - len(shown), 'point')} of sweeps.")
        rows = records(shown, OUTCOME)
        file = layout.regret("summary", instance, track)
        yield {
            "anchor": anchors.new("case", f"{instance} {track}"),
            "title": case_title(instance, track),
            "size": ", ".join(filter(None, (wording.span(shown[f"{thing}s"], thing) for thing in ("episode", "seed")))),
            "table": table(f"{instance} {track}", rows, anchors, "regret", " ".join(filter(None, notes)), file),
            "figures": [figure for figure in drawn if figure["name"].partition("_")[2] == name],
        }
