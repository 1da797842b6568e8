"""The data of each section of the page, from the results of a study; page.html.j2 lays them out."""

import base64
import hashlib
from pathlib import Path

import jinja2
import pandas as pd
import yaml
from markupsafe import Markup

from befrl.analysis.regret_columns import SUMMARY, TIMINGS
from befrl.report import ledger, mathematics, svg, theorem, wording

ROLES_IN_TABLE = ("theory", "surrogate", "set", "tuned", "median", "worst", "baseline")  # not the points of a sweep
WIDE = 360.0  # points: wider drawings take the whole width of the page
EXPLAINED = ("mean", "low", "failed", "failed_high", "slope", "optimistic", "tied", "changed", "remarks")
EXPLAINED_COSTS = ("seconds_per_episode", "estimating", "planning", "acting", "exponent_k", "wall_seconds")
TRACKS = {"K": "known rewards (track K)", "U": "unknown rewards (track U)"}
FILTERS = ("number", "percent", "between", "count", "duration", "symbol", "record")


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

    Measured seconds stand in the section on cost alone: `costs`, `stages`, figures that are `measured`, and the
    `timings` of published experiments. In the summaries `failed` and `optimistic` are shares between 0 and 1. The
    section of an empty input says so; unknown keys and columns are ignored.
    """
    anchors = Anchors()
    tables = regret_tables(summaries, anchors)
    drawings = prepared_figures(figures, anchors)
    shown = [figure for figure in drawings if not figure["measured"] and not figure["section"]]
    claimed = ledger.prepared(claims, anchors)
    experiments = [prepared_experiment(experiment) for experiment in published]
    here = Path(__file__).parent
    script = (here / "page.js").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(here),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {name: getattr(wording, name) for name in FILTERS}
    environment.filters |= {"mathematics": mathematics.mathematics, "paragraphs": mathematics.paragraphs}
    return environment.get_template("page.html.j2").render(
        script=Markup(script),
        # By this hash a browser knows the page's own script and runs no other.
        script_hash=Markup("sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()),
        config=yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=100) if config else "",
        toy=bool(config.get("toy")),
        overview=overview(instances, tables),
        headlines=[figure for figure in shown if figure["headline"]],
        figures=[figure for figure in shown if not figure["headline"]],
        tables=tables,
        level=f"{config['statistics']['level']:.0%}".replace("%", " %") if "statistics" in config else "the",
        meanings={name: SUMMARY[name] for name in EXPLAINED},
        cost_meanings={name: TIMINGS[name] for name in EXPLAINED_COSTS},
        costs=cost_tables(costs, anchors),
        cost_figures=[figure for figure in drawings if figure["measured"]],
        published=experiments,
        ledger=claimed,
        theorem=theorem.prepared(claimed["claims"], drawings),
        instances=prepared_instances(instances),
        explored=[instance for instance in prepared_instances(instances) if _answered(instance["exploration"])],
        constants=list(dict.fromkeys(name for i in instances for name in i.get("constants") or {})),
        versions=versions,
        hashes=hashes,
        stages=[{key: row.get(key) for key in ("stage", "jobs", "seconds")} for row in stages],
        total_seconds=sum(row["seconds"] for row in stages if not wording.missing(row.get("seconds"))),
    )


class Anchors:
    """Unique ids for the page's own elements; they have no '__', which marks ids inside drawings."""

    def __init__(self):
        self.given = set()

    def new(self, kind: str, name) -> str:
        wanted = f"{kind}-{wording.slug(name)}"
        anchor, copies = wanted, 1
        while anchor in self.given:
            copies += 1
            anchor = f"{wanted}-{copies}"
        self.given.add(anchor)
        return anchor


def overview(instances, tables) -> dict:
    """Numbers of agents, instances, seeds and episodes."""
    rows = [row for table in tables for row in table["rows"]]
    return {
        # The instances that agents ran on; studies of components use further ones.
        "instances": len({table["instance"] for table in tables}) or len(instances),
        "agents": list(dict.fromkeys(str(row["agent"]) for row in rows)),
        "tracks": list(dict.fromkeys(table["track"] for table in tables)),
        "seeds": wording.span([row["seeds"] for row in rows], "seed"),
        "episodes": wording.span([row["episodes"] for row in rows], "episode"),
    }


SUMMARY_COLUMNS = (
    "instance", "track", "agent", "variant", "setting", "specification", "role", "seeds", "episodes",
    "mean", "low", "high", "q10", "q50", "q90", "failed", "failed_low", "failed_high", "slope", "optimistic", "group",
    "remarks",
)  # fmt: skip


def regret_tables(summaries, anchors) -> list[dict]:
    """One table per instance and track, best mean first."""
    tables = []
    for frame in summaries:
        frame = frame.reindex(columns=SUMMARY_COLUMNS)
        for (instance, track), part in frame.groupby(["instance", "track"], sort=False, dropna=False):
            surrogates = set(part["agent"][part["role"] == "surrogate"])
            kept = part[part["role"].isin(ROLES_IN_TABLE)].to_dict("records")
            rows = [regret_row(row) | {"surrogate": row["agent"] in surrogates} for row in kept]
            rows.sort(key=best_first)
            sizes = (wording.span([row[f"{thing}s"] for row in rows], thing) for thing in ("episode", "seed"))
            tables.append(
                {
                    "anchor": anchors.new("regret", f"{instance} {track}"),
                    "instance": instance,
                    "track": TRACKS.get(track, f"track {track}"),
                    "size": ", ".join(filter(None, sizes)),
                    "rows": rows,
                    "left_out": len(part) - len(rows),
                    "undetected": max((row["failed_high"] for row in rows if row["failed"] == 0), default=None),
                    "any_misspecified": any(row["misspecified"] for row in rows),
                    "any_surrogate": any(row["surrogate"] for row in rows),
                }
            )
    return tables


def best_first(row) -> tuple:
    """Sort key of a row: by the mean, rows without a mean last."""
    mean = row["mean"]
    return (wording.missing(mean), 0.0 if wording.missing(mean) else mean, row["agent"], row["setting"])


def regret_row(row) -> dict:
    """A row of a summary, with empty texts where it has none."""
    return row | {
        "agent": str(row["agent"]),
        "misspecified": row["specification"] == "misspecified",
        **{key: "" if wording.missing(row[key]) else str(row[key]) for key in ("setting", "remarks", "group")},
    }


COST_COLUMNS = (
    "instance", "track", "agent", "seconds_per_episode", "estimating", "planning", "acting", "exponent_k",
    "wall_seconds",
)  # fmt: skip
IN_MILLISECONDS = ("seconds_per_episode", "estimating", "planning", "acting")


def cost_tables(costs, anchors) -> list[dict]:
    """One table per instance and track, cheapest episode first, with times in milliseconds."""
    tables = []
    for frame in costs:
        frame = frame.reindex(columns=COST_COLUMNS)
        for (instance, track), part in frame.groupby(["instance", "track"], sort=False, dropna=False):
            shown = part.sort_values("seconds_per_episode", kind="stable")
            tables.append(
                {
                    "anchor": anchors.new("cost", f"{instance} {track}"),
                    "instance": instance,
                    "track": TRACKS.get(track, f"track {track}"),
                    "rows": [
                        row | {key: 1000 * row[key] for key in IN_MILLISECONDS} for row in shown.to_dict("records")
                    ],
                }
            )
    return tables


def prepared_figures(figures, anchors) -> list[dict]:
    prepared = []
    for index, figure in enumerate(figures, start=1):
        name = figure["name"]
        title = figure.get("title") or name
        scope = f"f{index}"
        prepared.append(
            {
                "anchor": anchors.new("figure", name),
                "title": title,
                "caption": figure.get("caption") or "",
                "command": figure.get("command") or "",
                "headline": bool(figure.get("headline")),
                "name": name,
                "section": figure.get("section") or "",
                "measured": bool(figure.get("measured")),
                "seeds": figure.get("seeds"),
                "scope": scope,
                "wide": svg.width(figure["svg"]) > WIDE,
                "drawing": Markup(svg.inline(figure["svg"], title, scope, source=name)),
            }
        )
    return prepared


EXPERIMENT_KEYS = (
    "instance", "follows", "quantity", "algorithm", "variant", "role", "episode", "ours", "low", "high", "authors",
    "authors_runs", "unit", "told_from_uniform",
)  # fmt: skip


def prepared_experiment(experiment) -> dict:
    """A published experiment: its first sentence as the title, the rest as text, and its values and timings as rows."""
    title, _, text = experiment["about"].strip().partition("\n")
    about = {"title": title.rstrip("."), "text": text.strip(), "citation": experiment["citation"]}
    return about | {name: _experiment_rows(experiment[name]) for name in ("values", "timings")}


def _experiment_rows(table):
    return [
        {key: None if wording.missing(value) else value for key, value in row.items()}
        for row in table.reindex(columns=EXPERIMENT_KEYS).to_dict("records")
    ]


INSTANCE_KEYS = (
    "name", "family", "horizon", "d", "n_cells", "n_actions", "optimal_value", "uniform_value", "gap",
)  # fmt: skip


def _answered(exploration) -> bool:
    return bool(exploration) and not wording.missing(exploration["greedy"])


def prepared_instances(instances) -> list[dict]:
    return [
        {key: instance.get(key) for key in INSTANCE_KEYS}
        | {key: instance.get(key) or {} for key in ("parameters", "constants", "exploration")}
        for instance in instances
    ]
