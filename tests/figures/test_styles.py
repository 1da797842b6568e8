"""Styles: known agents have their own, and any number of new ones can be told apart; a name keeps its style."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.markers import MarkerStyle

from befrl import agents
from befrl.figures import estimators, planners
from befrl.figures.support import style
from befrl.learning.estimators import registry as known_estimators
from befrl.planning.planners import registry as known_planners
from befrl.study import config

# Machado, Oliveira and Fernandes (2009): colours as they are, and as readers without green or red cones see them.
SIGHTS = {
    "usual": np.eye(3),
    "deuteranopia": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "protanopia": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
TABLES = {"agents": style.STYLES, "estimators": estimators.STYLES, "planners": planners.STYLES}


@pytest.fixture(autouse=True)
def blank():
    """A figure without anything in it."""
    style.start()
    yield
    style.start()


def linear(colour):
    c = np.array(to_rgb(colour))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(light):
    """CIE L*a*b* of linear light."""
    x = TO_XYZ @ np.clip(light, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHTS)
def test_new_colours_are_seen_on_white_and_differ_from_all_others(sight):
    """A difference of 2.3 is just noticeable; 15 is told at a glance."""
    known = {to_hex(colour) for styles in TABLES.values() for colour, _ in styles.values()}
    seen = {colour: lab(SIGHTS[sight] @ linear(colour)) for colour in (*known, *style.NEW_COLOURS)}
    for new in style.NEW_COLOURS:
        assert 1.05 / (TO_XYZ[1] @ linear(new) + 0.05) > 3
        assert min(np.linalg.norm(seen[new] - seen[other]) for other in seen if other != new) > 15


def test_known_names_have_styles_of_their_own():
    registries = {"agents": agents.registry, "estimators": known_estimators, "planners": known_planners}
    for kind, styles in TABLES.items():
        assert set(styles) <= set(registries[kind].names())
        assert len({(to_hex(colour), marker) for colour, marker in styles.values()}) == len(styles)


@pytest.mark.parametrize("name", ["config", "full", "smoke"])
def test_agents_of_a_case_look_different(name):
    """In the studies that come with the project, whichever of them are in colour."""
    study = config.load(config.included() / f"{name}.yaml")
    for case in study.compared_cases():
        agents = study.case(*case)["agents"]
        style.start(study.algorithms())
        styles = [tuple(sorted(style.options(agent, study["agents"][agent]["algorithm"]).items())) for agent in agents]
        assert len(set(styles)) == len(styles), case


def key(agent, algorithm):
    options = style.options(agent, algorithm)
    return to_hex(options["color"]), options["marker"], options.get("markerfacecolor")


def test_any_number_of_new_agents_can_be_told_apart_even_without_colours():
    known = {key(name, name) for name in style.STYLES}
    new = [key(f"new-{i}", f"new-{i}") for i in range(40)]
    # Variants of known algorithms, several of each, among them algorithms that share a colour.
    variants = [key(f"{name}-{i}", name) for i in range(4) for name in style.STYLES]
    assert len({*known, *new, *variants}) == len(known) + len(new) + len(variants)
    markers = {marker for _, marker, _ in new}
    assert len(markers) == 40 and all(map(MarkerStyle, markers))
    own = {marker for styles in TABLES.values() for _, marker in styles.values()}
    assert not (own | set(style.VARIANTS.values()) | {"o"}) & markers


def test_the_first_variant_has_its_algorithms_own_marker():
    assert key("mine", "rlsvi") == (to_hex(style.WINE), "s", "white")
    assert key("mine", "rlsvi") == key("mine", "rlsvi") != key("other", "rlsvi")
    assert key("rlsvi-clip", "rlsvi")[1] == style.VARIANTS["clip"]


AGENTS = {"greedy": "greedy", "a": "mine", "mild": "greedy", "greedy-clip": "greedy", "b": "mine", "wild": "greedy"}


def test_a_later_agent_changes_no_style_of_a_study():
    styles, orange = style.assigned(AGENTS), style.ORANGE
    (first, second, *_), (one, two, three, *_) = style.NEW_COLOURS, style.NEW_MARKERS
    assert styles == {
        "a": [first, one], "mild": [orange, "o"], "greedy-clip": [orange, "s"], "b": [second, two],
        "wild": [orange, three],
    }  # fmt: skip
    assert list(style.assigned(AGENTS | {"last": "psrl", "very last": "new"}).items())[: len(styles)] == [
        *styles.items()
    ]


def test_a_name_has_the_same_style_in_all_figures_of_a_study():
    """Whichever of the agents a figure shows, and in whichever order."""
    styles = style.assigned(AGENTS)
    for some in itertools.permutations(styles, 3):
        style.start(AGENTS)
        for agent in some:
            assert list(style.of(agent, AGENTS[agent])) == styles[agent]
    # What the study does not have gets a style that no other has.
    assert len({style.of(name) for name in (*AGENTS, "c", "d", "c")}) == len(AGENTS) + 2
