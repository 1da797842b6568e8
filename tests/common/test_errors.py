"""Messages about unknown names."""

import pytest

from befrl.common.errors import InputError, guess, one_line, unknown

NAMES = ["bef-rlsvi", "ucbvi", "psrl", "opt-rlsvi"]
MEANT = {"bef-rlsv": "bef-rlsvi", "ubcvi": "ucbvi", "PSRL": "psrl", "opt_rlsvi": "opt-rlsvi", "bef_rlsvi": "bef-rlsvi"}


@pytest.mark.parametrize("name", [*MEANT, "dqn", "", "x", None, 3])
def test_close_names_are_suggested_and_others_not(name):
    assert guess(name, NAMES) == (f" (did you mean '{MEANT[name]}'?)" if name in MEANT else "")


def test_message_lists_all_allowed_names():
    error = unknown("agent", "ubcvi", NAMES)
    assert isinstance(error, InputError)
    assert str(error) == f"unknown agent 'ubcvi' (did you mean 'ucbvi'?): choose one of {', '.join(NAMES)}"
    assert str(unknown("batch", "7", [1, 2])) == "unknown batch '7': choose one of 1, 2"


def test_message_is_one_short_line():
    assert one_line("a\tb\n\x1b c  d") == "a b c d"
    assert one_line("x" * 1000 + "y" * 1000, 20) == "xxxxxxx ... yyyyyyy"
