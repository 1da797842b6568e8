"""Ranges of seeds as text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from befrl.common.errors import InputError
from befrl.experiment import seeds


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1", range(1)),
        ("30", range(30)),
        ("0-0", range(1)),
        ("7-7", range(7, 8)),
        ("30-59", range(30, 60)),
        (30, range(30)),
    ],
)
def test_a_number_is_how_many_and_a_range_is_which(text, meant):
    assert seeds.parse(text) == meant


@pytest.mark.parametrize(
    "text", ["", "0", "x", "-", "-3", "3-", "5-3", "1-2-3", "1,2", "1.5", "1e3", " 3", "+3", "²", "0x10", None, True]
)
def test_anything_else_is_refused_with_an_example_of_both(text):
    with pytest.raises(InputError, match=r"^seeds = '.*' is not allowed: .*30.*30-59"):
        seeds.parse(text)


@settings(derandomize=True, deadline=None, database=None, max_examples=50)
@given(st.integers(0, 10**9), st.integers(1, 10**6))
def test_the_name_of_a_block_is_read_back(first, count):
    batch = range(first, first + count)
    assert seeds.parse(seeds.batch(batch)) == batch


def test_numbers_are_bounded():
    assert list(seeds.parse("999999998-999999999")) == [999_999_998, 999_999_999]
    for text in ("99999999999999999999", "1000001", "0-1000000", "9" * 5000, f"1-{'9' * 5000}"):
        with pytest.raises(InputError, match="1000000 at most") as refusal:
            seeds.parse(text)
        assert len(str(refusal.value)) < 300
