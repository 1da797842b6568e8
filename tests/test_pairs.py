"""A pairwise cover contains every allowed pair, only allowed cases, and few of them."""

import itertools

import pytest

from pairs import cover


def pairs(cases):
    return {pair for case in cases for pair in itertools.combinations(enumerate(case), 2)}


def differ(a, b, c):
    return len({a, b, c}) == 3


def restricted(a, b, c, d):
    """The value 4 of the first factor goes with one value of the second, as an agent that runs on one instance only."""
    return a != 4 or b == 2


@pytest.mark.parametrize(
    ("factors", "allowed"),
    [
        (("ab", "xyz"), lambda *case: True),
        ((range(7), range(5), range(4), "UK"), lambda *case: True),
        ((range(5), range(5), range(5)), differ),
        ((range(9), range(6), "UK", range(4)), restricted),
    ],
)
def test_cover_has_every_allowed_pair_and_only_allowed_cases(factors, allowed):
    product = [case for case in itertools.product(*factors) if allowed(*case)]
    chosen = cover(*factors, allowed=allowed)
    assert set(chosen) <= set(product)
    assert pairs(chosen) == pairs(product)
    assert len(set(chosen)) == len(chosen)
    assert chosen == cover(*factors, allowed=allowed)


def test_cover_attains_the_lower_bound():
    """The product of the two largest factors."""
    assert len(cover(range(37), range(10), range(4), "UK")) == 370
    assert len(cover(range(1), range(10), range(4), "UK")) == 40
