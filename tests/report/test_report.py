"""The report page, read back with an HTML parser."""

import base64
import contextlib
import hashlib
import io
import itertools
import json
import re
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape
from matplotlib.figure import Figure

from befrl import figures
from befrl.analysis import instance_table
from befrl.analysis.regret_columns import SUMMARY, TIMINGS
from befrl.claims import ledger
from befrl.claims.pages import pages
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.common.layout import Layout
from befrl.figures import claims_map
from befrl.figures.support import names
from befrl.report import assemble, build, svg, tables, wording
from befrl.report.wording import mathematics, paragraphs
from befrl.study import config

HERE = Path(__file__).parent
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Elements in order, each with its attributes and all the text inside it; raises if they are not well nested."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.elements, self._open = [], []
        self.feed(html)
        self.close()
        assert not self._open, f"never closed: {[element['tag'] for element in self._open]}"

    def handle_starttag(self, tag, attributes):
        assert len(attributes) == len(dict(attributes)), f"<{tag}> has an attribute twice: {attributes}"
        path = [element["tag"] for element in self._open]
        self.elements.append({"tag": tag, "attributes": dict(attributes), "text": "", "path": path})
        if tag not in VOID:
            self._open.append(self.elements[-1])

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self._open.pop()["tag"] == tag

    def handle_data(self, text):
        for element in self._open:
            element["text"] += text

    def all(self, tag=None, within=None, **attributes):
        """The elements with a tag and attributes, or those of them within another element, which lie deeper."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        found = self.elements
        if within:
            after = found[found.index(within) + 1 :]
            found = itertools.takewhile(lambda element: len(element["path"]) > len(within["path"]), after)
        return [e for e in found if tag in (None, e["tag"]) and wanted.items() <= e["attributes"].items()]

    def one(self, tag=None, within=None, **attributes):
        (element,) = self.all(tag, within, **attributes)
        return element

    def text(self, section):
        return words(self.one(id=section))

    def rows(self, section=None, **attributes):
        """The cells, row by row and without the headings, of the tables of a section, which are there as text."""
        place = self.one(**attributes) if attributes else self.one(id=section)
        texts = [pre["text"] for pre in self.all("pre", place, role="region")] or [place["text"]]
        return [line.split("\t") for text in texts for line in text.split("\n")[1:]]


def words(element):
    return " ".join(element["text"].split())


def drawing():
    """What the workflow's figures look like: clip paths, glyphs that are reused, a bitmap."""
    figure = Figure(figsize=(3, 2))
    axes = figure.subplots()
    axes.plot([0, 1, 2], [0, 1, 4], "o-", label="agent")
    axes.imshow(np.eye(2), extent=(0, 1, 0, 1))
    axes.set_title("regret")
    axes.legend()
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


DRAWING = drawing()


def a_figure(name, **changes):
    kind = name.partition("_")[0]
    place = figures.place(kind) if kind in figures.registry.names() else {"section": "components", "lead": 0}
    return place | {
        "name": name, "title": f"Title of {name}", "caption": f"Caption of {name}",
        "command": f"snakemake {name}", "svg": DRAWING, "seeds": 20, "plotted": {"axes": []},
    } | changes  # fmt: skip


def a_claim(id, verdict, **changes):
    return {
        "id": id, "kind": "claim", "part": "Technical lemmas", "quote": "Quoted.", "inference": "",
        "where": f"lem:{id}", "title": f"Title of {id}",
        "statement": f"Statement of {id}, $x_1$", "derivation": "First.\n\nSecond.", "attack": "Search.",
        "verdict": verdict, "grade": "search over 7 instances", "worst_case": 0.123456789,
        "meaning": f"meaning of {id}", "instance": {"theta": [1.0, 2.0]}, "correction": f"correction of {id}",
        "corrected": f"correction of {id}", "class": {}, "inherits": "", "counterexample": "", "third": None,
        "adjudication": "", "objections": "", "answer": "Not yet.", "lighter": [],
        "correction_derivation": "", "undecided": "", "rule": f"rule of {id}", "trials": 7, "seed": 1, "seconds": 0.5,
        "details": {"laws": 3}, "second": {"verdict": "fails", "argument": "By hand."}, "weak": [],
        "repairs": [], "others": [],
        "steps": [{"words": "a step", "survives": False, "violation": 0.5, "distance": ""}],
        "mutants": [{"words": "half of it", "survives": False, "violation": 0.25, "distance": "far"}],
    } | changes  # fmt: skip


def a_row(agent, role, mean, **changes):
    return {
        "instance": "chain", "track": "K", "agent": agent, "variant": agent, "role": role, "setting": "c=0.5",
        "seeds": 20, "episodes": 300, "mean": mean, "low": mean - 1, "high": mean + 1, "q10": mean - 2, "q50": mean,
        "q90": mean + 2, "failed": 0.25, "failed_low": 0.1, "failed_high": 0.5, "slope": 0.512, "optimistic": 0.333,
        "group": "a", "remarks": "",
    } | changes  # fmt: skip


def a_cost(agent, seconds, **changes):
    return {
        "instance": "chain", "track": "K", "agent": agent, "seconds_per_episode": seconds, "estimating": 0.5 * seconds,
        "planning": 0.25 * seconds, "acting": 0.25 * seconds, "exponent_k": 0.04, "wall_seconds": 180.0,
    } | changes  # fmt: skip


def an_instance(name, **changes):
    return {
        "name": name, "family": "chain", "parameters": {"bins": 8, "sigma": 0.1}, "horizon": 40, "d": 16,
        "n_cells": 8, "n_anchors": 8, "n_actions": 2, "optimal_value": 30.5, "uniform_value": 20.25, "gap": 0.0123,
        "cell_loss": 0.0, "constants": {"alpha_p": 0.5, "radius_r": 2.0},
    } | changes  # fmt: skip


def an_experiment():
    values = [
        {"instance": "river", "quantity": "optimal value", "ours": 5.6013, "authors": 5.6, "unit": "reward"},
        {"instance": "river", "quantity": "regret", "algorithm": "ucrl-vtr", "role": "theory", "episode": 50_000,
         "ours": 1.1e5, "low": 1.0e5, "high": 1.2e5, "unit": "reward", "follows": "code", "authors": 9.9e4,
         "authors_runs": 1, "told_from_uniform": "no"},
    ]  # fmt: skip
    timings = [{"instance": "river", "quantity": "seconds", "algorithm": "ucrl-vtr", "ours": 2.5, "unit": "s"}]
    return {
        "source": "ayoub", "about": "Ayoub et al.: a river.\n\nHow ours differs.\n", "citation": "Section 6",
        "values": pd.DataFrame(values), "timings": pd.DataFrame(timings),
    }  # fmt: skip


def inputs(**changes):
    return {
        "answers": ["**Tuned, it works.** In 6 cases.", "**It is false** ([C09](docs/claims/C09.md)). On `trap`, 9 %."],
        "config": {"seeds": 20, "agents": {"bef-rlsvi": {"c": [0.1, 1.0]}}},
        "instances": [an_instance("chain"), an_instance("river")],
        "summaries": [
            pd.DataFrame([a_row("bef-rlsvi", "theory", 900.0), a_row("exp-psrl", "tuned", 40.0)]),
            pd.DataFrame([a_row("bef-rlsvi", "theory", 90.0, instance="river", track="U")]),
        ],
        "costs": [pd.DataFrame([a_cost("exp-psrl", 0.004), a_cost("bef-rlsvi", 0.00125)])],
        "figures": [a_figure("sensitivity"), a_figure("regret"), a_figure("optimism")],
        "published": [an_experiment()],
        "claims": [a_claim("C10", "holds"), a_claim("C09", "fails"), a_claim("C45b", "holds")],
        "versions": {"numpy": "2.0"},
        "hashes": {"config": "ab12", "code": "cd34"},
        "stages": [{"stage": "runs", "jobs": 3, "seconds": 30.0}, {"stage": "claims", "jobs": 2, "seconds": 15.0}],
    } | changes


EMPTY = {key: type(value)() for key, value in inputs().items()}


def page(**changes):
    return Page(build(**inputs(**changes)))


def test_the_page_loads_nothing_and_runs_its_own_script_alone():
    """The policy has the hash of the script's text as it stands in the page, and lets no other inline script run."""
    html = build(**inputs())
    made = Page(html)
    loaders = {"src", "href", "xlink:href", "srcset", "data", "action", "poster", "background"}
    for element in made.elements:
        assert element["tag"] not in ("link", "iframe", "object", "embed", "base"), element
        assert element["tag"] != "style" or not re.search(r'@import|url\((?!#|"data:font/)', element["text"])
        for name, value in element["attributes"].items():
            if name in loaders and element["tag"] != "meta":
                assert value.startswith(("#", "data:image/")), (element["tag"], name, value)
            assert not re.search(r"url\((?!#)", urllib.parse.unquote(value or "")), (element["tag"], name, value)
    assert not re.search(r"https?://", html.replace(svg.SVG[1:-1], ""))
    (script,) = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = made.one("meta", http_equiv="Content-Security-Policy")["attributes"]["content"]
    assert policy.startswith("default-src 'none';") and f"script-src 'sha256-{digest}';" in policy
    assert "remember(" in script and "script-src 'unsafe-inline'" not in policy


def test_same_inputs_give_the_same_bytes_and_are_left_as_they_were():
    given = inputs()
    before = json.dumps(given, default=pd.DataFrame.to_json)
    assert build(**given).encode() == build(**inputs()).encode()
    assert json.dumps(given, default=pd.DataFrame.to_json) == before


def test_a_toy_run_says_so_above_everything_else():
    made = page(config={"toy": True})
    banner = made.one(class_="toy")
    assert "its numbers mean nothing" in banner["text"]
    assert made.elements.index(banner) < made.elements.index(made.one("h1"))
    assert not page(config={"toy": False}).all(class_="toy") and not page(config={}).all(class_="toy")
    toys = {path.stem for path in config.included().glob("*.yaml") if (config.read_yaml(path) or {}).get("toy")}
    assert toys == {"smoke"}


def ids(page):
    return [element["attributes"]["id"] for element in page.elements if "id" in element["attributes"]]


def references(elements):
    found = []
    for element in elements:
        for name, value in element["attributes"].items():
            found += re.findall(r"url\(#([^)]*)\)", value or "")
            found += [value[1:]] if name == "href" and value.startswith("#") else []
        if element["tag"] == "style":
            found += re.findall(r"#([\w-]+)[^{}]*\{", element["text"])
    return found


def test_ids_are_unique_and_references_resolve():
    twins = [a_figure(name) for name in ("bound", "who-wins", "regret_chain_K", "regret_chain_K", "claims-map")]
    both = page(figures=twins, claims=[a_claim("C01", "holds")] * 2)
    assert len(ids(both)) == len(set(ids(both)))
    assert set(references(both.elements)) <= set(ids(both))
    # each drawing refers to its own parts only
    for scope in ("f1", "f2", "f5"):
        inner = both.all(within=both.one("div", id=scope))
        used = references(element for element in inner if element["tag"] != "style")
        assert len(used) > 10 and all(id.startswith(f"{scope}__") for id in used)


def test_drawing_is_renamed_confined_and_harmless():
    text = svg.inline((HERE / "tricky.svg").read_text(), 'A "title"', "f7", "tricky")
    drawn = Page(text)
    size = {"font-family": svg.FONTS, "width": "30pt", "height": "15pt", "viewbox": "0 0 40 20"}
    assert drawn.elements[0]["attributes"] == size | {"role": "img", "aria-label": 'A "title"'}
    dot, paint, clip = "f7__0", "f7__1", "f7__2"  # in the order of their references
    assert sorted(ids(drawn)) == [dot, paint, clip]
    assert set(references(drawn.elements)) == {dot, paint, clip, "f7"}
    assert [use["attributes"]["href"] for use in drawn.all("use")] == [f"#{dot}", f"#{dot}"]
    assert [image["attributes"] for image in drawn.all("image")] == [{"href": "data:image/png;base64,AA=="}, {}]
    assert drawn.one("g")["attributes"]["style"] == f"fill:url(#{paint})"
    assert drawn.one("text")["attributes"] == {"xml:space": "preserve"} and drawn.one("text")["text"] == " a < b "
    style = drawn.one("style")["text"].replace("&gt;", ">")
    assert style.splitlines() == [
        "#f7 * {stroke-linejoin:round}",
        f"#f7 #{dot}, #f7 .b > path {{fill:url(#{paint});stroke:none}}",
    ]
    for gone in ("<?xml", "DOCTYPE", "far", "alert", "secret", "purl", "xmlns", "old", "xlink", "linked"):
        assert gone not in text


@pytest.mark.parametrize(
    ("styles", "shared"),
    [
        (["fill:#123456;stroke:none"] * 2, "fill:#123456;stroke:none"),
        (["fill:#123456", "fill:#654321"], None),
        (["opacity:0.5"] * 2, None),  # overlapping marks would look different
    ],
)
def test_marks_of_one_style_get_it_from_their_group(styles, shared):
    marks = "".join(f"<use href='#m' style='{style}'/>" for style in styles)
    drawing = f"<svg xmlns='http://www.w3.org/2000/svg'><g class='a'>{marks}</g><path id='m' d='M 0 0'/></svg>"
    made = Page(svg.inline(drawing, "t", "f1", "n"))
    assert made.one("g")["attributes"].get("style") == shared
    own = [mark["attributes"].get("style") for mark in made.all("use")]
    assert own == ([None] * 2 if shared else styles)


def test_no_attack_passes_and_the_rest_of_the_drawing_stays():
    for attack in (HERE / "attacks.txt").read_text().splitlines():
        text = svg.inline(f"<svg xmlns='http://www.w3.org/2000/svg'>{attack}<path d='M 0 0'/></svg>", "t", "f1", "n")
        for bad in ("alert", "javascript", "far.away", "svg+xml", "onload"):
            assert bad not in text.lower(), attack
        assert Page(text).one("path")["attributes"] == {"d": "M0 0"}


def test_links_to_pages_of_claims_lead_to_their_entries_on_the_page():
    def links(address):
        names = f"xmlns='http://www.w3.org/2000/svg' xmlns:x='{svg.XLINK[1:-1]}'"
        return re.findall(
            'href="(.*?)"', svg.inline(f"<svg {names}><a x:href='{address}'><text>C</text></a></svg>", "t", "f1", "n")
        )

    assert links("../docs/claims/C45c.md") == [f"#{tables.Anchors().new('claim', 'C45c')}"]
    assert not links("https://example.org/C45c.md") and not links("javascript:C45c.md")


def test_nothing_of_a_drawing_is_lost_inline_or_as_an_image():
    """All shapes are there, in order and to two decimals; groups and ids that say nothing are not."""

    def drawn(text):
        shapes = [e for e in Page(text).elements if e["tag"] in ("path", "use", "clippath", "image", "rect")]
        places = (e["attributes"].get(key, "") for e in shapes for key in ("d", "transform", "x", "y"))
        return [e["tag"] for e in shapes], [float(n) for place in places for n in re.findall(r"-?\d+\.?\d*", place)]

    source = re.sub(r"<metadata>.*?</metadata>", "", DRAWING[DRAWING.index("<svg") :], flags=re.DOTALL)
    inline, image = svg.inline(DRAWING, "t", "f1", "n"), svg.image(DRAWING, "f1", "n")
    assert len(drawn(source)[0]) > 30 and len(inline) < 0.8 * len(source)
    for text in (inline, urllib.parse.unquote(image.removeprefix("data:image/svg+xml,"))):
        assert drawn(text)[0] == drawn(source)[0]
        assert drawn(text)[1] == pytest.approx(drawn(source)[1], abs=0.00501)
    assert not {"'", "&", "#", "\n"} & set(image)


def test_curves_have_names_for_the_script():
    figure = Figure()
    axes = figure.subplots()
    for label in ("greedy", "exp-ucrl \u2021", "_not named"):
        axes.plot([0, 1], [0, 1], label=label)
    axes.errorbar([0, 1], [0, 1], [0.1, 0.1], label="with bars")
    axes.legend()
    names.give(figure)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    made = Page(svg.inline(text.getvalue(), "t", "f1", "n"))
    named = [e["attributes"]["data-curve"] for e in made.elements if "data-curve" in e["attributes"]]
    # Line, handle and text of the legend; and the bars.
    assert sorted(named) == ["exp-ucrl \u2021"] * 3 + ["greedy"] * 3 + ["with bars"] * 4


def test_bad_svg_is_rejected_with_the_name_of_the_figure():
    entities = "".join(f"<!ENTITY e{i + 1} '{f'&e{i};' * 10}'>" for i in range(9))
    bomb = f"<!DOCTYPE svg [<!ENTITY e0 'x'>{entities}]><svg>&e9;</svg>"
    for text in (bomb, "<svg>" + "<g>" * 100_000 + "</g>" * 100_000 + "</svg>"):
        with pytest.raises(InputError, match="figure 'n' is not SVG that befrl wrote"):
            svg.inline(text, "t", "f1", "n")
    for bad in ("", "no drawing", "<svg><g></svg>", "<html xmlns='urn:x'/>"):
        with pytest.raises(InputError, match="figure 'sketch' is not"):
            page(figures=[a_figure("sketch", svg=bad)])


LEADING = (
    "noise-scale",
    "who-wins",
    "bound",
    "optimism",
    "regret_chain_K",
    "tuning_chain_K",
    "my-own",
    "certificate_a",
    "certificate_b",
)


def test_figures_stand_in_their_section_with_caption_and_command():
    made = page(figures=[a_figure(name) for name in LEADING])
    places = {"answer": ["noise-scale"], "winners": ["who-wins"], "theorem": ["bound", "optimism"]}
    places |= {"repair": ["certificate_a", "certificate_b"], "case-chain-K": ["regret_chain_K", "tuning_chain_K"]}
    places |= {"components": ["my-own"]}
    for section, listed in places.items():
        found = made.all("figure", within=made.one(id=section))
        assert [figure["attributes"]["data-name"] for figure in found] == listed, section
    inline = {"noise-scale", "who-wins", "bound", "certificate_a"}
    for figure, name in ((f, f["attributes"]["data-name"]) for f in made.all("figure")):
        lead, image = made.all("svg", within=figure), made.all("img", within=figure)
        assert len(lead) + len(image) == 1 and bool(lead) == (name in inline)
        assert (lead + image)[0]["attributes"]["aria-label" if lead else "alt"] == f"Title of {name}"
        caption = made.one("figcaption", within=figure)["text"]
        assert all(text in caption for text in (f"Title of {name}.", f"Caption of {name}", "20 seeds"))
        assert made.one("code", within=figure)["text"] == f"snakemake {name}"


def test_figures_of_other_shapes():
    assert "20 seeds" not in page(figures=[a_figure("x", seeds=None)]).one("figcaption")["text"]
    asked = page(figures=[a_figure("x", title="Does it matter?", alternative="It does.")])
    assert asked.one("strong", within=asked.one("figure"))["text"] == "Does it matter?"
    assert asked.one("img")["attributes"]["alt"] == "It does."


def test_figures_name_their_tables_and_lead_to_those_on_the_page():
    paths = {"regret_chain_K": ["results/regret/chain_K/summary.csv", "results/regret/chain_K/curves.csv"]}
    cases = [f"results/regret/{case}/summary.csv" for case in ("chain_K", "river_U")]
    paths |= {"who-wins": [*cases, "results/improvement.csv"], "bound": ["results/instances.csv"]}
    rows = [a_row("random", "baseline", 50.0), a_row("a", "tuned", 1.0)]
    both = [pd.DataFrame(rows), pd.DataFrame(rows).assign(instance="river", track="U")]
    made = page(figures=[a_figure(name, tables=each) for name, each in paths.items()], summaries=both)
    found = {
        "regret_chain_K": ["#regret-chain-K"], "bound": ["#table-Instances"],
        "who-wins": ["#table-Regret-in-every-case-random-play-1"],
    }  # fmt: skip
    for figure in made.all("figure"):
        source = made.one("p", figure, class_="sources")
        assert [a["attributes"]["href"] for a in made.all("a", source)] == found[figure["attributes"]["data-name"]]
    assert words(source) == "Drawn from results/regret/chain_K/summary.csv, results/regret/chain_K/curves.csv"
    assert "Drawn from results/regret/*/summary.csv, results/improvement.csv" in made.text("winners")
    assert "All columns and digits: results/timings/regret/chain_K.csv" in made.text("cost")
    assert "All columns and digits: results/published/ayoub/values.csv" in made.text("published")


def test_claims_and_the_figures_that_show_them_lead_to_each_other():
    """A figure shows a claim that its caption or its texts name, or whose page names the figure."""
    drawn = [
        a_figure("bad-rounds", caption="The example of C45b."),
        a_figure("claims-map", plotted={"axes": [{"texts": ["C09\nvariance"]}]}),
        a_figure("traps"),
    ]
    claimed = [a_claim("C09", "fails"), a_claim("C10", "holds", derivation="See [it](../../figures/traps.png).")]
    made = page(figures=drawn, claims=[*claimed, a_claim("C45b", "holds"), a_claim("C45", "holds")])
    found = {"C09": "claims-map", "C10": "traps", "C45b": "bad-rounds", "C45": None}
    for id, figure in found.items():
        shown = made.all("p", within=made.one(id=f"claim-{id}"), class_="sources")
        assert [words(each) for each in shown] == ([f"Shown in Title of {figure}"] if figure else [])
        assert not figure or made.all("a", shown[0], href=f"#figure-{figure}")
    assert made.all("a", made.one(id="figure-bad-rounds"), href="#claim-C45b")


def test_the_page_has_what_every_figure_plots():
    made = page(figures=[a_figure("x", plotted={"axes": [{"title": "a < b & c"}]})])
    assert json.loads(made.one("template", id="plotted")["text"]) == {"x": {"axes": [{"title": "a < b & c"}]}}


def test_verdicts_have_the_colours_of_the_map_of_claims_and_can_be_read():
    def light(colour):
        values = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        return sum(
            w * (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4)
            for w, v in zip((0.2126, 0.7152, 0.0722), values, strict=True)
        )

    style = page().all("style")[0]["text"]
    for verdict, (colour, ink) in claims_map.STYLES.items():
        assert f".verdict-{verdict.split()[-1]} {{ background: {colour}; color: {ink}; }}" in style
        bright, dark = sorted((light(colour), {"white": 1.0, "black": 0.0}[ink]), reverse=True)
        assert (bright + 0.05) / (dark + 0.05) >= 4.5, verdict


def test_the_answer_comes_first_with_links_to_claims_that_are_there():
    made = page()
    sections = [e["attributes"]["id"] for e in made.all("section") if len(e["path"]) == 3]
    order = ["answer", "winners", "theorem", "repair", "claims", "cases", "components", "cost", "provenance"]
    assert sections == order
    assert "Tuned, it works In 6 cases." in made.text("answer").replace("works", "works ").replace("  ", " ")
    assert "On trap, 9 % (C09)." in made.text("answer")
    assert made.all("a", within=made.one(id="answer"), href="#claim-C09")
    assert "(C09)" not in page(claims=[]).text("answer")


def test_the_section_on_theorem_1_has_its_verdict():
    made = page(claims=[a_claim("C62", "fails", counterexample="A trap."), a_claim("C51", "fails")])
    for text in ("C62", "fails", "Statement of C62", "A trap.", "C51 (fails)"):
        assert text in made.text("theorem")
    assert made.all("a", within=made.one(id="theorem"), href="#claim-C51")


def test_who_wins_is_relative_to_random_play_with_tuned_agents_first():
    rows = [a_row("random", "baseline", 50.0, group="c"), a_row("a", "theory", 100.0, group="d")]
    rows += [
        a_row("a", "tuned", 5.0, group="a"),
        a_row("b", "tuned", 6.0, group="ab"),
        a_row("c", "tuned", 25.0, group="b"),
    ]
    rows += [a_row("oracle", "baseline", 0.0, group=np.nan), a_row("a", "sweep", 1.0)]
    other = [row | {"instance": "river"} for row in rows if row["agent"] != "random"]
    made = page(summaries=[pd.DataFrame(rows), pd.DataFrame(other)])
    assert made.rows("winners") == [
        ["a", "tuned", "0.10*"], ["b", "tuned", "0.12*"], ["c", "tuned", "0.50"], ["a", "theory", "2.0"],
        ["oracle", "baseline", "0"], ["random", "baseline", "1.0*"],
    ]  # fmt: skip


def test_regret_rows_sorted_and_in_the_units_of_the_head():
    missing = dict.fromkeys(("low", "high", "slope", "optimistic", "setting", "group", "remarks"), np.nan)
    rows = [
        a_row("slow", "theory", 1234.5, group="bc"),
        a_row("lost", "baseline", np.nan, **missing),
        a_row("quick", "tuned", 12.345, setting="c=0.03 eta=2", remarks="fewer than 100 seeds; not tuned"),
        a_row("other", "set", 20.0, group=""),
        a_row("hidden", "sweep", 1.0),
    ]
    table = page(summaries=[pd.DataFrame(rows)])
    spread = ["25", "10", "50", "0.512", "33.3"]
    assert table.rows("regret-chain-K") == [
        ["quick", "tuned", "c=0.03 eta=2", "a", "12.3", "11.3", "13.3", "12.3", "10.3", "14.3", *spread,
         "fewer than 100 seeds; not tuned"],
        ["other", "set", "c=0.5", "", "20.0", "19.0", "21.0", "20.0", "18.0", "22.0", *spread, ""],
        ["slow", "theory", "c=0.5", "bc", "1,234", "1,234", "1,236", "1,234", "1,232", "1,236", *spread, ""],
        ["lost", "baseline", *[""] * 8, "25", "10", "50", *[""] * 3],
    ]  # fmt: skip
    section = table.one(id="case-chain-K")["text"]
    assert "known rewards (track K)" in section and "300 episodes, 20 seeds" in section
    assert "hidden" not in section and "nan" not in section.lower()
    # Read back from a file, columns without any text are numbers that are missing.
    frame = pd.DataFrame([a_row("a", "tuned", 1.0), a_row("b", "baseline", 2.0, setting="", group="")])
    again = pd.read_csv(io.StringIO(frame.to_csv(index=False)))
    assert page(summaries=[again]).rows("regret-chain-K") == page(summaries=[frame]).rows("regret-chain-K")


def regret_text(*rows):
    return page(summaries=[pd.DataFrame(rows)]).text("regret-chain-K")


def test_what_a_table_of_regret_does_not_show_is_said():
    """Points of a sweep; and where no seed failed, the largest rate of failures that cannot be excluded."""
    rows = [a_row("a", "tuned", 1.0), a_row("a", "sweep", 2.0), a_row("a", "sweep", 3.0)]
    assert "Not shown: 2 points of sweeps." in regret_text(*rows)
    none = {"failed": 0.0, "failed_low": 0.0}
    rows = [a_row("a", "tuned", 1.0, **none, failed_high=0.0123), a_row("b", "tuned", 2.0, **none, failed_high=0.0301)]
    rows.append(a_row("c", "tuned", 3.0, failed=0.5, failed_high=0.9))
    assert "a failure rate of up to 3.0 % cannot be excluded" in regret_text(*rows)
    assert "cannot be excluded" not in regret_text(rows[2]) and "Not shown" not in regret_text(rows[2])


def test_every_summary_has_a_table():
    made = page(instances=[an_instance("chain"), an_instance("river"), an_instance("looked at only")])
    assert [row[0] for row in made.rows("regret-chain-K")] == ["exp-psrl", "bef-rlsvi"]
    assert [row[0] for row in made.rows("regret-river-U")] == ["bef-rlsvi"]
    # The answer counts the cases that agents ran on.
    assert "2 agents on 2 cases, 300 episodes each, 20 seeds." in made.text("answer")
    # Columns are explained in the words of the tables.
    for column in ("mean", "failed", "failed_high", "slope", "optimistic", "tied", "changed", "remarks"):
        assert SUMMARY[column] in made.one(id="cases")["text"]
    for column in ("seconds_per_episode", "exponent_k", "wall_seconds"):
        assert TIMINGS[column] in made.one(id="cost")["text"]


def test_misspecified_agents_and_surrogate_constants_are_marked():
    """An agent is marked in all its rows, as its tuned constants are multiples of the surrogates."""
    rows = [a_row("smrl", "surrogate", 50.0), a_row("smrl", "tuned", 20.0), a_row("exp-psrl", "theory", 40.0)]
    rows = [*rows, a_row("ren-ts", "tuned", 60.0, specification="misspecified")]
    remarks = [(*row[:2], row[-1]) for row in page(summaries=[pd.DataFrame(rows)]).rows("regret-chain-K")]
    assert remarks == [
        ("smrl", "tuned", "surrogate constants"), ("exp-psrl", "theory", ""),
        ("smrl", "surrogate", "surrogate constants"), ("ren-ts", "tuned", "misspecified"),
    ]  # fmt: skip


def claim_cards(made):
    return [card for card in made.all("article") if "data-verdict" in card["attributes"]]


def test_every_claim_is_there_in_order_with_its_evidence():
    made = page()
    for card, id in zip(claim_cards(made), ("C09", "C10", "C45b"), strict=True):
        assert card["attributes"]["id"] == f"claim-{id}"
        text = words(card)
        assert text.startswith(f"{id} Title of {id} {'fails' if id == 'C09' else 'holds'} search over 7 instances")
        assert f"Statement of {id}, x1" in text and f"True insteadcorrection of {id}" in text
        assert "Also printed, and refuted: a step" in text and "refuted (0.250): half of it" in text
        details = made.one("details", within=card)["text"]
        for part in (f"lem:{id}", f"rule of {id}", "0.123456789", f"meaning of {id}", f"befrl claim {id} --explain"):
            assert part in details
            assert '{"theta": [1.0, 2.0]}' in details and '{"laws": 3}' in details


def test_a_proof_that_rests_on_a_failing_claim_says_so_and_untried_claims_are_listed():
    verdicts = {"C41": "holds", "C42": "holds", "C43": "fails", "C45": "fails"}
    made = page(claims=[a_claim(id, verdict) for id, verdict in verdicts.items()])
    assert "Its proof in the paper rests on C45 (fails)." in made.text("claim-C43")
    assert "rests on" not in made.text("claim-C42")
    listed = "".join(details["text"] for details in made.all("details", class_="untried"))
    assert set(re.findall(r"(?m)^ *([CS]\d\w*) ", listed)) == set(pages()) - set(verdicts)


def test_filter_buttons_count_the_claims():
    verdicts = ["holds"] * 3 + ["misprint"] * 2 + ["open"]
    made = page(claims=[a_claim(f"C{i:02d}", verdict) for i, verdict in enumerate(verdicts, start=1)])
    buttons = [b for b in made.all("button") if "data-filter" in b["attributes"]]
    texts = [button["text"] for button in made.all("button", data_filter="verdict")]
    assert texts == ["holds 3", "misprint 2", "open 1"]
    for button in buttons:
        name, value = button["attributes"]["data-filter"], button["attributes"]["data-value"]
        shown = [card for card in claim_cards(made) if value == card["attributes"][f"data-{name}"]]
        assert button["text"].split()[-1] == str(len(shown))
    # without scripts all claims are visible and the buttons are not offered
    assert all("hidden" not in card["attributes"] for card in claim_cards(made))
    assert all("disabled" in button["attributes"] for button in buttons)


def test_our_own_statements_are_counted_apart_and_named_where_they_fail():
    own = a_claim("S01", "fails", kind="ours", part="Ours: bef-seed")
    made = page(claims=[a_claim("C01", "holds"), own])
    texts = [button["text"] for button in made.all("button", data_filter="verdict")]
    assert texts == ["holds 1", "ours, fails 1"]
    assert "a statement of ours" in made.text("claim-S01") and "in the paper" not in made.text("claim-S01")


def test_formulas_become_mathml_and_nothing_else_gets_in():
    made = mathematics(r"if $\mathbb E_{\theta}[r]\le\frac12$ & so")
    assert made.startswith("if <math") and made.endswith("</math> &amp; so")
    assert "<mfrac>" in made and "\U0001d53c" in made and "$" not in made
    for latex in (r"\href{javascript:1}{x}", "{{{", "a & b"):
        assert mathematics(f"${latex}$") == escape(f"${latex}$")
    assert "<script>" not in mathematics("$<script>$ <script> **<script>**")


def test_emphasis_and_lists_are_rendered_and_stars_in_formulas_are_not_emphasis():
    assert mathematics("**All $N^*$, $M^*$.** *Proof* of theta* and x*") == (
        f"<strong>All {mathematics('$N^*$')}, {mathematics('$M^*$')}.</strong> <em>Proof</em> of theta* and x*"
    )
    assert paragraphs("Two:\n\n- one\n  line\n- $x$ & y\n\nEnd.") == (
        f"<p>Two:</p><ul><li>one line</li><li>{mathematics('$x$')} &amp; y</li></ul><p>End.</p>"
    )


def test_instances_their_constants_and_provenance():
    river = an_instance("river", gap=None, constants={"alpha_p": 1e-7, "new_one": float("inf")})
    made = page(instances=[an_instance("chain"), river])
    assert made.rows("table-Instances") == [
        ["chain", "chain", "bins = 8, sigma = 0.1", "40", "16", "8", "2", "30.5", "20.2", "0.0123"],
        ["river", "chain", "bins = 8, sigma = 0.1", "40", "16", "8", "2", "30.5", "20.2", "–"],
    ]
    constants = [["chain", "0.500", "2", "–"], ["river", "1.00e-07", "–", "∞"]]
    assert made.rows("table-Constants-of-Assumption-1-and-Theorem-1") == constants
    assert made.rows("provenance") == [["numpy", "2.0"], ["config", "ab12"], ["code", "cd34"]]
    config = "seeds: 20\nagents:\n  bef-rlsvi:\n    c:\n    - 0.1\n    - 1.0\n"
    assert made.all("pre", within=made.one(id="provenance"))[-1]["text"] == config


ANSWER = {
    "episodes": 300.0, "seeds": 20.0, "random": 812.3, "greedy": 45.67, "best": 12.3,
    "best_agent": "exp-psrl, scale = 2", "low": 30.1, "high": 36.2, "matters": True,
}  # fmt: skip


def test_whether_exploration_matters_is_shown_where_it_was_asked(tmp_path):
    unasked = dict.fromkeys(ANSWER, float("nan"))
    negative = ANSWER | {"low": -1.5, "high": 2.0, "best_agent": "bef-rlsvi, x = 3", "matters": False}
    answers = {"chain": ANSWER, "river": unasked, "ring": negative}
    asked = [an_instance(name, exploration=answer) for name, answer in answers.items()]
    made = page(instances=[*asked, an_instance("older")])
    place = "table-Does-exploration-matter-Greedy-against-the-best-of-three-agents"
    shown = [
        ["chain", "300", "20", "812", "45.7", "12.3", "exp-psrl, scale = 2", "30.1", "36.2", "True"],
        ["ring", "300", "20", "812", "45.7", "12.3", "bef-rlsvi, x = 3", "−1.50", "2.00", "False"],
    ]
    assert made.rows(place) == shown
    # Read back from the table, where empty cells make numbers of whole numbers, and objects of truth values.
    layout, facts = Layout(tmp_path), dict.fromkeys([*instance_table.FACTS, *instance_table.CONSTANTS], 1.0)
    rows = [facts | {"name": "river"}, facts | {"name": "chain"} | ANSWER, facts | {"name": "ring"} | negative]
    storage.write_text(layout.instances(), tidy.text(rows, instance_table.COLUMNS))
    for name in answers:
        storage.write_arrays(layout.instance(name), "instance", {}, an_instance(name))
    given = assemble._instances(layout, answers)
    assert [instance["name"] for instance in given] == list(answers)
    assert page(instances=given).rows(place) == shown
    for answer in (None, {}, unasked, dict.fromkeys(ANSWER)):
        made = page(instances=[an_instance("chain", exploration=answer)])
        assert not made.all(id=place)


def test_cost_is_in_milliseconds_with_the_cheapest_agent_first_and_seconds_are_added_up():
    made = page(costs=[pd.DataFrame([a_cost("slow", 0.004), a_cost("quick", 0.00125)])])
    assert made.rows("cost-chain-known-rewards-track-K") == [
        ["quick", "1.25", "0.625", "0.312", "0.312", "0.0400", "180"],
        ["slow", "4.00", "2.00", "1.00", "1.00", "0.0400", "180"],
    ]
    assert made.rows("table-Stages") == [["runs", "3", "30"], ["claims", "2", "15"]]
    assert "Together 45.0 s." in made.text("cost")
    cost = pd.DataFrame({"agent": ["random", "greedy"], "batches": 2, "wall_seconds": 1.5})
    assert assemble._stages([cost, cost], [{"seconds": 2.0}, {"seconds": 0.5}]) == [
        {"stage": "runs", "jobs": 8, "seconds": 6.0}, {"stage": "claims", "jobs": 2, "seconds": 2.5},
    ]  # fmt: skip


def test_measured_times_are_shown_in_the_section_on_cost_alone():
    measured = {
        "costs": [pd.DataFrame([a_cost("exp-psrl", 0.0654), a_cost("bef-rlsvi", 0.0888)])],
        "figures": [a_figure("regret"), a_figure("speed", measured=True, section="cost")],
        "published": [an_experiment() | {"timings": an_experiment()["timings"].assign(ours=7777.0)}],
        "claims": [a_claim("C01", "holds", seconds=88888.0)],
        "stages": [{"stage": "runs", "jobs": 3, "seconds": 99999.0}],
    }
    made, other = page(**measured), page(**measured | {key: EMPTY[key] for key in ("costs", "stages")})
    top = ([e for e in each.all("section") if len(e["path"]) == 3] for each in (made, other))
    here, there = ({e["attributes"]["id"]: e["text"] for e in sections} for sections in top)
    assert {name for name in here if here[name] != there[name]} == {"cost"}
    for text in ("Title of speed", "65.4", "7,777", "99,999"):
        assert text in here["cost"]
        assert not [name for name in here if name != "cost" and text in here[name]]
    assert "88,888" not in made.one("main")["text"]


def test_damaged_files_are_rejected_with_their_path(tmp_path):
    layout = Layout(tmp_path)
    about = {key: a_figure("f").get(key) for key in assemble.FIGURE} | {"measured": False}
    cases = {
        "": (about, b"<svg/>"),
        r"f\.json: not the description of a figure": ([], b"<svg/>"),
        "its 'title' is missing or damaged": (about | {"title": 3}, b"<svg/>"),
        "it describes 'g', not 'f'": (about | {"name": "g"}, b"<svg/>"),
        r"f\.svg: cannot be read as text": (about, b"\xff"),
        r"f\.svg: there is no such file$": (about, None),
    }
    for reason, (words, drawn) in cases.items():
        storage.write_json(layout.figure("json", "f"), words)
        drawing = Path(layout.figure("svg", "f"))
        drawing.write_bytes(drawn) if drawn else drawing.unlink()
        with pytest.raises(InputError, match=reason) if reason else contextlib.nullcontext():
            assemble._figure(layout, "f")
    record, path = a_claim("C31", "holds"), layout.claim("C31")
    damaged = r"C31\.json: not the record of a claim, its 'seconds' is missing or damaged"
    for reason, change in ((damaged, {"seconds": "long"}), ("it is the record of C39, not of C31", {"id": "C39"})):
        storage.write_json(path, record | change)
        with pytest.raises(InputError, match=reason):
            ledger.read(path, "C31")
    facts = dict.fromkeys([*instance_table.FACTS, *instance_table.CONSTANTS], 1.0) | {"name": "river"}
    storage.write_text(layout.instances(), tidy.text([facts], instance_table.COLUMNS))
    with pytest.raises(InputError, match=r"instances\.csv: there is no row of 'chain'"):
        assemble._instances(layout, ["chain"])


def test_published_numbers_stand_beside_ours():
    made = page()
    heads = "instance quantity ours authors unit algorithm role episode low high follows authors_runs"
    (table,) = made.all("pre", within=made.one(id="published"))
    head, *rows = (line.split("\t") for line in table["text"].split("\n"))
    assert set(heads.replace("_", " ").split()) <= set(" ".join(head).split())
    numbers = [dict(zip(head, row, strict=True)) for row in rows]
    assert [(row["ours"], row["authors"]) for row in numbers] == [("5.60", "5.60"), ("110,000", "99,000")]
    assert (numbers[1]["low"], numbers[1]["authors runs"], numbers[0]["low"]) == ("100,000", "1", "")
    for text in ("Ayoub et al.: a river", "How ours differs.", "Section 6."):
        assert text in made.text("published")
    without = page(published=[])
    assert without.all(id="published") == []


def test_what_is_empty_is_said_to_be_missing():
    sentences = {
        "config": "No configuration was produced.", "instances": "No instances were produced.",
        "summaries": "No runs were produced.",
        "claims": "No claims were produced.", "stages": "No timings were produced.",
    }  # fmt: skip
    made = Page(build(**EMPTY))
    assert sorted(map(words, made.all(class_="nothing"))) == sorted(sentences.values())
    assert set(references(made.elements)) <= set(ids(made))
    for key, sentence in sentences.items():
        assert words(page(**{key: EMPTY[key]}).one(class_="nothing")) == sentence
    assert words(page(summaries=[pd.DataFrame()]).one(class_="nothing")) == sentences["summaries"]


def test_unknown_keys_and_columns_change_nothing():
    more = {"brand new": {"deep": [1, None]}}
    given = inputs()
    grown = {key: [row | more for row in given[key]] for key in ("instances", "figures", "claims", "stages")}
    grown |= {key: [frame.assign(brand_new="x") for frame in given[key]] for key in ("costs", "summaries")}
    assert build(**given | grown) == build(**given)


def test_sparse_records_are_enough():
    row = {"instance": "bare", "track": "K", "agent": "a", "role": "tuned", "mean": 1.0}
    made = page(
        instances=[{"name": "bare"}],
        claims=[a_claim("C01", "open")],
        figures=[{"name": "plain", "svg": "<svg/>"}],
        stages=[{"stage": "runs"}],
        costs=[pd.DataFrame([{key: row[key] for key in ("instance", "track", "agent")}])],
        summaries=[pd.DataFrame([row])],
    )
    assert made.one("img")["attributes"]["alt"] == "plain"
    assert made.rows("table-Instances") == [["bare", "–", "", *["–"] * 7]]
    assert made.rows("regret-bare-K")[0][:5] == ["a", "tuned", "", "", "1"]
    assert made.one(id="claim-C01")["attributes"]["data-verdict"] == "open"
    assert "None" not in made.one("main")["text"]


def test_hostile_text_stays_text():
    evil = "</script></style></pre><script>alert('x')</script>\"'><img src=x onerror=alert(1)> {{ 7777 * 7 }}"
    deep, published = {evil: [evil]}, pd.DataFrame([dict.fromkeys(an_experiment()["timings"], evil)])
    row = a_row(evil, "tuned", 1.0, setting=evil, group=evil, remarks=evil, instance=evil, track=evil)
    place = {"family": evil, "parameters": {evil: evil}, "constants": {evil: 1.0}}
    place["exploration"] = ANSWER | {"best_agent": evil}
    claim = dict.fromkeys(a_claim("C01", "holds"), evil) | {"worst_case": 1.0, "seconds": 1.0, "trials": 1}
    claim |= {key: [] for key in ("repairs", "lighter", "steps", "others", "mutants", "weak")}
    claim |= {key: {"verdict": evil, "argument": evil} for key in ("second", "third")}
    claim |= {key: a_claim("C01", "holds")[key] for key in ("id", "kind", "verdict", "part")}
    claim["class"] = {"why": evil, "by": evil}
    hostile = (
        {"answers": [f"**{evil}** {evil}"]}
        | {key: {evil: evil} for key in ("config", "versions", "hashes")}
        | {
            "instances": [an_instance(evil, **place)],
            "summaries": [pd.DataFrame([row])],
            "costs": [pd.DataFrame([a_cost(evil, 1.0, instance=evil, track=evil)])],
            "figures": [a_figure("bound", title=evil, caption=evil, command=evil, plotted={evil: evil}, tables=[evil])],
            "published": [
                {
                    "source": evil,
                    "about": f"{evil}\n\n{evil}",
                    "citation": evil,
                    "values": published,
                    "timings": published,
                }
            ],
            "claims": [claim, a_claim("C02", "holds", instance=deep, details=deep)],
            "stages": [{"stage": evil, "jobs": 1, "seconds": 1.0}],
        }
    )
    made = Page(build(**hostile))
    assert len(made.all("script")) == 1
    assert all(image["attributes"]["src"].startswith("data:image/svg+xml,") for image in made.all("img"))
    assert not [e for e in made.elements if any(name.startswith("on") for name in e["attributes"])]
    assert made.all("figcaption")[0]["text"].count(evil) == 4
    assert json.loads(made.one(id="plotted")["text"])["bound"] == {evil: evil}
    assert made.one("svg")["attributes"]["aria-label"] == evil
    for section in ("answer", "claims", "cases", "components", "cost", "provenance"):
        assert evil in made.one(id=section)["text"], section
    assert "54439" not in made.one("main")["text"]


def test_numbers_and_durations_have_three_digits():
    for value, text in (
        (0.158655, "0.159"), (9.999, "10.0"), (12.345, "12.3"), (1234.4, "1,234"), (-0.5, "−0.500"),
        (1.5e-8, "1.50e-08"), (2.5e9, "2.50e+09"), (0.0, "0"), (12, "12"), (np.int64(1200), "1,200"),
        (np.float64(0.5), "0.500"), (float("nan"), "–"), (None, "–"), (float("inf"), "∞"), (-np.inf, "−∞"),
        ("text", "text"),
    ):  # fmt: skip
        assert wording.number(value) == text
    for seconds, text in ((0.5, "0.500 s"), (119, "119 s"), (120, "2.00 min"), (7200, "2.00 h")):
        assert wording.duration(seconds) == text
