"""The data of each section of the page, from the results of a study; page.html.j2 lays them out."""

import base64
import functools
import hashlib
import json
import re
from pathlib import Path

import jinja2
import pandas as pd
import yaml
from markupsafe import Markup, escape

from befrl.analysis.instance_table import ANSWER
from befrl.analysis.published import COLUMNS
from befrl.analysis.regret_columns import SUMMARY, TIMINGS
from befrl.claims.pages import THEOREM
from befrl.common.layout import Layout
from befrl.figures.claims_map import STYLES
from befrl.report import ledger, wording
from befrl.report.drawings import figures_by_section
from befrl.report.outcomes import OUTCOME, cases, winners
from befrl.report.tables import Anchors, case_title, pattern, records, split, table

HERE = Path(__file__).parent
FILTERS = ("count", "duration", "mathematics", "paragraphs", "compact")
CLAIM = re.compile(r"\b[CS]\d+[a-z]?\b")
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
    anchors, layout = Anchors(), Layout(config.get("output", "."))
    drawn = figures_by_section(figures, anchors)
    shown = [figure for listed in drawn.values() for figure in listed]
    claimed = ledger.prepared(claims, anchors)
    best = winners(summaries, layout, anchors)
    played = list(cases(summaries, drawn.pop("cases", []), layout, anchors))
    placed = instance_tables(instances, layout, anchors)
    rerun = [prepared_experiment(experiment, layout, anchors) for experiment in published]
    link_tables(shown, [best, *(case["table"] for case in played), *placed, *(each["values"] for each in rerun)])
    link_claims(shown, claims, claimed["claims"])
    script = (HERE / "page.js").read_text(encoding="utf-8")
    return template().render(
        script=Markup(script),
        font=base64.b64encode((HERE / "math.woff").read_bytes()).decode(),
        # By this hash a browser runs the page's own script and no other.
        script_hash=Markup("sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()),
        config=yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=100) if config else "",
        toy=bool(config.get("toy")),
        verdicts=STYLES,
        plotted=harmless({figure["name"]: figure["plotted"] for figure in shown}),
        answers=[answer(line, {claim["id"] for claim in claims}) for line in answers],
        overview=overview(summaries),
        drawn=drawn,
        winners=best,
        cases=played,
        level=f"{config['statistics']['level']:.0%}".replace("%", " %") if "statistics" in config else "95 %",
        meanings={OUTCOME.get(name, name): SUMMARY[name] for name in EXPLAINED},
        cost_meanings={COST[name]: TIMINGS[name] for name in COST if name != "agent"},
        costs=list(cost_tables(costs, layout, anchors)),
        published=rerun,
        ledger=claimed,
        theorem=next((claim for claim in claimed["claims"] if claim["id"] == THEOREM), None),
        instances=placed,
        stages=table(
            "Stages", [{key: row.get(key) for key in ("stage", "jobs", "seconds")} for row in stages], anchors
        ),
        total=sum(row["seconds"] for row in stages if not wording.missing(row.get("seconds"))),
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


def link_tables(figures, tables):
    """Give each figure the files that it is drawn from, with the anchor of the table of the page that shows one."""
    anchors: dict[str, str] = {}
    for each in filter(None, tables):
        anchors.setdefault(each["file"], each["anchor"])
    for figure in figures:
        names = dict.fromkeys(path.rpartition("/")[2] for path in figure["tables"])
        files = [pattern([path for path in figure["tables"] if path.endswith(f"/{name}")]) for name in names]
        figure["sources"] = [{"file": file, "anchor": anchors.get(file, "")} for file in files]


def link_claims(figures, claims, entries):
    """Give each claim the figures that name it or that its page names, and link the claims that captions name."""
    texts = {claim["id"]: json.dumps(claim, default=str) for claim in claims}
    known = {entry["id"]: f'<a href="#{entry["anchor"]}">{entry["id"]}</a>' for entry in entries}
    for figure in figures:
        named = set(CLAIM.findall(figure["caption"] + json.dumps(figure["plotted"])))
        named |= {id for id, text in texts.items() if f"figures/{figure['name']}." in text}
        for entry in entries:
            entry["figures"] += [figure] if entry["id"] in named else []
        caption = CLAIM.sub(lambda found: known.get(found[0], found[0]), str(escape(figure["caption"])))
        figure["caption"] = Markup(caption)


def harmless(value) -> Markup:
    """JSON for the text of an element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("&", "&amp;").replace("<", "&lt;"))


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


def cost_tables(costs, layout, anchors):
    """One table per instance and track, cheapest episode first, with times in milliseconds."""
    for instance, track, part in split(costs, TIMINGS):
        part = part.assign(**{key: 1000 * part[key] for key in IN_MILLISECONDS})
        rows = records(part.sort_values("seconds_per_episode", kind="stable"), COST)
        yield table(case_title(instance, track), rows, anchors, "cost", file=layout.regret_timings(instance, track))


def instance_tables(instances, layout, anchors) -> list[dict]:
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
        table(title, rows, anchors, file=layout.instances())
        for title, rows in (
            ("Instances", facts),
            ("Does exploration matter? Greedy against the best of three agents", explored),
            ("Constants of Assumption 1 and Theorem 1", constants if names else []),
        )
        if rows
    ]


def prepared_experiment(experiment, layout, anchors) -> dict:
    """A published experiment: its first sentence as the title, the rest as text, values and timings as tables."""
    title, _, text = experiment["about"].strip().partition("\n")
    prepared = {"title": title.rstrip("."), "text": text.strip(), "citation": experiment["citation"]}
    source = experiment["source"]
    files = {"values": layout.published("values", source), "timings": layout.published_timings(source)}
    for name, file in files.items():
        frame = experiment[name].reindex(columns=list(COLUMNS)).dropna(axis="columns", how="all")
        rows = records(frame, {key: key.replace("_", " ") for key in frame})
        prepared[name] = table(f"{prepared['title']}, {name}", rows, anchors, file=file) if rows else None
    return prepared
