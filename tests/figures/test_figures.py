"""Figures: the same bytes every time, captions that say what is drawn, and the numbers of the tables."""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

import befrl
from befrl import figures
from befrl.analysis import components, regret_columns
from befrl.claims import ledger
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.common.layout import Layout
from befrl.common.printed import PRINTED
from befrl.figures.support import render, style
from befrl.figures.support.contents import contents
from befrl.study import provenance
from cases import Entry, play_all, write_tables
from helpers import PROJECT, light

KINDS = figures.registry.names()
REFERENCE = PROJECT / "tests" / "reference" / "smoke"
CAPTIONS = Path(__file__).with_name("captions.csv")
# In the second case nobody is tuned and nothing is swept.
CASES = TUNED, UNTUNED = ("chain-3", "U"), ("riverswim-3", "K")
SUMMARIES = [tidy.read(Layout(results=REFERENCE).regret("summary", *case)) for case in CASES]
AGENTS = {row.agent: row.algorithm for row in pd.concat(SUMMARIES).itertuples()}
# for processes that are to import the code that is tested
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(befrl.__file__).parents[1]), "PYTHONUTF8": "1"}


def write(path, table):
    storage.write_text(path, tidy.text(table, table.columns))


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    """The tables of the smoke study, with claims, seconds, and a second instance for each component study."""
    layout = Layout(tmp_path_factory.mktemp("study"))
    shutil.copytree(REFERENCE, layout.results)
    rng = np.random.default_rng(20)
    for study in ("estimators", "planners", "proof", "rates", "traps"):
        (first,) = os.listdir(REFERENCE / "components" / study)
        for name in set(components.tables(study)) - {"timings"}:
            table = tidy.read(layout.component(study, name, first))
            second = table.assign(instance="second")
            for column in {"seeds", "repetitions"} & set(second):
                second[column] += 2
            if study == "planners" and name == "medians":  # beyond the limits of the axes
                second["value_error"], second["regret"] = second["value_error"] * 1e20, second["regret"] * 1e-9
            if name == "regions":  # coverage that falls with k
                second["covered"] = 1 / second["k"]
            write(layout.component(study, name, "second"), second)
            for each in (table, second) if name == "medians" else ():
                timed = each.assign(seconds=rng.lognormal(size=len(each)))[list(components.tables(study)["timings"])]
                write(layout.component_timings(study, each["instance"].iloc[0]), timed)
    table = tidy.read(layout.table1())
    powers = {"exponent_k": np.nan, "exponent_d": 1.26, "exponent_H": np.nan}
    write(layout.table1_timings(), table[["instance", "track", "agent", "algorithm"]].assign(seconds=0.01, **powers))
    table = tidy.read(layout.component("exploration", "shares", "chain-3"))
    write(layout.component("exploration", "shares", "chain-3"), table.assign(matters=True, low=0.1))
    table = tidy.read(layout.regret("summary", *TUNED))
    write(layout.regret("summary", *TUNED), table.assign(edge_matters=table["variant"] == "bef-rlsvi@tuned"))
    certified = table[table["variant"] == "exp-ucrl"].assign(delta=0.05, regret=table["mean"], certified=100.0)
    certified = certified.assign(certified_share=0.42, trivial=240.0, random=60.0, first_k=30, broken=0.0)
    certified = certified.assign(broken_low=0.0, broken_high=0.6, broken_episodes=0)
    write(layout.regret("certificates", *TUNED), certified[list(regret_columns.CERTIFICATES)])
    points = tidy.read(layout.regret("curves", *TUNED))
    points = points[points["variant"] == "exp-ucrl"].assign(certified=lambda rows: 6.0 * rows["episode"] ** 0.8)
    write(layout.regret("certificate_curves", *TUNED), points[list(regret_columns.CERTIFICATE_CURVES)])
    rest = {"grade": "search", "worst_case": 0.5, "instance": {}, "correction": "", "second": None}
    rest |= {"inherits": "", "class": {}, "third": None}
    verdicts = {"C37": "holds", "C39": "constant", "C46": "fails", "C33": "open"}
    storage.write_text(layout.ledger(), ledger.table([{"id": id, "verdict": verdicts[id]} | rest for id in verdicts]))
    return layout


@pytest.fixture(scope="module")
def sources(layout):
    """The tables of a figure by its kind."""
    shown = [(study, name) for study in components.registry for name in os.listdir(REFERENCE / "components" / study)]
    shown = sorted(shown) + [(study, "second") for study in ("estimators", "planners", "proof", "rates", "traps")]
    wanted = figures.wanted([TUNED], shown, ["ayoub"], certified=[TUNED]).values()
    found = {}
    for kind, shown in wanted:
        cases = CASES if figures.scope(kind) == "study" else ()
        found[kind] = figures.sources(
            layout, kind, [*cases, *(thing for thing in shown if thing != TUNED or not cases)]
        )
    return found


def described(layout, kind, case):
    """The words of a figure of a case."""
    return render.describe(kind, render.read_tables(figures.sources(layout, kind, [case])))


def drawn(kind, sources):
    """The figure itself."""
    style.theme()
    style.start(AGENTS)
    return figures.registry.module(kind).draw(render.read_tables(sources))


@pytest.fixture(scope="module")
def drawing(sources):
    """The figure and its tables by kind; drawn once."""
    return functools.cache(lambda kind: (drawn(kind, sources[kind]), render.read_tables(sources[kind])))


def saved(kind, sources, folder):
    """The bytes of a figure's files."""
    render.render(kind, sources, folder / kind, "make reproduce")
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


# Bytes.


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind in ("regret", "cost") else pytest.mark.slow) for kind in KINDS]
)
def test_a_figure_has_the_same_bytes_every_time(sources, tmp_path_factory, kind):
    first = saved(kind, sources[kind], tmp_path_factory.mktemp("first"))
    drawn("tuning", sources["tuning"])  # what was drawn before must not matter
    assert saved(kind, sources[kind], tmp_path_factory.mktemp("second")) == first
    assert sorted(first) == [".json", ".png", ".svg"]
    assert ElementTree.fromstring(first[".svg"]).tag.endswith("svg") and b"dc:date" not in first[".svg"]
    assert first[".png"].startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_another_process_draws_the_same_bytes(sources, tmp_path_factory, kind):
    program = """if True:
        import json, sys
        from befrl.figures.support import render
        kind, out, sources = sys.argv[1:]
        render.render(kind, json.loads(sources), out, "make reproduce")"""
    folder = tmp_path_factory.mktemp("other")
    call = [sys.executable, "-c", program, kind, folder / kind, json.dumps(sources[kind], default=list)]
    subprocess.run(call, check=True, env=ENVIRONMENT | {"PYTHONHASHSEED": "77"})
    other = {path.suffix: path.read_bytes() for path in folder.iterdir()}
    assert other == saved(kind, sources[kind], tmp_path_factory.mktemp("own"))


# Words.


@pytest.mark.parametrize("kind", KINDS)
def test_captions_state_seeds_and_intervals(drawing, kind):
    """As captions.csv says: the number of seeds, what is averaged, and what shading and lines show."""
    figure, tables = drawing(kind)
    assert contents(figure)["axes"]
    about = render.describe(kind, tables)
    expected = pd.read_csv(CAPTIONS, index_col="kind").loc[kind]
    assert about["title"] and about["seeds"] == (None if np.isnan(expected["seeds"]) else expected["seeds"])
    assert expected["states"] in about["caption"] and expected["shows"] in about["caption"]


def test_the_json_describes_the_figure(sources, drawing, tmp_path):
    render.render("tuning", sources["tuning"], tmp_path / "a", "make reproduce")
    about, words = storage.read_json(tmp_path / "a.json"), render.describe("tuning", drawing("tuning")[1])
    assert about.pop("plotted")["texts"] == [words.pop("heading")] != [""]
    assert not words.pop("empty")
    given = {"name": "a", "command": "make reproduce"}
    assert about == words | given | {"section": "cases", "lead": 0, "measured": False}


def test_only_figures_of_timings_show_seconds():
    """Committed figures must not change from run to run."""
    assert sorted(render.CAPTIONS) == KINDS
    for kind in KINDS:
        tables = figures.registry.module(kind).TABLES
        assert figures.measured(kind) == ("timings" in tables)
        columns = {column for columns in tables.values() for column in columns}
        assert figures.measured(kind) == bool(columns & {"seconds", "seconds_per_episode", "exponent_k"})


def test_every_section_is_opened_by_figures_in_a_fixed_order():
    places = {kind: figures.place(kind) for kind in KINDS}
    sections = ("answer", "winners", "theorem", "repair", "cases", "components", "cost")
    assert {place["section"] for place in places.values()} == set(sections)
    assert {kind for kind in KINDS if places[kind]["section"] == "cost"} == {
        kind for kind in KINDS if figures.measured(kind)
    }
    for section in sections:
        leads = sorted(place["lead"] for place in places.values() if place["section"] == section and place["lead"])
        assert leads == list(range(1, len(leads) + 1))
        assert bool(leads) == (section not in ("components", "cost"))


def test_numbers_far_from_one_are_multiples_of_powers_of_ten():
    for value, digits, text in (
        (1e-6, 1, "10⁻⁶"), (0.01, 1, "0.01"), (1.0, 2, "1"), (0.0, 1, "0"), (3.24e15, 2, "3.2 · 10¹⁵"),
        (2e-4, 1, "2 · 10⁻⁴"), (300.0, 2, "300"), (79.6323, 2, "79.6"), (93194.1, 2, "93200"),
        (float("nan"), 1, "nan"), (float("inf"), 2, "inf"),
    ):  # fmt: skip
        assert style.power(value, digits) == text


def test_every_component_study_is_drawn():
    modules = [figures.registry.module(kind) for kind in KINDS if figures.scope(kind) == "component"]
    # The exponents of scaling are part of the timings of Table 1.
    assert sorted({*(module.SUBJECT for module in modules), "scaling"}) == components.registry.names()
    for module in modules:
        for table, columns in module.TABLES.items():
            assert set(columns) <= set(components.tables(module.SUBJECT)[table])


def test_the_number_of_settings_in_the_caption_is_that_of_the_grids():
    grids = components.registry.module("exploration").GRIDS
    assert [len(values) for _, values in grids.values()] == [4, 4, 4]
    caption = " ".join(render.CAPTIONS["exploration"]["caption"].split())
    assert "best of three agents with four settings each" in caption


def test_the_caption_says_which_track_and_family(layout):
    unknown, known = (described(layout, "regret", case) for case in CASES)
    assert "reward unknown" in unknown["title"] and "track U" in unknown["caption"]
    assert "reward known" in known["title"] and "track K" in known["caption"]
    assert "oracle" not in unknown["caption"] and "zero" not in unknown["caption"]
    assert "tuned" in unknown["title"] and "Solid: best of the configurations tried" in unknown["caption"]
    # A study without a sweep or tuning has its figures, too.
    words = {"noise-scale": "No sweep over x", "optimism": "No sweep over x", "tuning": "No agent was tuned"}
    words["noise-penalty"] = "not tuned over x"
    for kind, text in words.items():
        assert text in described(layout, kind, UNTUNED)["caption"]
        assert not drawn(kind, figures.sources(layout, kind, [UNTUNED])).axes[0].collections


def published_values(columns, **changes):
    """Values of two agents on one instance: the second leaves uniform play between the two episodes."""
    row = {"source": "ayoub", "instance": "riverswim-3", "quantity": "regret", "algorithm": "ucrl-vtr"}
    agents = (("first", 10, "no"), ("first", 20, "no"), ("second", 10, "no"), ("second", 20, "yes"))
    rows = [row | {"variant": name, "episode": k, "told_from_uniform": told} for name, k, told in agents]
    return pd.DataFrame(rows, columns=columns).assign(**changes)


def test_published_figures_say_what_cannot_be_told_and_how_far_the_authors_are(drawing):
    (tables,) = drawing("published")[1]
    values = functools.partial(published_values, tables["values"].columns)

    def caption(values):
        return render.describe("published", [tables | {"values": values}])["caption"]

    assert (
        "Not significantly different from uniform play, which lies within their interval: first on riverswim-3. "
        in caption(values())
    )
    assert "Stars" not in caption(values()) and "Not significantly" not in caption(values(told_from_uniform="yes"))
    follows = ["code", "code", "text", "text"]
    starred = values(authors=[1.0, 2.0, 3.0, 4.0], deviation=[0.01, -0.04, 0.02, 0.03], follows=follows)
    words = "Stars: the authors' numbers, from which curves deviate by up to 4% as the code and 3% as the text. "
    assert words in caption(starred)
    (axes,) = figures.registry.module("published").draw([tables | {"values": starred}]).axes
    stars = [line for line in axes.get_lines() if line.get_marker() == "*"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in stars] == [(10, 1), (20, 2), (10, 3), (20, 4)]
    # The title says whether the experiment follows the authors' code or their text.
    assert axes.get_title() == "riverswim-3,\nas the code"
    other = tables | {"curves": tables["curves"].assign(follows=np.nan)}
    assert figures.registry.module("published").draw([other]).axes[0].get_title() == "riverswim-3"


@pytest.mark.parametrize("kind", KINDS)
def test_figures_are_readable_in_one_column(sources, kind):
    """85 mm wide, no text below 5 points, and all of it inside; the alternative text says more than the title."""
    figure, about = drawn(kind, sources[kind]), render.describe(kind, render.read_tables(sources[kind]))
    figure.suptitle(about["heading"], fontsize=style.HEADING)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    box, (width, height) = figure.get_tightbbox(canvas.get_renderer()), figure.get_size_inches()
    assert min(box.x0, box.y0) > -0.01 and box.x1 < width + 0.01 and box.y1 < height + 0.01
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text().strip()) >= style.LEAST
    assert width * 25.4 <= 85.1
    assert about["alternative"] != about["title"]


# What is drawn.


def test_curves_are_those_of_the_table(drawing):
    """Of each tuned agent but the oracle, to zero: at most six in colour with names at their ends, the others grey."""
    figure, (tables,) = drawing("regret")
    (axes,), module = figure.axes, figures.registry.module("regret")
    rows = module.shown(tables["summary"]).set_index("agent")
    assert {"bef-rlsvi", "lsvi-ucb-shared", "greedy", "random"} < set(rows.index) and "oracle" not in rows.index
    assert rows.loc["bef-rlsvi", "variant"] == "bef-rlsvi@tuned"
    names = style.names(tables["summary"])
    lines = {agent: line for agent in rows.index for line in axes.get_lines() if line.get_label() == names[agent]}
    assert set(lines) == set(rows.index) and axes.get_ylim()[0] == 0
    for agent, line in lines.items():
        curve = tables["curves"][tables["curves"]["variant"] == rows.loc[agent, "variant"]]
        assert np.array_equal(line.get_ydata(), curve["mean"]) and curve["high"].max() < axes.get_ylim()[1]
    ends = {text.get_text().strip() for text in axes.texts}
    coloured = [agent for agent, line in lines.items() if to_hex(line.get_color()) != module.GREY]
    assert len(coloured) == len(axes.collections) == module.MOST < len(lines)
    assert ends == {names[agent] for agent in coloured} > {"bef-rlsvi", "greedy", "random"}
    assert min(np.diff(sorted(text.xy[1] for text in axes.texts))) > 0.02  # names do not overlap


def without_regret(tables, variant, episodes=None):
    """The tables with a variant whose regret is zero, or zero in the first episodes."""
    found = {name: table.copy() for name, table in tables.items()}
    for table in found.values():
        numbers = [name for name in ("mean", "low", "high", "q10", "q50", "q90") if name in table]
        if "variant" in table and (episodes is None or "episode" in table):
            early = True if episodes is None else table["episode"] <= episodes
            table.loc[(table["variant"] == variant) & early, numbers] = 0.0
    return found


def test_zero_is_drawn_as_zero(drawing):
    """A curve without regret, in the first episodes or in all, and a mean without regret: nothing is cut off."""
    tables = drawing("regret")[1][0]
    for episodes in (None, 2):
        (axes,) = figures.registry.module("regret").draw([without_regret(tables, "exp-psrl", episodes)]).axes
        (line,) = [line for line in axes.get_lines() if line.get_label() == "exp-psrl"]
        assert line.get_ydata()[0] == 0 and (line.get_ydata() == 0).all() == (episodes is None)
        assert axes.get_ylim()[0] == axes.yaxis.get_transform().transform(0) == 0
    axes = figures.registry.module("ordering").draw([without_regret(drawing("ordering")[1][0], "exp-psrl")]).axes[0]
    assert 0 in [line.get_xdata()[0] for line in axes.get_lines() if line.get_marker() == "o"]
    assert axes.get_xlim()[0] == 0


def test_references_new_algorithms_and_the_best_are_in_colour():
    names = ("psrl", "ucbvi", "exp-ucrl", "eqo", "greedy", "mine", "bef-rlsvi")
    rows = pd.DataFrame({"agent": names, "algorithm": names, "mean": range(7)})
    found = figures.registry.module("regret").coloured(rows)
    assert found == ["greedy", "mine", "bef-rlsvi", "psrl", "ucbvi", "exp-ucrl"]


def test_the_order_and_the_letters_are_those_of_the_table(drawing):
    figure, (tables,) = drawing("ordering")
    axes, letters = figure.axes
    order = tables["order"][tables["order"]["family"] == "tuned"]
    rows = tables["summary"].set_index("variant").loc[order["variant"]]
    assert [line.get_xdata()[0] for line in axes.get_lines() if line.get_marker() == "o"] == list(rows["mean"])
    texts = [text.get_text() for text in letters.texts]
    assert texts[1::2] == list(order["group"])
    assert texts[::2] == [f"{100 * share:.3g} %" if share > 0 else "" for share in rows["failed"]]
    marks = ["*" * star + " °" * (same == 0) for star, same in zip(rows["edge_matters"], rows["changed"], strict=True)]
    labels, names = [label.get_text() for label in axes.get_yticklabels()], style.names(tables["summary"])
    assert {"*", " °"} <= set(marks)
    assert labels == [names[agent] + mark for agent, mark in zip(order["agent"], marks, strict=True)]


def test_tuning_shows_all_configurations_and_those_that_were_evaluated(drawing):
    figure, (tables,) = drawing("tuning")
    (axes,) = figure.axes
    summary, tuning = tables["summary"].set_index("variant"), tables["tuning"]
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert sorted(shown) == ["bef-rlsvi", "lsvi-ucb-shared"]
    assert summary.loc[f"{shown[0]}@tuned", "mean"] <= summary.loc[f"{shown[1]}@tuned", "mean"]

    def at(marker, line):
        found = [each for each in axes.get_lines() if each.get_marker() == marker and set(each.get_ydata()) == {line}]
        return [x for each in found for x in each.get_xdata()]

    for line, agent in enumerate(shown):
        assert sorted(at(".", line)) == sorted(tuning[tuning["agent"] == agent]["first_mean"])
        for variant, marker in (("@tuned", "o"), ("", "x")):
            assert at(marker, line) == [summary.loc[f"{agent}{variant}", "mean"]]
        median = tuning[(tuning["agent"] == agent) & (tuning["chosen"] == "median")]["first_mean"]
        assert at("|", line) == median.tolist()


def test_configurations_over_noise_and_penalty_are_those_of_the_table(drawing):
    figure, tables = drawing("noise-penalty")
    rows = tables[0]["tuning"][tables[0]["tuning"]["agent"] == "bef-rlsvi"]
    points, circle = figure.axes[0].collections
    random = tables[0]["summary"].set_index("variant").loc["random", "mean"]
    expected, chosen = [], []
    for row in rows.itertuples():
        values = dict(part.split("=") for part in row.setting.split())
        expected.append([float(values["x"]), float(values["eta"]), np.clip(row.first_mean / random, 0.01, 1)])
        chosen += [expected[-1][:2]] if row.chosen == "tuned" else []
    assert np.allclose(sorted(np.c_[points.get_offsets(), points.get_array()].tolist()), sorted(expected), rtol=1e-12)
    assert circle.get_offsets().tolist() == chosen


@pytest.mark.parametrize(
    ("kind", "columns"),
    [("noise-scale", ["mean", "low", "high"]), ("optimism", ["optimistic", "optimistic_low", "optimistic_high"])],
)
def test_sweeps_over_the_noise_scale_are_those_of_the_table(drawing, kind, columns):
    """As multiples of Theorem 1's x, which is the last point, and of the regret of random play."""
    figure, tables = drawing(kind)
    rows = tables[0]["summary"]
    random = rows.set_index("variant").loc["random", "mean"] if kind == "noise-scale" else 1.0
    rows = rows[(rows["parameter"] == "x") & (rows["algorithm"] == "bef-rlsvi")].sort_values("value")
    (curve, _, (bars,)) = figure.axes[0].containers[0]
    assert np.allclose(curve.get_xdata(), rows["value"] / rows["value"].iloc[-1], rtol=1e-12)
    assert rows["role"].iloc[-1] == "theory" and {"sweep"} == set(rows["role"][:-1])
    expected = rows[columns].to_numpy() / random
    assert np.allclose(curve.get_ydata(), expected[:, 0], rtol=1e-12)
    assert np.allclose([segment[:, 1] for segment in bars.get_segments()], expected[:, 1:], rtol=1e-9)


def test_shares_of_seeds_in_traps_stand_beside_greedy_and_exp_ucrl(drawing):
    figure, tables = drawing("noise-scale")
    right, traps = figure.axes[1], [table["never"] for table in tables if "never" in table]
    for (curve, *_), never in zip(right.containers, traps, strict=True):
        rows = never[(never["eta"] == 1) & (never["ties"] == "random") & (never["agent"] == "bef-rlsvi")]
        theory = rows[rows["setting"] == "scale=1"]["x"].iloc[0]
        rows = rows[rows["setting"].str.startswith("x=")]
        assert list(curve.get_xdata()) == list(rows["x"] / theory) and list(curve.get_ydata()) == list(rows["never"])
    rules = {to_hex(line.get_color()): line.get_ydata()[0] for line in right.get_lines()}
    for agent in ("greedy", "exp-ucrl"):
        usual = traps[0][(traps[0]["ties"] == "random") & (traps[0]["setting"].isna())].set_index("agent")
        assert rules[to_hex(style.colour(agent))] == usual.loc[agent, "never"]


def test_the_titles_of_the_noise_scale_follow_from_the_tables(drawing):
    """One case fails at Theorem 1's noise and learns with less; if all seeds failed, or none, the counts change."""
    module, (tables, *_) = figures.registry.module("noise-scale"), drawing("noise-scale")[1]

    def title(low, high):
        summary = tables["summary"].assign(failed_low=low, failed_high=high)
        return module.learned(module.sweeps([{"summary": summary}]))

    assert "fails in 1 of 1" in title(0.9, 1.0) and title(0.9, 1.0).endswith("less noise learns in 0")
    assert "fails in 0 of 1" in title(0.0, 0.1) and title(0.0, 0.1).endswith("less noise learns in 1")
    never = [table["never"].assign(never=0.25) for table in drawing("noise-scale")[1] if "never" in table]
    assert module.missed(never).startswith("25 to 25 %")


def test_the_heat_map_shows_every_agent_and_frames_those_as_good_as_the_best(drawing):
    figure, tables = drawing("who-wins")
    module, cases = figures.registry.module("who-wins"), tables[:1]  # nobody plays at random in the second
    (improvement,) = (table["table"] for table in tables if "table" in table)
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert set(names) == {agent for table in cases for agent in table["order"]["agent"]}
    for axes, family in zip(figure.axes, ("tuned", "theory"), strict=False):
        (mesh,) = axes.collections
        grid = mesh.get_array().reshape(len(names), len(cases))
        frames = {(int(patch.get_x()), int(patch.get_y())) for patch in axes.patches}
        for column, table in enumerate(cases):
            means = table["summary"].set_index("variant")["mean"]
            order = table["order"][table["order"]["family"] == family].set_index("agent")
            shares = [100 * means[order["variant"][a]] / means["random"] if a in order.index else None for a in names]
            for line, share in enumerate(shares):
                assert np.ma.is_masked(grid[line, column]) if share is None else grid[line, column] == share
            best = set(order["group"].iloc[0])
            expected = {names.index(agent) for agent, letters in order["group"].items() if best & set(letters)}
            assert {line for place, line in frames if place == column} == expected
        shown = sorted(text.get_text() for text in axes.texts)
        assert shown == sorted(module.number(value) for value in grid.compressed())
    wins = improvement[improvement["second"] == "all others"]
    dots = [line.get_xdata()[0] for line in figure.axes[2].get_lines() if line.get_marker() == "o"]
    assert dots == list(wins["probability"]) and names[: len(wins)] == list(wins["first"])
    assert [module.number(share) for share in (0.0, 0.04, 3.21, 9.96, 100.4)] == ["0", "0.0", "3.2", "10", "100"]


def test_cost_shows_the_time_of_an_episode_and_its_growth(drawing):
    """Of the agents of the paper's Table 1 in its order, then of the others."""
    figure, (tables,) = drawing("cost")
    rows = tables["timings"].set_index("agent")
    cost, growth = figure.axes
    names = [label.get_text() for label in cost.get_yticklabels()]
    assert set(names) == set(rows.index[rows["instance"] == "chain-3"])
    printed = [name for name in PRINTED if name in set(rows["algorithm"])]
    assert [rows["algorithm"][name] for name in names][: len(printed)] == printed
    assert [line.get_xdata()[0] for line in cost.get_lines()] == [1000 * 0.01] * len(names)
    # Powers that were not measured are left out.
    assert [text.get_text() for text in growth.texts] == ["", "1.3", ""] * len(names)


def test_the_map_of_claims_shows_what_fails_and_what_it_takes_along(drawing, sources, tmp_path):
    figure, (tables,) = drawing("claims-map")
    module, table = figures.registry.module("claims-map"), tables["table"].set_index("id")
    table = table[table["kind"] != "ours"]
    uses = {id: str(row.uses).split() if isinstance(row.uses, str) else [] for id, row in table.iterrows()}
    axes, strips = figure.axes
    boxes = {text.get_text().split("\n")[0]: text for text in axes.texts}
    assert set(boxes) == {id for id in module.needs(uses) if table["verdict"][id] in module.BROKEN} | {module.THEOREM}
    assert {"C46"} < set(boxes) and not {"C39", "C37"} & set(boxes)
    # From left to right, and each box leads to its page.
    for user, used in module.broken(uses, table["verdict"]).items():
        assert all(boxes[id].get_position()[0] < boxes[user].get_position()[0] for id in used)
    render.render("claims-map", sources["claims-map"], tmp_path / "map")
    assert b'xlink:href="../docs/claims/C46.md"' in (tmp_path / "map.svg").read_bytes()
    # The strips count all other claims.
    assert sum(int(text.get_text()) for text in strips.texts if text.get_text().isdigit()) == len(table) - len(boxes)
    for damage, words in (({"verdict": "maybe"}, "the verdict 'maybe'"), ({"uses": "C999"}, "no row of 'C999'")):
        with pytest.raises(InputError, match=f"the ledger has {words}"):
            module.draw([{"table": tables["table"].assign(**damage)}])


def test_links_that_follow_from_others_are_left_out():
    """C3 rests on C1 through C2, which holds; the theorem on all three."""
    module = figures.registry.module("claims-map")
    uses = {"C1": [], "C2": ["C1"], "C3": ["C2"], module.THEOREM: ["C1", "C2", "C3"]}
    links = module.broken(uses, dict.fromkeys(uses, "fails") | {"C2": "holds"})
    assert links == {"C1": [], "C3": ["C1"], module.THEOREM: ["C3"]}
    assert module.layers(links) == [["C1"], ["C3"], [module.THEOREM]]


def test_marks_are_those_of_the_agent_and_are_explained():
    rows = pd.DataFrame(
        [("ren-ts", "misspecified", "tuned"), ("greedy", "exact", "baseline"), ("smrl", "exact", "surrogate"),
         ("smrl", "exact", "tuned"), ("own", "misspecified", "surrogate")],
        columns=["agent", "specification", "role"],
    )  # fmt: skip
    expected = {"ren-ts": "ren-ts †", "greedy": "greedy", "smrl": "smrl ‡", "own": "own †‡"}
    assert style.names(rows) == expected
    # Table 1 has one row for each agent, which says whose constants it runs with.
    assert style.names(rows.drop(3).rename(columns={"role": "constants"})) == expected
    both = " †: the instance does not satisfy the algorithm's assumptions. ‡: surrogate constants; the source's are "
    assert style.explained(rows) == both + "not known."
    assert "†" not in style.explained(rows[1:4]) and style.explained(rows[1:2]) == ""


def test_line_styles_are_explained_where_they_are_used():
    """Each sentence belongs to a line style, and each role to one sentence."""
    words = {"theory": "Dashed", "surrogate": "Dashed", "tuned": "Solid", "sweep": "Thin", "set": "Dash-dotted"}
    words |= {"baseline": "Dotted", "outside": "Dash-dot-dotted"}
    assert set(words) == set(style.LINES)
    for role, word in words.items():
        text = style.line_styles([role, role])
        assert text.startswith(f"{word}: ") and text.count(".") == 1
    assert style.line_styles(["theory", "surrogate"]) == style.line_styles(["surrogate"])
    assert style.line_styles(style.LINES).count(":") == 6
    assert style.LINES["surrogate"] == style.LINES["theory"]


def test_an_agent_has_the_same_colour_in_all_figures(drawing, layout):
    def colours(figure):
        return {to_hex(line.get_color()) for axes in figure.axes for line in axes.get_lines()}

    style.start(AGENTS)
    known = ("bef-rlsvi", "exp-psrl", "ucrl-vtr", "lsvi-ucb", "greedy", "random", "oracle")
    own, other, vtr, ucb, greedy, random, black = (to_hex(style.colour(name)) for name in known)
    # lsvi-ucb-shared is a variant of lsvi-ucb and has its colour.
    assert colours(drawing("ordering")[0]) > {own, other, ucb, greedy, random}
    assert colours(drawn("regret", figures.sources(layout, "regret", [UNTUNED]))) == {vtr, greedy}
    grey = figures.registry.module("regret").GREY
    assert {own, greedy, random} < colours(drawing("regret")[0]) - {grey} < colours(drawing("ordering")[0])
    assert colours(drawing("noise-scale")[0]) >= {greedy, random, black}


# What is drawn of components.


def lines_of(axes, points=None):
    """Its lines, or those of so many points."""
    return [line for line in axes.get_lines() if points in (None, len(line.get_xdata()))]


def test_exploration_shows_shares_of_the_regret_of_random_play(drawing):
    figure, tables = drawing("exploration")
    (axes,) = figure.axes
    expected = [row for table in tables for row in table["shares"].itertuples()]
    intervals = [line for line in lines_of(axes, 2) if line.get_xdata()[0] != line.get_xdata()[1]]
    for line, point, row in zip(intervals, lines_of(axes, 1), expected, strict=True):
        assert list(line.get_xdata()) == [row.low, row.high]
        assert list(point.get_xdata()) == [row.share]
        assert point.get_ydata()[0] == line.get_ydata()[0]
        assert to_hex(line.get_color()) == to_hex(point.get_color()) == to_hex(style.colour(row.agent))
        assert (to_hex(point.get_markerfacecolor()) == "#ffffff") == (row.agent == "greedy")
    # Exploration matters on the first instance alone.
    assert [label.get_text() for label in axes.get_yticklabels()] == ["chain-3", "circle-4 (no)"]


def test_ratios_to_bef_seed_are_those_of_the_table_and_pale_where_the_difference_is_not_significant(drawing):
    figure, tables = drawing("certified")
    for axes, track in zip(figure.axes, "UK", strict=True):
        rows = [row for table in tables for row in table["regrets"].itertuples() if row.track == track]
        rows = [row for row in rows if (row.agent, row.role) != ("bef-seed", "theory")]
        for row, point in zip(rows, lines_of(axes, 1), strict=True):
            assert point.get_xdata()[0] == min(max(row.ratio, 0.02), 50.0)
            assert to_hex(point.get_color()) == to_hex(style.colour(row.agent))
            assert (to_hex(point.get_markerfacecolor()) == "#ffffff") == (row.role == "theory")
            assert (point.get_alpha() < 1) == (row.difference_low <= 0 <= row.difference_high)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["chain-3", "circle-4"]


def test_without_promises_the_figure_of_certificates_says_so(tmp_path):
    """On smooth instances nothing is promised."""
    layout = Layout(tmp_path)
    case = write_tables(layout, play_all(light("lds", horizon=3), {"bef-seed": Entry("bef-seed")}, seeds=2, episodes=3))
    sources = figures.sources(layout, "certificate", [case])
    assert set(tidy.read(*sources[0]["certificates"])["delta"]) == {1.0}
    render.render("certificate", sources, tmp_path / "a", agents={"bef-seed": "bef-seed"})
    about = storage.read_json(tmp_path / "a.json")
    assert about["caption"] == render.CAPTIONS["certificate"]["empty"] and not about["plotted"]["axes"][0]["artists"]


def test_the_bound_and_the_noise_scale_of_theorem_1_are_those_of_the_tables(drawing):
    """Instances in the order of the first K, with marks where there is one; the noise scale in that of the study."""
    figure, (*tables, last) = drawing("bound")
    facts = {table["facts"]["instance"].iloc[0]: table["facts"].set_index("quantity")["value"] for table in tables}
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    ours, *firsts = (list(zip(*line.get_data(), strict=True)) for line in axes.get_lines())
    for theorem, shown in zip(("trivial", "bef-seed, Theorem 1", "bef-seed, Theorem 2"), firsts, strict=True):
        expected = [(facts[name][f"first K, {theorem}"], i) for i, name in enumerate(names)]
        assert shown == [(K, i) for K, i in expected if K == K]
    assert [len(shown) for shown in firsts] == [2, 2, 1] and firsts[0] == sorted(firsts[0])
    longest = last["table"].set_index("name")["longest"]
    assert ours == [(longest[name], i) for i, name in enumerate(names)] and len(ours) == len(tables)
    (axes,) = drawing("noise-forms")[0].axes
    shown = {line.get_label(): list(line.get_xdata()) for line in lines_of(axes)}
    forms = ("theorem", "sketch", "lemma")
    assert shown == {form: [fact[f"x, {form}"] for fact in facts.values()] for form in forms}
    assert [label.get_text() for label in axes.get_yticklabels()] == list(facts)


def test_traps_show_every_share_and_seven_curves(drawing):
    figure, tables = drawing("traps")
    n = len(tables)
    labels = [label.get_text() for label in figure.axes[n].get_yticklabels()]
    for sweep, shares, curves, table in zip(*(figure.axes[i * n : (i + 1) * n] for i in range(3)), tables, strict=True):
        never, points = table["never"].fillna({"setting": ""}), table["points"]
        swept = never["setting"].str.contains("x=")
        shown = {line.get_label(): line for line in lines_of(sweep) if line.get_label().startswith("η")}
        assert len(shown) == never[swept]["eta"].nunique() <= 6
        for eta, part in never[swept].groupby("eta"):
            assert list(shown[f"η = {eta:g}"].get_ydata()) == list(part.sort_values("x")["never"])
        others = never[~swept]
        for row, line, point in zip(others.itertuples(), lines_of(shares, 2), lines_of(shares, 1), strict=True):
            assert (list(line.get_xdata()), list(point.get_xdata())) == ([row.low, row.high], [row.never])
            assert to_hex(line.get_color()) == to_hex(point.get_color()) == to_hex(style.colour(row.agent))
        assert len(set(labels)) == len(others) and "bef-rlsvi, theory's x" in labels
        assert len(curves.get_lines()) == 7
        for line in curves.get_lines():
            same = [
                points["regret"][part.index] for _, part in points.groupby(["agent", "setting", "ties"], dropna=False)
            ]
            assert any(list(line.get_ydata()) == list(regret) for regret in same)


def test_rates_show_every_slope_hollow_at_an_edge(drawing):
    figure, tables = drawing("rates")
    slopes = [table["slopes"][table["slopes"]["varied"] == varied] for varied in "KdH" for table in tables]
    for axes, rows in zip(figure.axes, slopes, strict=True):
        assert [list(line.get_xdata()) for line in lines_of(axes, 2)][: len(rows)] == rows[
            ["low", "high"]
        ].values.tolist()
        dots = lines_of(axes, 1)
        assert [line.get_xdata()[0] for line in dots] == list(rows["slope"])
        hollow = [to_hex(line.get_markerfacecolor()) == "#ffffff" for line in dots]
        assert hollow == list(rows["edge"] != "none")
        assert {0.5, 1.0} <= {line.get_xdata()[0] for line in lines_of(axes, 2)[len(rows) :]}
        assert len(axes.get_yticklabels()) == len(rows)


def test_densities_are_those_of_the_table(drawing):
    figure, tables = drawing("densities")
    by_kind = {
        table["points"]["kind"].iloc[0]: (axes, table["points"])
        for axes, table in zip(figure.axes, tables, strict=False)
    }
    (continuous, density), (finite, probability) = by_kind["density"], by_kind["probability"]
    assert (continuous.get_title(), finite.get_title()) == ("circle-4", "riverswim-3")
    lines = lines_of(continuous)
    assert len(lines) == 2 * 3
    for curve, part in density.groupby("curve"):
        for line, column in zip(lines[2 * curve : 2 * curve + 2], ("true", "estimated"), strict=True):
            assert np.array_equal(line.get_xdata(), part["next"]) and np.array_equal(line.get_ydata(), part[column])
    assert [bar.get_height() for bar in finite.patches] == list(probability["true"])
    dots = np.concatenate([line.get_ydata() for line in lines_of(finite)])
    assert list(dots) == list(probability["estimated"])
    # Bars of one next state stand side by side around it.
    centres = np.array([bar.get_x() + bar.get_width() / 2 for bar in finite.patches])
    assert np.array_equal(centres.round(), probability["next"]) and len(set(centres.round(6))) == len(centres)


def test_optimism_by_episode_is_that_of_the_table(drawing):
    figure, tables = drawing("optimism-episodes")
    for axes, rows in zip(figure.axes, (each["optimism"] for each in tables), strict=True):
        *curves, promised = axes.get_lines()
        groups = [part for _, part in rows.groupby("multiple", sort=False)]
        for line, shade, part in zip(curves, axes.collections, groups, strict=True):
            assert list(line.get_xdata()) == list(part["k"]) and list(line.get_ydata()) == list(part["share"])
            vertices = shade.get_paths()[0].vertices
            for place, *ends in part[["k", "low", "high"]].to_numpy():
                assert [*np.unique(vertices[vertices[:, 0] == place][:, 1])] == [*np.unique(ends)]
        assert promised.get_ydata()[0] == rows["promised"].iloc[0]


def test_bad_rounds_are_those_of_the_example_and_of_the_runs(drawing):
    figure, tables = drawing("bad-rounds")
    left, right = figure.axes
    columns = {label: column for column, (label, _) in figures.registry.module("bad-rounds").CURVES.items()}
    for line in left.get_lines():
        assert list(line.get_ydata()) == list(tables[0]["example"][columns.pop(line.get_label())])
    rows = pd.concat([table["bad_rounds"] for table in tables])
    rows = rows[rows["k"] == rows["episodes"]]
    dots = [line for line in right.get_lines() if line.get_marker() == "o"]
    assert not columns and [line.get_xdata()[0] for line in dots] == list(rows["mean"])
    hollow = [to_hex(line.get_markerfacecolor()) == "#ffffff" for line in dots]
    assert hollow == list(rows["rounds"] == "imagined")
    assert len(right.get_yticklabels()) == len(rows) / 2


def test_coverage_of_regions_is_that_of_all_episodes(drawing):
    figure, tables = drawing("coverage-regions")
    rows = pd.concat([table["regions"] for table in tables])
    rows = rows[rows["k"] == rows["episodes"]]
    (axes,) = figure.axes
    *lines, promised, _, _ = axes.get_lines()
    assert promised.get_xdata()[0] == rows["promised"].iloc[0]
    assert sorted(list(line.get_xdata()) for line in lines[::2]) == sorted(rows[["low", "high"]].to_numpy().tolist())
    assert sorted(line.get_xdata()[0] for line in lines[1::2]) == sorted(rows["covered"])
    assert len(axes.get_yticklabels()) == len(rows) / 2


def test_a_filled_square_is_a_hypothesis_that_holds(drawing):
    figure, tables = drawing("repairs")
    (axes,) = figure.axes
    filled = {
        (line.get_xdata()[0], line.get_ydata()[0]): to_hex(line.get_markerfacecolor()) != "#ffffff"
        for line in axes.get_lines()
    }
    cases = [(table["hypotheses"], answer) for table in tables for _, answer in table["answers"].iterrows()]
    for line, (hypotheses, answer) in enumerate(cases):
        rows = hypotheses[hypotheses["H"] == answer["H"]]
        last = len(rows) + 1
        assert [filled[column, line] for column in range(len(rows))] == list(rows["holds"])
        assert (filled[last, line], filled[last + 1, line]) == (answer["proof"], answer["printed"])
    assert len(axes.get_yticklabels()) == len(cases) >= 4 and len(set(filled.values())) == 2


@pytest.mark.parametrize(
    ("kind", "keys", "columns"),
    [
        ("estimators", ["estimator", "transitions"], ["kl"]),
        ("planners", ["planner", "features"], ["value_error", "regret"]),
    ],
)
def test_errors_over_seconds_are_those_of_the_tables(drawing, kind, keys, columns):
    """A line over all sizes and a marker at the largest; planners: rounding is zero, and diverged ones at the top."""
    figure, tables = drawing(kind)
    panels = [(table, column) for table in tables for column in columns]
    for axes, (table, column) in zip(figure.axes, panels, strict=True):
        values, seconds = (table[name].set_index(keys) for name in ("medians", "timings"))
        expected = values[column]
        if kind == "planners":
            expected = expected.where(expected > 1e-12, 0.0).clip(upper=1e6)
        known = figures.registry.module(kind).STYLES
        names = list(dict.fromkeys(table["medians"][keys[0]]))
        for name, line, marker in zip(names, axes.get_lines()[::2], axes.get_lines()[1::2], strict=True):
            assert list(line.get_ydata()) == list(expected[name]) and marker.get_ydata()[0] == line.get_ydata()[-1]
            assert list(line.get_xdata()) == list(seconds["seconds"][name])
            assert (marker.get_color(), marker.get_marker()) == known[name]
    assert {text.get_text() for text in figure.legends[0].get_texts()} == set(tables[0]["medians"][keys[0]])


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_computes_no_regret(kind):
    """It depends on no code that makes numbers: editing an agent must not redraw figures by itself."""
    modules = provenance.closure("befrl.figures.support.render", figures.registry.module_name(kind))
    forbidden = ("experiment", "planning", "learning", "instances", "agents", "numerics", "model")
    forbidden += ("analysis.components", "analysis.aggregation", "analysis.table1")
    assert not [name for name in modules if name.startswith(tuple(f"befrl.{layer}" for layer in forbidden))]


def test_the_contents_of_a_figure_are_the_numbers_that_it_plots():
    """A line, a band, markers, a bar and an axis of names, each with known points; fonts and sizes do not count."""

    def made(shift=0.0, size=3):
        figure = Figure(figsize=(size, size))
        axes = figure.subplots()
        x = np.arange(101.0)
        axes.plot(x, x**2 + shift, label="curve")
        axes.fill_between([0.0, 1.0], [1.0, 2.0], [3.0, 4.0])
        axes.scatter([1.0, 2.0], [5.0, 1 / 3])
        axes.barh([0.5], [7.0], height=1.0)
        axes.set(xlabel="episode", title="panel", yscale="log", xlim=(1, 9), ylim=(1, 1e4))
        axes.set_yticks([1, 10], ["one", "ten"])
        axes.legend()
        figure.subplots().set_xscale("symlog", linthresh=0.1, linscale=0.5)
        return contents(figure)

    first = made()
    axes, other = first["axes"]
    assert (other["x"]["scale"], other["x"]["linear"]) == ("symlog", "0.1 0.5")
    assert (axes["title"], axes["legend"]) == ("panel", ["curve"])
    assert axes["x"] == {"label": "episode", "scale": "linear", "limits": "1 9", "names": [], "places": ""}
    named = {"names": ["one", "ten"], "places": "1 10"}
    assert axes["y"] == {"label": "", "scale": "log", "limits": "1 10000"} | named
    line, band, markers, bar = axes["artists"]
    assert (line["kind"], line["label"], line["points"]) == ("line", "curve", 101)
    assert line["x"] == "0 12 25 38 50 62 75 88 100" and line["y"].endswith("7744 10000")
    corners = set(zip(band["x"].split(), band["y"].split(), strict=True))
    assert corners >= {("0", "1"), ("0", "3"), ("1", "2"), ("1", "4")}
    assert (markers["x"], markers["y"]) == ("1 2", "5 0.333333")
    assert set(bar["x"].split()) == {"0", "7"} and set(bar["y"].split()) == {"0", "1"}
    assert made(size=5) == first and made(shift=1.0) != first


def test_the_figure_of_certificates_draws_regret_below_its_bound_and_two_grey_lines(drawing):
    figure, (tables,) = drawing("certificate")
    (axis,) = figure.axes
    regret, bound, trivial, random = axis.lines
    curve = tables["curves"][tables["curves"]["variant"] == "exp-ucrl"]
    assert np.array_equal(regret.get_ydata(), curve["mean"])
    assert np.array_equal(bound.get_ydata(), tables["certificate_curves"]["certified"])
    assert regret.get_color() == bound.get_color() != trivial.get_color() == random.get_color() == style.GREY
    assert list(trivial.get_ydata()) == [240 / 40, 240] and list(random.get_ydata()) == [60 / 40, 60]


def test_figures_of_a_study_are_found_by_name():
    cases, components = [("a", "U"), ("b", "K")], [("planners", "b"), ("densities", "a"), ("planners", "a")]
    few, wanted = figures.wanted(cases), figures.wanted(cases, components, ["li", "cho"])
    assert few["regret_a_U"] == ("regret", [("a", "U")]) and few["regret_b_K"] == ("regret", [("b", "K")])
    assert "regret_a_K" not in few and few["noise-scale"] == ("noise-scale", cases)
    assert few["cost"] == ("cost", ["table1"]) and few["who-wins"] == ("who-wins", [*cases, "improvement"])
    # Component studies and published experiments without instances have no figure.
    assert {name: wanted[name] for name in set(wanted) - set(few)} == {
        "published_li": ("published", ["li"]),
        "published_cho": ("published", ["cho"]),
        "planners": ("planners", ["b", "a"]),
        "densities": ("densities", ["a"]),
    }
    with pytest.raises(InputError, match=r"unknown figure 'pie': choose one of .*noise-scale"):
        figures.registry.module("pie")
    # Tables of a second subject come last.
    shown = figures.wanted(cases, [("traps", "trap")])["noise-scale"]
    layout = Layout("x")
    paths = [layout.regret("summary", *case) for case in cases] + [layout.component("traps", "never", "trap")]
    assert shown[1] == [*cases, "trap"] and figures.tables(layout, *shown) == paths
