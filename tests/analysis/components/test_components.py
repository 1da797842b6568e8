"""Component studies: settings taken as they are or refused by name, and tables whose columns are all explained."""

import importlib.util

import pytest

from befrl.analysis import components
from befrl.common.errors import InputError
from helpers import instance

GOOD = {
    "exploration": {"episodes": 2, "tuning": 2, "evaluation": 2},
    "densities": {"transitions": 10},
    "estimators": {"sizes": [100], "repetitions": 2},
    "planners": {"features": [3], "repetitions": 2},
    "proof": {"episodes": 2, "seeds": 2},
    "repairs": {"horizons": [1]},
    "scaling": {"sizes": [2, 3], "horizons": [2], "episodes": 2, "seeds": 1},
    "theorem": {"decades": 3, "episodes": 10},
    "traps": {"episodes": 8, "seeds": 2},
    "rates": {"episodes": 2, "seeds": 4, "gaps": 3, "sizes": [2], "horizons": [4], "short": 2},
}


def small():
    return instance("chain", bins=3, horizon=4)


def timeless(tables):
    return {name: rows for name, rows in tables.items() if name != "timings"}


def refusal(kind, settings):
    with pytest.raises(InputError) as refused:
        components.run(kind, "chain-3", small(), 0, settings)
    text = str(refused.value)
    assert text.startswith(f"component study '{kind}': ") and "\n" not in text
    return text


def test_there_is_an_example_of_every_study():
    assert sorted(GOOD) == components.registry.names()


@pytest.mark.parametrize("kind", GOOD)
def test_settings_are_passed_on_and_every_column_is_explained(kind):
    module = components.registry.module(kind)
    tables = components.run(kind, "chain-3", small(), 0, GOOD[kind])
    assert timeless(tables) == timeless(module.study("chain-3", small(), 0, **GOOD[kind]))
    assert list(tables) == list(components.tables(kind))
    for name, columns in components.tables(kind).items():
        assert tables[name] and all(set(row) == set(columns) for row in tables[name])
        assert all(columns.values())
        assert {row["instance"] for row in tables[name]} == {"chain-3"}


@pytest.mark.parametrize("kind", GOOD)
def test_measured_seconds_are_in_the_timings_alone(kind):
    """Everything else must be the same in every run."""
    for name, columns in components.tables(kind).items():
        measured = {column for column in columns if "seconds" in column or "exponent" in column}
        assert bool(measured) == (name == "timings")


USED = {
    "densities": {"befrl.agents.random", "befrl.learning.estimators.mle"},
    "estimators": {"befrl.agents.random", "befrl.learning.estimators.shah"},
    "planners": {"befrl.planning.planners.exact", "befrl.planning.planners.rff"},
    "exploration": {"befrl.agents.greedy", "befrl.agents.exp_psrl", "befrl.learning.estimators.mle"},
    "proof": {"befrl.agents.bef_rlsvi", "befrl.learning.estimators.mle", "befrl.planning.planners.exact"},
    "repairs": {"befrl.agents.bef_rlsvi"},
    "scaling": {"befrl.agents.smrl", "befrl.planning.planners.exact"},
    "theorem": {"befrl.agents.bef_rlsvi"},
    "traps": {"befrl.agents.bef_rlsvi", "befrl.agents.rlsvi"},
    "rates": {"befrl.agents.bef_rlsvi", "befrl.agents.ucbvi", "befrl.learning.estimators.mle"},
}
UNUSED = {
    "densities": {"befrl.learning.estimators.shah"},
    "estimators": {"befrl.agents.greedy", "befrl.planning.planners.rff"},
    "planners": {"befrl.agents.random"},
    "exploration": {"befrl.agents.smrl", "befrl.planning.planners.rff"},
    "proof": {"befrl.agents.greedy", "befrl.planning.planners.rff"},
    "repairs": {"befrl.agents.greedy"},
    "scaling": {"befrl.planning.planners.rff"},
    "theorem": {"befrl.agents.greedy"},
    "traps": {"befrl.agents.smrl", "befrl.planning.planners.rff"},
    "rates": {"befrl.agents.smrl", "befrl.planning.planners.rff"},
}


@pytest.mark.parametrize("kind", GOOD)
def test_a_study_names_the_modules_that_it_runs(kind):
    used = components.registry.module(kind).uses()
    assert all(importlib.util.find_spec(name) for name in used)
    assert USED[kind] <= set(used) and not UNUSED[kind] & set(used)


@pytest.mark.parametrize("kind", [kind for kind in GOOD if kind not in ("repairs", "scaling", "theorem")])
def test_the_root_seed_changes_the_numbers(kind):
    """Those of random planners and of all that plays; the exact planner, measured costs and formulas would not."""
    one, two = (timeless(components.run(kind, "chain-3", small(), root, GOOD[kind])) for root in (0, 1))
    assert one and two and one != two


@pytest.mark.parametrize("kind", GOOD)
def test_an_unknown_setting_is_named(kind):
    allowed = ", ".join(GOOD[kind])
    assert refusal(kind, GOOD[kind] | {"lks": 3}).endswith(f"unknown setting 'lks': allowed are {allowed}")


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind in GOOD for key in GOOD[kind]])
def test_a_missing_setting_is_named(kind, key):
    given = {name: value for name, value in GOOD[kind].items() if name != key}
    assert f"the setting '{key}' is missing: it needs {', '.join(GOOD[kind])}" in refusal(kind, given)


@pytest.mark.parametrize("bad", [0, -3, 2.0, "7", True, None, [], [0], [2.5], [[3]], ["x"]])
@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind in GOOD for key in GOOD[kind]])
def test_a_setting_out_of_range_is_named(kind, key, bad):
    text = refusal(kind, GOOD[kind] | {key: bad})
    words = "a list of whole numbers from 1" if isinstance(GOOD[kind][key], list) else "a whole number from 1"
    assert text.endswith(f"{key} = {bad!r} is not allowed: it must be {words}")


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind in GOOD for key in GOOD[kind]])
def test_a_number_is_no_list_and_a_list_no_number(kind, key):
    good = GOOD[kind][key]
    assert f"{key} = " in refusal(kind, GOOD[kind] | {key: good[0] if isinstance(good, list) else [good]})


def test_an_unknown_study_is_named():
    with pytest.raises(InputError, match="unknown component study 'pies': choose one of densities, estimators"):
        components.run("pies", "chain-3", small(), 0, {})
