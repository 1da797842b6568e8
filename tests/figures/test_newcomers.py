"""Looks of new agents, estimators and planners: any number of them can be told apart, and a name keeps its look."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.markers import MarkerStyle

from befrl.figures.support import newcomers, style

# Machado, Oliveira and Fernandes (2009): colours as they are, and as readers without green or red cones see them.
SIGHTS = {
    "usual": np.eye(3),
    "deuteranopia": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "protanopia": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


@pytest.fixture(autouse=True)
def blank():
    """A picture without anything in it."""
    newcomers.start()
    yield
    newcomers.start()


def linear(colour):
    c = np.array(to_rgb(colour))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(light):
    """CIE L*a*b* of linear light."""
    x = TO_XYZ @ np.clip(light, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHTS)
def test_the_new_colours_are_seen_on_white_and_differ_from_all_others(sight):
    """A difference of 2.3 is just noticeable; 15 is told at a glance."""
    known = dict.fromkeys(to_hex(colour) for colour, _ in style.LOOKS.values())
    seen = {colour: lab(SIGHTS[sight] @ linear(colour)) for colour in (*known, *newcomers.COLOURS)}
    for new in newcomers.COLOURS:
        assert 1.05 / (TO_XYZ[1] @ linear(new) + 0.05) > 3
        assert min(np.linalg.norm(seen[new] - seen[other]) for other in seen if other != new) > 15


def key(agent, algorithm):
    look = style.look(agent, algorithm)
    return to_hex(look["color"]), look["marker"], look.get("markerfacecolor")


def test_any_number_of_newcomers_can_be_told_apart_even_without_colours():
    known = {key(name, name) for name in style.LOOKS}
    new = [key(f"new-{i}", f"new-{i}") for i in range(100)]
    # Variants of known algorithms, several of each, among them algorithms that share a colour.
    variants = [key(f"{name}-{i}", name) for i in range(4) for name in style.LOOKS]
    assert len({*known, *new, *variants}) == len(known) + len(new) + len(variants)
    markers = [marker for _, marker, _ in new]
    assert len(set(markers)) == 100
    for marker in markers:
        MarkerStyle(marker)
    own = {marker for _, marker in style.LOOKS.values()} | set(style.VARIANTS.values()) | {"o"}
    assert not own & set(markers)


def test_the_first_variant_has_its_algorithms_own_marker():
    assert key("mine", "rlsvi") == (to_hex(style.WINE), "s", "white")
    assert key("mine", "rlsvi") == key("mine", "rlsvi") != key("other", "rlsvi")
    assert key("rlsvi-clip", "rlsvi")[1] == style.VARIANTS["clip"]


AGENTS = {
    "greedy": "greedy",
    "a": "mine",
    "mild": "greedy",
    "greedy-clip": "greedy",
    "b": "mine",
    "wild": "greedy",
    "other": "other",
}


def test_a_study_numbers_its_newcomers_and_a_later_one_changes_no_number():
    numbers = style.numbered(AGENTS)
    assert numbers == {"a": 1, "mild": 0, "b": 2, "wild": 3, "other": 4}
    assert style.numbered(AGENTS | {"last": "psrl", "very last": "psrl"}) == numbers | {"last": 0, "very last": 5}


def test_a_name_has_the_same_look_in_all_pictures_of_a_study():
    """Whichever of the agents a picture shows, and in whichever order."""
    numbers = style.numbered(AGENTS)
    newcomers.start(numbers)
    looks = {agent: key(agent, algorithm) for agent, algorithm in AGENTS.items()}
    assert len(set(looks.values())) == len(looks)
    for some in itertools.permutations(AGENTS, 3):
        newcomers.start({agent: number for agent, number in numbers.items() if agent in some})
        assert {agent: key(agent, AGENTS[agent]) for agent in some} == {agent: looks[agent] for agent in some}


def test_what_has_no_number_gets_one_that_no_other_has():
    newcomers.start({"a": 2, "b": 1})
    assert [newcomers.number(name) for name in ("c", "a", "d", "b", "c")] == [3, 2, 4, 1, 3]
    assert newcomers.look("d") == (newcomers.COLOURS[0], newcomers.SYMBOLS[3])
