"""Sentences about unknown names."""

import pytest

from befrl.common.errors import InputError, guess, unknown

NAMES = ["bef-rlsvi", "ucbvi", "psrl", "opt-rlsvi"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("bef-rlsv", "bef-rlsvi"),
        ("ubcvi", "ucbvi"),
        ("PSRL", "psrl"),
        ("opt_rlsvi", "opt-rlsvi"),
        ("bef_rlsvi", "bef-rlsvi"),
    ],
)
def test_what_was_meant_is_guessed(name, meant):
    assert guess(name, NAMES) == f" (did you mean '{meant}'?)"


@pytest.mark.parametrize("name", ["dqn", "", "x", None, 3])
def test_nothing_is_guessed_from_nothing_alike(name):
    assert guess(name, NAMES) == ""


def test_the_sentence_is_one_and_lists_all():
    error = unknown("agent", "ubcvi", NAMES)
    assert isinstance(error, InputError)
    assert str(error) == f"unknown agent 'ubcvi' (did you mean 'ucbvi'?): choose one of {', '.join(NAMES)}"
    assert str(unknown("batch", "7", [1, 2])) == "unknown batch '7': choose one of 1, 2"
