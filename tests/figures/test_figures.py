"""Figures: the same bytes every time, captions that say what is drawn, and the numbers of the tables."""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

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
from befrl.planning import planners
from befrl.study import provenance
from helpers import PROJECT

KINDS = figures.registry.names()
REFERENCE = PROJECT / "tests" / "reference" / "smoke"
CAPTIONS = Path(__file__).with_name("captions.csv")
# In the second case nobody is tuned and nothing is swept.
CASES = TUNED, UNTUNED = ("chain-3", "U"), ("riverswim-3", "K")
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
    """The paths of the tables of a figure by its kind."""
    shown = [(study, name) for study in components.registry for name in os.listdir(REFERENCE / "components" / study)]
    shown = sorted(shown) + [(study, "second") for study in ("estimators", "planners", "proof", "rates", "traps")]
    wanted = figures.wanted([TUNED], shown, ["ayoub"], certified=[TUNED]).values()
    return {kind: figures.tables(layout, kind, CASES if figures.scope(kind) == "study" else s) for kind, s in wanted}


def described(layout, kind, case):
    """The words of a figure of a case."""
    return render.describe(kind, render.read_tables(kind, figures.tables(layout, kind, [case])))


def drawn(kind, paths):
    """The figure itself."""
    style.theme()
    return figures.registry.module(kind).draw(render.read_tables(kind, paths))


@pytest.fixture(scope="module")
def drawing(sources):
    """The figure and its tables by kind; drawn once."""
    return functools.cache(lambda kind: (drawn(kind, sources[kind]), render.read_tables(kind, sources[kind])))


def saved(kind, paths, folder):
    """The bytes of a figure's files."""
    render.render(kind, paths, folder / kind, "make reproduce", headline=True)
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
        import sys
        from befrl.figures.support import render
        kind, out, *tables = sys.argv[1:]
        render.render(kind, tables, out, "make reproduce", headline=True)"""
    folder = tmp_path_factory.mktemp("other")
    call = [sys.executable, "-c", program, kind, folder / kind, *sources[kind]]
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
    render.render("tuning", sources["tuning"], tmp_path / "a", "make reproduce", headline=True)
    about, words = storage.read_json(tmp_path / "a.json"), render.describe("tuning", drawing("tuning")[1])
    assert about.pop("plotted")["texts"] == [words.pop("heading")] != [""]
    given = {"name": "a", "command": "make reproduce", "headline": True}
    assert about == words | given | {"section": "", "measured": False}


def test_only_figures_of_timings_show_seconds_and_three_kinds_open_the_report():
    """Committed figures must not change from run to run."""
    assert {kind for kind in KINDS if figures.headline(kind)} == {"ordering", "regret", "table1"}
    assert sorted(render.CAPTIONS) == KINDS
    for kind in KINDS:
        tables = figures.registry.module(kind).TABLES
        assert figures.measured(kind) == (list(tables) == ["timings"])
        columns = {column for columns in tables.values() for column in columns}
        assert figures.measured(kind) == bool(columns & {"seconds", "seconds_per_episode", "exponent_k"})


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
    page = Path(befrl.__file__).parent / "report" / "page.html.j2"
    for text in (render.CAPTIONS["exploration"]["caption"], page.read_text()):
        assert "best of three agents with four settings each" in " ".join(text.split())


def test_the_caption_says_which_track_and_family(layout):
    unknown, known = (described(layout, "regret", case) for case in CASES)
    theory = described(layout, "regret-theory", TUNED)
    assert "reward unknown" in unknown["title"] and "track U" in unknown["caption"]
    assert "reward known" in known["title"] and "track K" in known["caption"]
    assert "oracle" not in unknown["caption"] and "zero" not in unknown["caption"]
    assert "tuned" in unknown["title"] and "Solid: best of the configurations tried" in unknown["caption"]
    assert "constants of the theory" in theory["title"] and "Solid" not in theory["caption"]
    # A study without a sweep or tuning has its figures, too.
    words = {"noise-scale": "No sweep over x", "optimism": "No sweep over x", "tuning": "No agent was tuned"}
    words["noise-penalty"] = "not tuned over x"
    for kind, text in words.items():
        assert text in described(layout, kind, UNTUNED)["caption"]
        assert not drawn(kind, figures.tables(layout, kind, [UNTUNED])).axes[0].collections


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

    assert "Not told from uniform play, which lies within their interval: first on riverswim-3. " in caption(values())
    assert "Stars" not in caption(values()) and "Not told" not in caption(values(told_from_uniform="yes"))
    follows = ["code", "code", "text", "text"]
    starred = values(authors=[1.0, 2.0, 3.0, 4.0], deviation=[0.01, -0.04, 0.02, 0.03], follows=follows)
    words = "Stars: the authors' numbers, from which curves deviate by up to 4% as the code and 3% as the text. "
    assert words in caption(starred)
    (axes,) = figures.registry.module("published").draw([tables | {"values": starred}]).axes
    stars = [line for line in axes.get_lines() if line.get_marker() == "*"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in stars] == [(10, 1), (20, 2), (10, 3), (20, 4)]
    # The title says whether the experiment follows the authors' code or their text.
    assert axes.get_title() == "riverswim-3, as the code"
    other = tables | {"curves": tables["curves"].assign(follows=np.nan)}
    assert figures.registry.module("published").draw([other]).axes[0].get_title() == "riverswim-3"


# What is drawn.


@pytest.mark.parametrize("kind", ["regret", "regret-theory"])
def test_curves_are_those_of_the_table(drawing, kind):
    """Of each agent but the oracle: tuned where it is, or at its own constants; nothing positive is cut off."""
    figure, (tables,) = drawing(kind)
    summary, curves = tables["summary"].set_index("variant", drop=False), tables["curves"]
    names = style.names(summary)
    best = "@tuned" if kind == "regret" else ""
    everywhere = {"bef-rlsvi" + best, "greedy", "random"}
    members = {"exponential family": {"exp-ucrl", "exp-psrl", "ren-ts"}, "mixtures and factors": {"ucrl-vtr"}}
    members |= {"least squares": {"lsvi-ucb-shared" + best}}
    assert [axes.get_title() for axes in figure.axes if axes.get_title()] == list(members)
    for axes, others in zip(figure.axes, members.values(), strict=False):
        # In the order of drawing, the worst first.
        rows = summary.loc[sorted(everywhere | others)].sort_values("mean", ascending=False, kind="stable")
        low, high = axes.get_ylim()
        for line, band, row in zip(axes.get_lines(), axes.collections, rows.itertuples(), strict=True):
            curve = curves[curves["variant"] == row.variant]
            assert np.allclose(line.get_ydata(), curve["mean"], rtol=1e-12)
            assert low < curve["mean"].min() and curve["high"].max() < high
            assert line.get_label() == names[row.agent]
            edge = band.get_paths()[0].vertices[:, 1]
            for name in ("low", "high"):
                assert np.isclose(curve[name].clip(lower=low).to_numpy()[:, None], edge).any(1).all()
        labels = sorted(text.get_text() for text in axes.get_legend().get_texts())
        assert labels == sorted(names[agent] for agent in rows["agent"])


def without_regret(tables, variant, episodes=None):
    """The tables with a variant whose regret is zero, or zero in the first episodes."""
    found = {name: table.copy() for name, table in tables.items()}
    for table in found.values():
        numbers = [name for name in ("mean", "low", "high", "q10", "q50", "q90") if name in table]
        if "variant" in table and (episodes is None or "episode" in table):
            early = True if episodes is None else table["episode"] <= episodes
            table.loc[(table["variant"] == variant) & early, numbers] = 0.0
    return found


def test_what_lies_at_the_lower_edge_is_said(drawing):
    """A curve without regret, one that has none at first, and a band that ends at zero."""
    module, (tables,) = figures.registry.module("regret"), drawing("regret")[1]

    def caption(tables):
        return render.describe("regret", [tables])["caption"]

    assert "edge" not in caption(tables | {"curves": tables["curves"].assign(low=tables["curves"]["mean"])})
    zero = without_regret(tables, "exp-psrl")
    axes = next(axes for axes in module.draw([zero]).axes if axes.get_title() == "exponential family")
    (line,) = [line for line in axes.get_lines() if line.get_label() == "exp-psrl (zero)"]
    assert len(set(line.get_ydata())) == 1
    assert line.get_ydata()[0] < min(other.get_ydata().min() for other in axes.get_lines() if other is not line)
    assert "Along the lower edge: exp-psrl, with zero regret." in caption(zero)
    late = without_regret(tables, "exp-psrl", episodes=2)
    assert "At the lower edge in the first episodes: exp-psrl, with zero regret until then." in caption(late)
    touching = tables | {"curves": tables["curves"].assign(low=0.0)}
    assert "Shading that touches the lower edge extends below it." in caption(touching)
    # In the order of the agents, at the left edge.
    left = figures.registry.module("ordering").draw([without_regret(drawing("ordering")[1][0], "exp-psrl")]).axes[0]
    arrows = [line for line in left.get_lines() if line.get_marker() == "<"]
    assert [line.get_xdata()[0] for line in arrows] == [pytest.approx(left.get_xlim()[0])]


def crowd(counts, baselines=("greedy",)):
    """Rows of a summary: {algorithm: number of agents}."""
    rows = [(f"{name}-{i}", name) for name, count in counts.items() for i in range(count)]
    rows += [(name, name) for name in baselines]
    return pd.DataFrame(rows, columns=["agent", "algorithm"])


def test_many_agents_are_drawn_in_groups_with_the_references_in_each():
    module = figures.registry.module("regret")
    panels = module.panels(crowd({"exp-ucrl": 2, "psrl": 1, "mine": 1}))
    assert {title: list(rows["algorithm"]) for title, rows in panels.items()} == {
        "exponential family": ["exp-ucrl", "exp-ucrl", "greedy"],
        "tables": ["psrl", "greedy"],
        "others": ["mine", "greedy"],
    }
    assert list(module.panels(crowd({}))) == ["baselines"]
    # A crowded group is split, and nobody is lost.
    rows = crowd({"bef-rlsvi": 7, "exp-ucrl": 4}, baselines=("bef-rlsvi", "greedy", "random"))
    panels = module.panels(rows)
    assert list(panels) == [f"exponential family ({i})" for i in (1, 2, 3, 4)]
    assert all(len(part) <= module.MOST and set(part["agent"]) >= set(module.REFERENCES) for part in panels.values())
    shown = [agent for part in panels.values() for agent in part["agent"] if agent not in module.REFERENCES]
    assert sorted(shown) == sorted(set(rows["agent"]) - set(module.REFERENCES))


def test_the_order_the_letters_and_the_gaps_are_those_of_the_table(drawing):
    figure, (tables,) = drawing("ordering")
    left, letters, right = figure.axes
    order = tables["order"][tables["order"]["family"] == "tuned"]
    rows = tables["summary"].set_index("variant").loc[order["variant"]]
    dots = [[line.get_xdata()[0] for line in axes.get_lines() if line.get_marker() == "o"] for axes in (left, right)]
    assert dots == [list(rows["mean"]), list(order["gap"][1:])]
    assert [text.get_text() for text in letters.texts] == list(order["group"])
    marks = ["*" * star + " °" * (same == 0) for star, same in zip(rows["edge_matters"], rows["changed"], strict=True)]
    labels, names = [label.get_text() for label in left.get_yticklabels()], style.names(tables["summary"])
    assert {"*", " °"} <= set(marks)
    assert labels == [names[agent] + mark for agent, mark in zip(order["agent"], marks, strict=True)]
    ends = [list(line.get_xdata()) for line in lines_of(right, 2)][:-1]
    assert ends == order[["gap_low", "gap_high"]][1:].to_numpy().tolist()
    assert [text.get_text() for text in left.texts] == [f"{share:.1%}" if share > 0 else "" for share in rows["failed"]]


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

    floor = style.floor(tables["summary"]["mean"])
    for line, agent in enumerate(shown):
        tried = tuning[tuning["agent"] == agent]["first_mean"]
        assert sorted(at(".", line)) == sorted(tried.clip(lower=floor)) and floor <= tried.median()
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


@pytest.mark.parametrize(("kind", "column"), [("noise-scale", "mean"), ("optimism", "optimistic")])
def test_sweeps_over_the_noise_scale_are_those_of_the_table(drawing, kind, column):
    figure, tables = drawing(kind)
    rows = tables[0]["summary"][tables[0]["summary"]["parameter"] == "x"].sort_values("value")
    points = [line for line in figure.axes[0].get_lines() if line.get_marker() in ("o", "D")]
    for line, role in zip(points, ("sweep", "theory"), strict=True):
        part = rows[rows["role"] == role]
        assert len(part) and list(line.get_xdata()) == list(part["value"])
        assert list(line.get_ydata()) == list(part[column])


def test_table1_shows_both_scales_and_the_papers_marks(drawing):
    figure, (tables,) = drawing("table1")
    table = figures.registry.module("table1").shown(tables["table"])
    words, regret, letters, _ = figure.axes
    texts = [text.get_text() for text in words.texts]
    marks = table[["tractable_exploration", "tractable_planning", "free_of_clipping"]]
    assert "√(d³H³K)" in texts and texts.count("✓") == (marks == "yes").sum(axis=None) > 3
    assert [name for name in PRINTED if name in set(table["algorithm"])] == [*table["algorithm"][table["rate"].notna()]]
    rows = table[table["theory_mean"] > 1e-6]
    expected = {"o": {*rows["theory_mean"], *rows["tuned_mean"].dropna()}, "<": {regret.get_xlim()[0]}}  # < for zero
    for marker, places in expected.items():
        found = {line.get_xdata()[0] for line in regret.get_lines() if line.get_marker() == marker}
        assert found == places and found
    # The oracle, which is not compared, has no letters.
    groups = ["theory_group", "tuned_group"]
    assert table.loc[table["agent"] == "oracle", groups].isna().all(axis=None)
    expected = []
    for row in table.fillna(dict.fromkeys(groups, "")).itertuples():
        expected.append("tie" if row.theory_tied > 0.99 else row.theory_group)
        expected += [row.tuned_group] if row.tuned_mean == row.tuned_mean else []
    assert [text.get_text() for text in letters.texts] == expected and "tie" in expected


def test_cost_shows_the_time_of_an_episode_and_its_growth(drawing):
    figure, (tables,) = drawing("cost")
    rows = figures.registry.module("table1").shown(tables["timings"])
    names, cost, growth = figure.axes
    assert [text.get_text() for text in names.texts] == list(rows["agent"])
    assert [line.get_xdata()[0] for line in cost.get_lines()] == list(1000 * rows["seconds"])
    # Powers that were not measured are left out.
    assert [text.get_text() for text in growth.texts] == ["1.3"] * len(rows) + ["k", "d", "H"]


def test_the_map_of_claims_leads_to_the_theorem(drawing):
    figure, (tables,) = drawing("claims-map")
    module, table = figures.registry.module("claims-map"), tables["table"].set_index("id")
    uses = {id: str(row.uses).split() if isinstance(row.uses, str) else [] for id, row in table.iterrows()}
    layers = module.layers(uses)
    level = {id: number for number, layer in enumerate(layers) for id in layer}
    assert layers[-1] == [module.THEOREM] and len(layers) > 3
    for user in level:
        assert all(level[used] < level[user] for used in uses[user])
    drawn_lines = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == 30]
    assert len(drawn_lines) == sum(len(uses[id]) for id in level)
    assert {text.get_text().split()[0] for text in figure.axes[0].texts} == {*level, "Theorem"} - {module.THEOREM}
    for damage, words in (({"verdict": "maybe"}, "the verdict 'maybe'"), ({"uses": "C999"}, "no row of 'C999'")):
        with pytest.raises(InputError, match=f"the ledger has {words}"):
            module.draw([{"table": tables["table"].assign(**damage)}])


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


def test_surrogate_constants_are_drawn_as_the_theorys_and_marked(drawing):
    figure, (tables,) = drawing("regret-theory")
    changed = [{name: table.replace({"role": {"theory": "surrogate"}}) for name, table in tables.items()}]
    other = figures.registry.module("regret-theory").draw(changed)
    first, second = (
        [(line.get_linestyle(), line.get_zorder()) for axes in each.axes for line in axes.get_lines()]
        for each in (figure, other)
    )
    assert first == second
    assert "bef-rlsvi ‡" in [text.get_text() for text in other.axes[0].get_legend().get_texts()]
    assert "‡: surrogate constants; the source's are not known." in render.describe("regret", changed)["caption"]


def test_an_agent_has_the_same_colour_in_all_figures(drawing, layout):
    def colours(figure):
        return {to_hex(line.get_color()) for axes in figure.axes for line in axes.get_lines()}

    known = ("bef-rlsvi", "exp-psrl", "ucrl-vtr", "lsvi-ucb", "greedy", "random", "oracle")
    own, other, vtr, ucb, greedy, random, black = (to_hex(style.colour(name)) for name in known)
    # lsvi-ucb-shared is a variant of lsvi-ucb and has its colour.
    assert colours(drawing("regret")[0]) > {own, other, ucb, greedy, random}
    assert colours(drawn("regret", figures.tables(layout, "regret", [UNTUNED]))) == {vtr, greedy}
    assert colours(drawing("ordering")[0]) == colours(drawing("regret")[0]) | {black}
    assert colours(drawing("noise-scale")[0]) == {own, greedy, random, black}
    assert own in colours(drawing("optimism")[0])


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
        assert list(line.get_xdata()) == [max(row.low, 3e-4), row.high]
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


def test_the_bound_and_the_noise_scale_of_theorem_1_are_those_of_the_tables(drawing):
    """Bounds in the order of the first K, with a dot there."""
    figure, tables = drawing("bound")
    facts = {table["bound"]["instance"].iloc[0]: table["facts"].set_index("quantity")["value"] for table in tables}
    tables = sorted(tables, key=lambda table: facts[table["bound"]["instance"].iloc[0]]["first K, trivial"])
    wholes = [table["bound"][table["bound"]["term"] == "all"] for table in tables]
    curves = lines_of(figure.axes[0], len(wholes[0]))
    for line, dot, whole in zip(curves, lines_of(figure.axes[0], 1), wholes, strict=True):
        first = facts[whole["instance"].iloc[0]]["first K, trivial"]
        assert line.get_label() == f"{whole['instance'].iloc[0]}: {first:.1e}"
        assert np.array_equal(line.get_xdata(), whole["K"]) and np.array_equal(line.get_ydata(), whole["ratio"])
        assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (first, 1.0)
    (axes,) = drawing("noise-forms")[0].axes
    shown = {line.get_label(): list(line.get_xdata()) for line in lines_of(axes)}
    forms = ("theorem", "sketch", "lemma")
    assert shown == {form: [fact[f"x, {form}"] for fact in facts.values()] for form in forms}
    assert [label.get_text() for label in axes.get_yticklabels()] == list(facts)


def test_traps_show_every_share_and_seven_curves(drawing):
    figure, tables = drawing("traps")
    for sweep, shares, curves, table in zip(
        figure.axes[::3], figure.axes[1::3], figure.axes[2::3], tables, strict=True
    ):
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
        labels = [label.get_text() for label in shares.get_yticklabels()]
        assert len(set(labels)) == len(others) and "bef-rlsvi, theory's x" in labels
        assert len(curves.get_lines()) == 7
        for line in curves.get_lines():
            same = [
                points["regret"][part.index] for _, part in points.groupby(["agent", "setting", "ties"], dropna=False)
            ]
            assert any(list(line.get_ydata()) == list(regret) for regret in same)


def test_rates_show_envelopes_with_their_slopes_and_edges(drawing):
    figure, (first, _) = drawing("rates")
    titles = [f"jao-3: {words}" for words in ("bef-rlsvi", "other agents", "growth with d", "growth with H")]
    assert [axis.get_title() for axis in figure.axes[:4]] == titles
    words = [[text.get_text() for text in axis.get_legend().get_texts()] for axis in figure.axes]
    names, expected = {"x=0": "x=0 (greedy)", "": "theory"}, {}
    for row in first["slopes"][first["slopes"]["varied"] == "K"].fillna({"setting": ""}).itertuples():
        slope = f"{row.slope:.2f} [{row.low:.2f}, {row.high:.2f}]{'' if row.edge == 'none' else ', edge'}"
        expected[row.agent, row.setting] = f"{row.agent} {names.get(row.setting, row.setting)}: {slope}"
    assert words[0] == [text for (agent, _), text in expected.items() if agent == "bef-rlsvi"]
    both = expected["bef-rlsvi", "x=10"]
    assert words[1] == [both, *(text for (agent, _), text in expected.items() if agent != "bef-rlsvi")]
    part = first["envelopes"][(first["envelopes"]["varied"] == "K") & (first["envelopes"]["setting"] == "x=0.1")]
    line, inside, edge = figure.axes[0].get_lines()[4:7]
    assert list(line.get_ydata()) == list(part["mean"])
    for dots, some in ((inside, part[part["edge"] == "none"]), (edge, part[part["edge"] != "none"])):
        assert len(some) and list(dots.get_xdata()) == list(some["value"])
    assert to_hex(edge.get_markerfacecolor()) == "#ffffff" != to_hex(inside.get_markerfacecolor())


def test_densities_are_those_of_the_table(drawing):
    figure, tables = drawing("densities")
    by_kind = {
        table["points"]["kind"].iloc[0]: (axes, table["points"])
        for axes, table in zip(figure.axes, tables, strict=True)
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


@pytest.mark.parametrize(
    ("kind", "table", "names", "x", "y", "band"),
    [
        ("bad-rounds", "bad_rounds", ["multiple", "rounds"], "k", "mean", ("low", "high")),
        ("optimism-episodes", "optimism", "multiple", "k", "share", ("low", "high")),
        ("estimators", "medians", "estimator", "transitions", "kl", ("kl_low", "kl_high")),
        ("estimators-cost", "timings", "estimator", "transitions", "seconds", ()),
    ],
)
def test_curves_of_components_are_those_of_the_table(drawing, kind, table, names, x, y, band):
    figure, tables = drawing(kind)
    for axes, rows in zip(figure.axes, (each[table] for each in tables), strict=True):
        curves = [line for line in axes.get_lines() if line.get_marker() not in ("None", None)]
        groups = [part for _, part in rows.groupby(names, sort=False)]
        for line, part in zip(curves, groups, strict=True):
            assert list(line.get_xdata()) == list(part[x]) and list(line.get_ydata()) == list(part[y])
        if names == "estimator":
            known = figures.registry.module("estimators").STYLES
            assert [(line.get_color(), line.get_marker()) for line in curves] == [
                known[name] for name in rows[names].unique()
            ]
        assert len(axes.collections) == (len(groups) if band else 0)
        for shade, part in zip(axes.collections, groups, strict=False):
            vertices = shade.get_paths()[0].vertices
            for place, *ends in part[[x, *band]].to_numpy():
                assert [*np.unique(vertices[vertices[:, 0] == place][:, 1])] == [*np.unique(ends)]
        assert axes.get_title().startswith(rows["instance"].iloc[0])
        for label, column in (("Φ(-1)", "promised"), ("printed bound", "printed")):
            levels = [line.get_ydata()[0] for line in axes.get_lines() if line.get_label() == label]
            assert levels == ([rows[column].iloc[0]] if column in rows else [])
    assert len(figure.legends[0].get_texts()) >= len(groups)


def test_regions_are_shown_for_the_smallest_and_the_largest_penalty_with_their_coverage(drawing):
    figure, tables = drawing("coverage-regions")
    tables = [table["regions"] for table in tables]
    shown = [table[table["eta"] == eta] for table in tables for eta in (table["eta"].min(), table["eta"].max())]
    for axes, table in zip(figure.axes, shown, strict=True):
        *curves, one = axes.get_lines()
        assert list(one.get_ydata()) == [1.0, 1.0]
        groups = [rows for _, rows in table.groupby(["parameter", "radius"], sort=False)]
        for line, rows in zip(curves, groups, strict=True):
            assert list(line.get_ydata()) == list(rows["median"])
        shares = ", ".join(f"{100 * rows['covered'].iloc[-1]:.0f}" for rows in groups)
        assert [text.get_text() for text in axes.texts] == [f"covered: {shares} %"]


def test_a_filled_square_is_a_hypothesis_that_holds(drawing):
    figure, tables = drawing("repairs")
    (axes,) = figure.axes
    filled = {
        (line.get_xdata()[0], line.get_ydata()[0]): to_hex(line.get_markerfacecolor()) != "#ffffff"
        for line in axes.get_lines()
    }
    cases = [(table["hypotheses"], answer) for table in tables for _, answer in table["answers"].iterrows()]
    for column, (hypotheses, answer) in enumerate(cases):
        rows = hypotheses[hypotheses["H"] == answer["H"]]
        last = len(rows) + 1
        assert [filled[column, line] for line in range(len(rows))] == list(rows["holds"])
        assert (filled[column, last], filled[column, last + 1]) == (answer["proof"], answer["printed"])
    assert len(axes.get_xticklabels()) == len(cases) >= 4 and len(set(filled.values())) == 2


@pytest.mark.parametrize(("kind", "table"), [("planners", "medians"), ("planners-cost", "timings")])
def test_planners_are_shown_by_the_numbers_of_the_table(drawing, kind, table):
    (figure, tables), module = drawing(kind), figures.registry.module("planners")
    columns = module.ERRORS if kind == "planners" else {"seconds": ("", (0.0, np.inf))}
    shown = [(each[table], column, limits) for each in tables for column, (_, limits) in columns.items()]
    at_limit = 0
    for axes, (rows, column, (low, high)) in zip(figure.axes, shown, strict=True):
        expected = dict(list(rows[rows["planner"] != "exact"].groupby("planner", sort=False)))
        lines = axes.get_lines()
        # The value error of exact planning is zero, which has no place on a logarithmic axis.
        assert len(lines) == len(expected) + (column != "value_error")
        if column != "value_error":
            exact = rows[rows["planner"] == "exact"][column].iloc[0]
            assert list(lines[-1].get_ydata()) == [min(max(exact, low), high)] * 2
        for (name, part), line in zip(expected.items(), lines, strict=False):
            clipped = [min(max(value, low), high) for value in part[column]]
            at_limit += clipped != list(part[column])
            assert (list(line.get_xdata()), list(line.get_ydata())) == (list(part["features"]), clipped)
            assert (line.get_color(), line.get_marker()) == module.STYLES[name]
    assert bool(at_limit) == (kind == "planners")
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == {*expected, "exact"} <= set(planners.registry)


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
        return contents(figure)

    first = made()
    (axes,) = first["axes"]
    assert (axes["title"], axes["legend"]) == ("panel", ["curve"])
    assert axes["x"] == {"label": "episode", "scale": "linear", "limits": "1 9", "names": []}
    assert axes["y"] == {"label": "", "scale": "log", "limits": "1 10000", "names": ["one", "ten"]}
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
    assert np.array_equal(regret.get_ydata(), curve["mean"].clip(lower=style.floor(curve["mean"])))
    assert np.array_equal(bound.get_ydata(), tables["certificate_curves"]["certified"])
    assert regret.get_color() == bound.get_color() != trivial.get_color() == random.get_color() == style.GREY
    assert list(trivial.get_ydata()) == [240 / 40, 240] and list(random.get_ydata()) == [60 / 40, 60]


def test_figures_of_a_study_are_found_by_name():
    cases, components = [("a", "U"), ("b", "K")], [("planners", "b"), ("densities", "a"), ("planners", "a")]
    few, wanted = figures.wanted(cases), figures.wanted(cases, components, ["li", "cho"])
    assert few["regret_a_U"] == ("regret", [("a", "U")]) and few["regret_b_K"] == ("regret", [("b", "K")])
    assert "regret_a_K" not in few and few["noise-scale"] == ("noise-scale", cases)
    assert few["table1"] == ("table1", ["table1"]) and few["cost"] == ("cost", ["table1"])
    # Component studies and published experiments without instances have no figure.
    assert {name: wanted[name] for name in set(wanted) - set(few)} == {
        "published_li": ("published", ["li"]),
        "published_cho": ("published", ["cho"]),
        "planners": ("planners", ["b", "a"]),
        "planners-cost": ("planners-cost", ["b", "a"]),
        "densities": ("densities", ["a"]),
    }
    with pytest.raises(InputError, match=r"unknown figure 'pie': choose one of .*noise-scale"):
        figures.registry.module("pie")
    with pytest.raises(InputError, match="figure 'regret' takes one file for each of its tables: summary, curves"):
        render.read_tables("regret", ["summary.csv"])
