"""The data of each section of the page, from the results of a study; page.html.j2 lays them out."""

import base64
import functools
import hashlib
import itertools
import re
from pathlib import Path

import jinja2
import pandas as pd
import yaml
from markupsafe import Markup

from befrl.analysis import tuning_loss
from befrl.analysis.instance_table import ANSWER
from befrl.analysis.published import COLUMNS
from befrl.analysis.regret_columns import SUMMARY, TIMINGS
from befrl.report import ledger, svg, wording

HERE = Path(__file__).parent
WIDE = 360.0  # points: wider drawings take the whole width of the page
ROLES = ("tuned", "set", "theory", "surrogate", "baseline")  # in this order; the points of a sweep are not shown
TRACKS = {"K": "known rewards (track K)", "U": "unknown rewards (track U)"}
FILTERS = ("count", "duration", "mathematics", "paragraphs", "compact")
# Figures by section, leading ones inline; a name is that of a figure, or of its kind if there is one for each case.
LEAD = {
    "answer": ("noise-scale",),
    "winners": ("who-wins",),
    "theorem": ("claims-map", "bound", "rates"),
    "repair": ("certificate", "certified"),
    "cases": ("regret",),
}
MORE = {
    "theorem": ("traps", "noise-forms", "coverage-regions", "bad-rounds", "optimism", "optimism-episodes"),
    "repair": ("repairs",),
    "cases": ("ordering", "tuning"),
}
THEOREM = "C62"
# What the page shows of figures and instances, with default values.
FIGURE = {"title": "", "caption": "", "alternative": "", "command": "", "measured": False, "seeds": None}
FACTS = (
    "name",
    "family",
    "parameters",
    "horizon",
    "d",
    "n_cells",
    "n_actions",
    "optimal_value",
    "uniform_value",
    "gap",
)
OUTCOME = {  # column of the summary: its heading
    "agent": "agent", "role": "constants", "setting": "setting", "group": "group", "mean": "mean", "low": "low",
    "high": "high", "q50": "median", "q10": "10 %", "q90": "90 %", "failed": "failed %", "failed_low": "from %",
    "failed_high": "to %", "slope": "slope", "optimistic": "optimistic %", "remarks": "remarks",
}  # fmt: skip
SHARES = ("failed", "failed_low", "failed_high", "optimistic")
COST = {
    "agent": "agent", "seconds_per_episode": "ms per episode", "estimating": "estimating, ms",
    "planning": "planning, ms", "acting": "acting, ms", "exponent_k": "growth with k, power",
    "wall_seconds": "all runs, seconds",
}  # fmt: skip
IN_MILLISECONDS = ("seconds_per_episode", "estimating", "planning", "acting")
EXPLAINED = ("mean", "low", "failed", "failed_high", "slope", "optimistic", "tied", "changed", "remarks")


def build(
    *,
    config: dict,
    answers: list[str],
    instances: list[dict],
    summaries: list[pd.DataFrame],
    costs: list[pd.DataFrame],
    figures: list[dict],
    published: list[dict],
    claims: list[dict],
    versions: dict[str, str],
    hashes: dict[str, str],
    stages: list[dict],
) -> str:
    """The page as text; the same inputs give the same bytes.

    Measured seconds are in the section on cost alone: `costs`, `stages`, figures that are `measured`, and `timings` of
    published experiments. `failed` and `optimistic` are shares. Inputs may be empty. Unknown keys are ignored.
    """
    anchors = Anchors()
    drawn = figures_by_section(figures, anchors)
    claimed = ledger.prepared(claims, anchors)
    script = (HERE / "page.js").read_text(encoding="utf-8")
    minutes = sum(row["seconds"] for row in stages if not wording.missing(row.get("seconds")))
    return template().render(
        script=Markup(script),
        # By this hash a browser runs the page's own script and no other.
        script_hash=Markup("sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()),
        config=yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=100) if config else "",
        toy=bool(config.get("toy")),
        answers=[answer(line, {claim["id"] for claim in claims}) for line in answers],
        overview=overview(summaries),
        drawn=drawn,
        winners=winners(summaries, anchors),
        cases=list(cases(summaries, drawn.pop("cases", []), anchors)),
        level=f"{config['statistics']['level']:.0%}".replace("%", " %") if "statistics" in config else "95 %",
        meanings={OUTCOME.get(name, name): SUMMARY[name] for name in EXPLAINED},
        cost_meanings={COST[name]: TIMINGS[name] for name in COST if name != "agent"},
        costs=list(cost_tables(costs, anchors)),
        published=[prepared_experiment(experiment, anchors) for experiment in published],
        ledger=claimed,
        theorem=next((claim for claim in claimed["claims"] if claim["id"] == THEOREM), None),
        instances=instance_tables(instances, anchors),
        stages=table(
            "Stages", [{key: row.get(key) for key in ("stage", "jobs", "seconds")} for row in stages], anchors
        ),
        total=minutes,
        provenance=[
            table("Machine and versions", [{"what": key, "value": value} for key, value in versions.items()], anchors),
            table("Hashes", [{"of": key, "hash": value} for key, value in hashes.items()], anchors),
        ],
    )


@functools.cache
def template() -> jinja2.Template:
    """The template of the page, with its filters."""
    options = {"autoescape": True, "undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), **options)
    environment.filters |= {name: getattr(wording, name) for name in FILTERS}
    return environment.get_template("page.html.j2")


class Anchors:
    """Unique ids for the page's own elements; they have no '__', which marks ids inside drawings."""

    def __init__(self):
        self.given = set()

    def new(self, kind: str, name) -> str:
        wanted = f"{kind}-{wording.slug(name)}"
        names = (wanted if copy == 1 else f"{wanted}-{copy}" for copy in itertools.count(1))
        anchor = next(name for name in names if name not in self.given)
        self.given.add(anchor)
        return anchor


def answer(line, claims) -> dict:
    """A sentence that opens README as a tile: its bold beginning is the title; a link leads to one of the claims."""
    title, _, text = line.removeprefix("**").replace("`", "").partition("**")
    claim = re.search(r"\(\[(C\w+)\]\([^)]*\)\)", text)
    text = text.replace(claim[0], "").replace(" .", ".") if claim else text
    return {
        "title": title.rstrip("."),
        "text": text.strip(" ."),
        "claim": claim[1] if claim and claim[1] in claims else "",
    }


def table(title, rows, anchors, kind="table", note="", file="") -> dict:
    """A table as text: a line of headings and a line for each row, with tabs between the cells.

    The page's script makes a table of it that can be sorted, filtered and saved. `file` has all digits and columns.
    """
    columns = [_whole([row[key] for row in rows]) for key in rows[0]] if rows else []
    lines = [rows[0], *zip(*columns, strict=True)] if rows else []
    text = "\n".join("\t".join(" ".join(wording.number(cell).split()) for cell in line) for line in lines)
    return {
        "anchor": anchors.new(kind, title),
        "title": title,
        "text": text,
        "n": len(rows),
        "note": note,
        "file": file,
    }


def _whole(cells):
    """The cells of a column without decimals if all its numbers are whole: pandas makes floats of them."""
    numbers = [cell for cell in cells if isinstance(cell, float) and not wording.missing(cell)]
    if not all(number.is_integer() for number in numbers):
        return cells
    return [int(cell) if isinstance(cell, float) and not wording.missing(cell) else cell for cell in cells]


def overview(summaries) -> dict:
    """Numbers of agents, cases, seeds and episodes."""
    rows = pd.concat(summaries) if summaries else pd.DataFrame()
    rows = rows.reindex(columns=["instance", "track", "agent", "seeds", "episodes"])
    return {
        "agents": rows["agent"].nunique(),
        "cases": len(rows[["instance", "track"]].drop_duplicates()),
        "seeds": wording.span(rows["seeds"], "seed"),
        "episodes": wording.span(rows["episodes"], "episode"),
    }


def _split(frames, columns):
    """The rows of each instance and track; columns that a frame lacks are empty."""
    for frame in frames:
        frame = frame.reindex(columns=list(dict.fromkeys(columns)))
        for (instance, track), part in frame.groupby(["instance", "track"], sort=False, dropna=False):
            yield instance, track, part.assign(agent=part["agent"].astype(str))


def winners(summaries, anchors) -> dict:
    """Regret over that of random play, a row for each agent and kind of constants and a column for each case.

    A star marks what is not significantly different from the best: it shares a letter with the first of its family.
    """
    found: dict[tuple[str, str], dict] = {}
    names = []
    for instance, track, part in _split(summaries, SUMMARY):
        random = part.loc[part["agent"] == "random", "mean"]
        part = part[part["role"].isin(ROLES)].sort_values("mean", kind="stable")
        if random.empty:
            continue
        names.append(f"{instance} {track}")
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
    return table("Regret in every case, random play = 1", rows, anchors)


def _typical(values):
    """The median of some shares of the regret of random play."""
    return sorted(share for share, _ in values)[len(values) // 2]


def cases(summaries, drawn, anchors):
    """Each instance and track with its table, best mean first and rows without a mean last, and its figures."""
    for instance, track, part in _split(summaries, (*SUMMARY, "specification")):
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
        title = f"{instance}, {TRACKS.get(track, f'track {track}')}"
        rows = _rows(shown, OUTCOME)
        file = f"results/regret/{name}/summary.csv"
        yield {
            "anchor": anchors.new("case", f"{instance} {track}"),
            "title": title,
            "size": ", ".join(filter(None, (wording.span(shown[f"{thing}s"], thing) for thing in ("episode", "seed")))),
            "table": table(f"{instance} {track}", rows, anchors, "regret", " ".join(filter(None, notes)), file),
            "figures": [figure for figure in drawn if figure["name"].partition("_")[2] == name],
        }


def _rows(frame, columns):
    frame = frame[list(columns)].rename(columns=columns).astype(object)
    return frame.where(frame.notna(), "").to_dict("records")


def cost_tables(costs, anchors):
    """One table per instance and track, cheapest episode first, with times in milliseconds."""
    for instance, track, part in _split(costs, TIMINGS):
        part = part.assign(**{key: 1000 * part[key] for key in IN_MILLISECONDS})
        rows = _rows(part.sort_values("seconds_per_episode", kind="stable"), COST)
        yield table(f"{instance}, {TRACKS.get(track, f'track {track}')}", rows, anchors, "cost")


def instance_tables(instances, anchors) -> list[dict]:
    """Facts of the instances, whether exploration matters there, where it was asked, and constants of the theory."""
    asked = [each for each in instances if not wording.missing((each.get("exploration") or {}).get("greedy"))]
    facts = [{key: each.get(key) for key in FACTS} for each in instances]
    for row in facts:
        row["parameters"] = ", ".join(f"{key} = {value}" for key, value in (row["parameters"] or {}).items())
    names = dict.fromkeys(name for each in instances for name in each.get("constants") or {})
    constants = [
        {"name": each["name"]} | {n: (each.get("constants") or {}).get(n) for n in names} for each in instances
    ]
    explored = [{"name": each["name"]} | {key: each["exploration"][key] for key in ANSWER} for each in asked]
    return [
        table(title, rows, anchors)
        for title, rows in (
            ("Instances", facts),
            ("Does exploration matter? Greedy against the best of three agents", explored),
            ("Constants of Assumption 1 and Theorem 1", constants if names else []),
        )
        if rows
    ]


def figures_by_section(figures, anchors) -> dict[str, list[dict]]:
    """The figures of each section, in the order of LEAD and MORE; figures not named there come with the components."""
    found: dict[str, list[dict]] = {}
    places = [
        (section, kind, lead)
        for listed in (LEAD, MORE)
        for section, kinds in listed.items()
        for kind in kinds
        for lead in [listed is LEAD]
    ]
    known = {kind: (section, lead, number) for number, (section, kind, lead) in enumerate(places)}
    for number, figure in enumerate(figures, start=1):
        kind = figure["name"].partition("_")[0]
        section, lead, place = known.get(kind, (figure.get("section") or "components", False, len(known)))
        section = "cost" if figure.get("measured") else section
        made = FIGURE | {"title": figure["name"]} | figure | {"lead": lead, "place": place, "kind": kind}
        made |= {"anchor": anchors.new("figure", figure["name"]), "scope": f"f{number}"}
        made["alternative"] = made["alternative"] or made["title"]
        made["wide"] = svg.width(made["svg"]) > WIDE
        found.setdefault(section, []).append(made)
    for section, listed in found.items():
        listed.sort(key=lambda figure: figure["place"])
        seen = set()
        for figure in listed:  # of several figures of one kind the first leads; each case has its own
            figure["lead"] = figure["lead"] and (section == "cases" or figure["kind"] not in seen)
            seen.add(figure["kind"])
            if figure["lead"]:
                text = svg.inline(figure["svg"], figure["alternative"], figure["scope"], source=figure["name"])
            else:
                text = svg.image(figure["svg"], source=figure["name"])
            figure["drawing"] = Markup(text)
    return found


def prepared_experiment(experiment, anchors) -> dict:
    """A published experiment: its first sentence as the title, the rest as text, values and timings as tables."""
    title, _, text = experiment["about"].strip().partition("\n")
    prepared = {"title": title.rstrip("."), "text": text.strip(), "citation": experiment["citation"]}
    for name in ("values", "timings"):
        frame = experiment[name].reindex(columns=list(COLUMNS)).dropna(axis="columns", how="all")
        rows = _rows(frame, {key: key.replace("_", " ") for key in frame})
        prepared[name] = table(f"{prepared['title']}, {name}", rows, anchors) if rows else None
    return prepared
