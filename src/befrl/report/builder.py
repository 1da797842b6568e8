"""The data of each section of the page, from the results of a study; page.html.j2 lays them out."""

import base64
import functools
import hashlib
import itertools
from pathlib import Path

import jinja2
import pandas as pd
import yaml
from markupsafe import Markup

from befrl.analysis import tuning_loss
from befrl.analysis.published import COLUMNS
from befrl.analysis.regret_columns import SUMMARY, TIMINGS
from befrl.report import ledger, svg, wording

HERE = Path(__file__).parent
ROLES_IN_TABLE = ("theory", "surrogate", "set", "tuned", "baseline")  # not the points of a sweep
WIDE = 360.0  # points: wider drawings take the whole width of the page
EXPLAINED = ("mean", "low", "failed", "failed_high", "slope", "optimistic", "tied", "changed", "remarks")
IN_MILLISECONDS = ("seconds_per_episode", "estimating", "planning", "acting")
COSTS = (*IN_MILLISECONDS, "exponent_k", "wall_seconds")
TRACKS = {"K": "known rewards (track K)", "U": "unknown rewards (track U)"}
FILTERS = ("number", "percent", "between", "count", "duration", "symbol", "record", "mathematics", "paragraphs")
# What the page shows of figures and instances, with default values.
FIGURE = {"caption": "", "command": "", "section": "", "headline": False, "measured": False, "seeds": None}
INSTANCE = dict.fromkeys(("family", "horizon", "d", "n_cells", "n_actions", "optimal_value", "uniform_value", "gap"))
INSTANCE |= {"parameters": {}, "constants": {}, "exploration": {}}
THEOREM = "C62"
PARTS = {  # parts of the section on Theorem 1: their figures; further ones come last
    "What its proof rests on": ("claims-map",),
    "What it promises": ("bound", "noise-forms"),
    "What its proof needs, measured": ("coverage-regions", "bad-rounds", "optimism", "optimism-episodes"),
    "Where reward noise does not explore": ("traps",),
    "Rates": ("rates",),
    "What would repair the proof": ("repairs",),
}


def build(
    *,
    config: dict,
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
    tables = regret_tables(summaries, anchors)
    drawings = [prepared_figure(figure, f"f{number}", anchors) for number, figure in enumerate(figures, start=1)]
    shown = [figure for figure in drawings if not figure["measured"] and not figure["section"]]
    claimed = ledger.prepared(claims, anchors)
    instances = [INSTANCE | {key: value for key, value in each.items() if value is not None} for each in instances]
    script = (HERE / "page.js").read_text(encoding="utf-8")
    return template().render(
        script=Markup(script),
        # By this hash a browser runs the page's own script and no other.
        script_hash=Markup("sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()),
        config=yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=100) if config else "",
        toy=bool(config.get("toy")),
        overview=overview(instances, tables),
        headlines=[figure for figure in shown if figure["headline"]],
        figures=[figure for figure in shown if not figure["headline"]],
        tables=tables,
        level=f"{config['statistics']['level']:.0%}".replace("%", " %") if "statistics" in config else "the",
        meanings={name: SUMMARY[name] for name in EXPLAINED},
        cost_meanings={name: TIMINGS[name] for name in COSTS},
        costs=cost_tables(costs, anchors),
        cost_figures=[figure for figure in drawings if figure["measured"]],
        published=[prepared_experiment(experiment) for experiment in published],
        ledger=claimed,
        theorem=theorem(claimed["claims"], drawings),
        instances=instances,
        explored=[each for each in instances if not wording.missing(each["exploration"].get("greedy"))],
        constants=list(dict.fromkeys(name for instance in instances for name in instance["constants"])),
        versions=versions,
        hashes=hashes,
        stages=[dict.fromkeys(("jobs", "seconds")) | row for row in stages],
        total_seconds=sum(row["seconds"] for row in stages if not wording.missing(row.get("seconds"))),
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


def overview(instances, tables) -> dict:
    """Numbers of agents, instances, seeds and episodes."""
    rows = [row for table in tables for row in table["rows"]]
    return {
        "instances": len({table["instance"] for table in tables}) or len(instances),
        "agents": list(dict.fromkeys(row["agent"] for row in rows)),
        "tracks": list(dict.fromkeys(table["track"] for table in tables)),
        "seeds": wording.span([row["seeds"] for row in rows], "seed"),
        "episodes": wording.span([row["episodes"] for row in rows], "episode"),
    }


def _cases(frames, columns, kind, anchors):
    """The heading and the rows of each instance and track; columns that a frame lacks are empty."""
    for frame in frames:
        frame = frame.reindex(columns=list(columns))
        for (instance, track), part in frame.groupby(["instance", "track"], sort=False, dropna=False):
            anchor = anchors.new(kind, f"{instance} {track}")
            yield {"anchor": anchor, "instance": instance, "track": TRACKS.get(track, f"track {track}")}, part


def regret_tables(summaries, anchors) -> list[dict]:
    """One table per instance and track, best mean first, rows without a mean last."""
    tables = []
    for heading, part in _cases(summaries, SUMMARY, "regret", anchors):
        texts = {key: part[key].astype(object).fillna("").astype(str) for key in ("setting", "remarks", "group")}
        part = part.assign(
            **texts,
            agent=part["agent"].astype(str),
            misspecified=part["specification"] == "misspecified",
            surrogate=part["agent"].isin(part["agent"][part["role"] == "surrogate"]),
        )
        shown = part[part["role"].isin(ROLES_IN_TABLE)].sort_values(["mean", "agent", "setting"], kind="stable")
        sizes = (wording.span(shown[f"{thing}s"], thing) for thing in ("episode", "seed"))
        heading |= {"size": ", ".join(filter(None, sizes)), "left_out": len(part) - len(shown)}
        heading["undetected"] = max(shown["failed_high"][shown["failed"] == 0], default=None)
        tuned = part[part["role"] == "tuned"]
        case = *part[["instance", "track"]].iloc[0], dict(zip(tuned["agent"], tuned["setting"], strict=True))
        tables.append(heading | {"rows": shown.to_dict("records"), "tuning_loss": tuning_loss.sentence(*case)})
    return tables


def cost_tables(costs, anchors) -> list[dict]:
    """One table per instance and track, cheapest episode first, with times in milliseconds."""
    tables = []
    for heading, part in _cases(costs, TIMINGS, "cost", anchors):
        part = part.assign(**{key: 1000 * part[key] for key in IN_MILLISECONDS})
        rows = part.sort_values("seconds_per_episode", kind="stable")
        tables.append(heading | {"rows": rows.to_dict("records")})
    return tables


def prepared_figure(figure, scope, anchors) -> dict:
    """A figure with its drawing; `scope` is the id of the element around the drawing."""
    name, drawing = figure["name"], figure["svg"]
    figure = FIGURE | {"title": name} | figure | {"anchor": anchors.new("figure", name), "scope": scope}
    figure["wide"] = svg.width(drawing) > WIDE
    figure["drawing"] = Markup(svg.inline(drawing, figure["title"], scope, source=name))
    return figure


def prepared_experiment(experiment) -> dict:
    """A published experiment: its first sentence as the title, the rest as text, and its values and timings as rows."""
    title, _, text = experiment["about"].strip().partition("\n")
    prepared = {"title": title.rstrip("."), "text": text.strip(), "citation": experiment["citation"]}
    for name in ("values", "timings"):
        table = experiment[name].reindex(columns=list(COLUMNS)).astype(object)
        prepared[name] = table.where(table.notna(), None).to_dict("records")
    return prepared


def theorem(claims, figures) -> dict:
    """Theorem 1's claim, if it was tried, and the figures of its section by part, without empty parts."""
    shown = {figure["name"]: figure for figure in figures if figure["section"] == "theorem"}
    listed = {name for names in PARTS.values() for name in names}
    parts = PARTS | {"Further figures": [name for name in shown if name not in listed]}
    found = {title: [shown[name] for name in names if name in shown] for title, names in parts.items()}
    return {
        "claim": next((claim for claim in claims if claim["id"] == THEOREM), None),
        "parts": {title: members for title, members in found.items() if members},
    }
