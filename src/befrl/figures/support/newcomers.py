"""Looks of agents, estimators and planners that have none of their own: a number for each name, a look for each number.

A study numbers its newcomers once (`Study.looks`), so that a name has the same look in all its pictures. In a picture
that is drawn without these numbers, names are numbered as they come. Every number has a marker of its own, so that
looks can be told apart on paper without colours too.
"""

from itertools import count

# Nothing known has one of these. Their contrast with white is at least 3, and colour-blind readers tell them apart.
BROWN, VIOLET, FOREST = "#772200", "#7766FF", "#117733"
COLOURS = (BROWN, VIOLET, FOREST)
# Not the markers of known agents and their variants; when they run out, there are letters and then numbers.
SYMBOLS = ("P", "X", "<", "d", "*", ">")

# The numbers of the study, those given out in the present picture, and the first variant of each algorithm in it.
_given, _met, _first = {}, {}, {}


def start(numbers=()):
    """Start a picture with the numbers {name: number} of its study."""
    for table in (_given, _met, _first):
        table.clear()
    _given.update(numbers)


def is_first(agent: str, algorithm: str) -> bool:
    """Whether an agent is the first variant of a known algorithm, which has the number 0 in a study."""
    return _given[agent] == 0 if agent in _given else _first.setdefault(algorithm, agent) == agent


def number(name: str) -> int:
    """The number of a newcomer, from 1 on: its study's, or the next that is free."""
    if name not in _given and name not in _met:
        taken = {*_given.values(), *_met.values()}
        _met[name] = next(n for n in count(1) if n not in taken)
    return _given[name] if name in _given else _met[name]


def marker(number: int) -> str:
    """The marker of a number, from 1 on; no two numbers have the same."""
    if number <= len(SYMBOLS):
        return SYMBOLS[number - 1]
    letter = number - len(SYMBOLS) - 1
    return f"${chr(ord('A') + letter)}$" if letter < 26 else f"${letter}$"


def look(name: str) -> tuple[str, str]:
    """Colour and marker of a newcomer."""
    n = number(name)
    return COLOURS[(n - 1) % len(COLOURS)], marker(n)
