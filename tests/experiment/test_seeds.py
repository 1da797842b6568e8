"""Ranges of seeds as text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from befrl.common.errors import InputError
from befrl.experiment import seeds


def test_a_number_is_how_many_and_a_range_is_which():
    texts = {"1": range(1), "30": range(30), 30: range(30), "0-0": range(1), "7-7": range(7, 8), "30-59": range(30, 60)}
    texts |= {"999999998-999999999": range(999_999_998, 1_000_000_000)}
    for text, meant in texts.items():
        assert seeds.parse(text) == meant


def test_anything_else_is_rejected_with_an_example_of_both():
    wrong = ["", "0", "x", "-", "-3", "3-", "5-3", "1-2-3", "1,2", "1.5", "1e3", " 3", "+3", "²", "0x10", None, True]
    for text in (*wrong, "1000001", "0-1000000", "9" * 5000, f"1-{'9' * 5000}"):
        with pytest.raises(InputError, match=r"^seeds = '.*' is not allowed: .*30.*30-59.* 1000000 at most") as refusal:
            seeds.parse(text)
        assert len(str(refusal.value)) < 300


@settings(derandomize=True, deadline=None, database=None, max_examples=50)
@given(st.integers(0, 10**9 - 10**6), st.integers(1, 10**6))
def test_the_name_of_a_batch_is_read_back(first, count):
    batch = range(first, first + count)
    assert seeds.parse(seeds.batch(batch)) == batch
