"""A small config for tests, and how to change one entry of it."""

import copy

import pytest

from befrl.common.errors import InputError
from befrl.study.config import check

BASE = {
    "seeds": 3,
    "tuning": {"configurations": 4, "refined": 0, "seeds": [2, 4], "kept": [2]},
    "instances": {"small": {"family": "chain", "set": {"bins": 3}}},
    "agents": {
        "ours": {"algorithm": "bef-rlsvi", "tune": {"x": [1, 30], "eta": 2}, "sweep": {"x": [1, 3]}},
        "greedy": {"algorithm": "greedy"},
    },
    "study": {"small": {"episodes": 5, "agents": ["ours", "greedy"]}},
    "claims": {"ids": ["C31"]},
}


def changed(path, value, base=BASE):
    """The base with the entry at a path, such as `study.small.seeds`, replaced or added."""
    *above, last = path.split(".") if isinstance(path, str) else path
    config = entry = copy.deepcopy(base)
    for key in above:
        entry = entry.setdefault(key, {}) if isinstance(entry, dict) else entry[key]
    entry[last] = value
    return config


def error_of(config, **options):
    """The error message for a bad config: one line."""
    with pytest.raises(InputError) as error:
        check(config, **options)
    text = str(error.value)
    assert text and "\n" not in text
    return text
