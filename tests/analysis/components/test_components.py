"""Contract of component studies: checked settings, explained columns, the modules that a study uses, determinism."""

import importlib.util

import pytest

from befrl.analysis import components
from befrl.common.errors import InputError
from helpers import instance

# Settings of each study that make it fast.
GOOD = {
    "certified": {"episodes": 2, "seeds": 2, "checked": 3, "configurations": 2, "tuning_seeds": 1},
    "exploration": {"episodes": 2, "tuning": 2, "evaluation": 2}, "densities": {"transitions": 10},
    "estimators": {"sizes": [100], "repetitions": 2}, "planners": {"features": [3], "repetitions": 2},
    "proof": {"episodes": 2, "seeds": 2}, "repairs": {"horizons": [1]},
    "scaling": {"sizes": [3], "horizons": [4], "episodes": 2, "seeds": 1},
    "theorem": {"decades": 3, "episodes": 10}, "traps": {"episodes": 8, "seeds": 2},
    "rates": {"episodes": 2, "seeds": 4, "gaps": 3, "sizes": [2], "horizons": [4], "short": 2},
}  # fmt: skip
# Some of the modules that each study uses, and some that it does not, below befrl.
OTHERS = "agents.greedy planning.planners.rff"
USED = {
    "certified": (
        "agents.bef_seed agents.bef_rlsvi agents.exp_psrl learning.estimators.mle",
        "agents.greedy planning.planners.rff",
    ),
    "densities": ("agents.random learning.estimators.mle", "learning.estimators.shah"),
    "estimators": ("agents.random learning.estimators.shah", OTHERS),
    "planners": ("planning.planners.exact planning.planners.rff", "agents.random"),
    "exploration": ("agents.greedy agents.exp_psrl learning.estimators.mle", "agents.smrl planning.planners.rff"),
    "proof": ("agents.bef_rlsvi learning.estimators.mle planning.planners.exact", OTHERS),
    "repairs": ("agents.bef_rlsvi", "agents.greedy"),
    "scaling": ("agents.smrl planning.planners.exact", "planning.planners.rff"),
    "theorem": ("agents.bef_rlsvi", "agents.greedy"),
    "traps": ("agents.bef_rlsvi agents.rlsvi", "agents.smrl planning.planners.rff"),
    "rates": ("agents.bef_rlsvi agents.ucbvi learning.estimators.mle", "agents.smrl planning.planners.rff"),
}
# Studies without random numbers, but for measured times.
EXACT = ("repairs", "scaling", "theorem")


def run(kind, settings, root_seed=0):
    return components.run(kind, "chain-3", instance("chain", bins=3, horizon=4), root_seed, settings)


def without_timings(tables):
    return {name: repr(rows) for name, rows in tables.items() if name != "timings"}  # a missing number is not itself


def error_of(kind, settings):
    with pytest.raises(InputError, match=rf"\Acomponent study '{kind}': .*\Z") as raised:  # one line
        run(kind, settings)
    return str(raised.value)


@pytest.mark.parametrize("kind", GOOD)
def test_tables_have_the_explained_columns_and_depend_on_settings_and_seed_alone(kind):
    tables = run(kind, GOOD[kind])
    assert list(tables) == list(components.tables(kind))
    for name, columns in components.tables(kind).items():
        assert tables[name] and all(columns.values()) and all(set(row) == set(columns) for row in tables[name])
        assert {row["instance"] for row in tables[name]} == {"chain-3"}
        measured = {column for column in columns if "seconds" in column or "exponent" in column}
        assert bool(measured) == (name == "timings")
    again = components.registry.module(kind).study("chain-3", instance("chain", bins=3, horizon=4), 0, **GOOD[kind])
    assert without_timings(tables) == without_timings(again)
    if kind not in EXACT:
        assert without_timings(tables) != without_timings(run(kind, GOOD[kind], root_seed=1))


def test_levels_and_sizes_in_the_meanings_are_those_of_the_studies():
    modules = {kind: components.registry.module(kind) for kind in components.registry.names()}
    assert sorted(GOOD) == sorted(USED) == list(modules)
    assert {module.LEVEL for module in modules.values() if hasattr(module, "LEVEL")} == {0.95}
    assert (modules["estimators"].HORIZON, modules["estimators"].TIMED) == (100, 9)
    assert (modules["theorem"].WIDER, modules["theorem"].ROUNDING) == (10, 1e-12)


@pytest.mark.parametrize("kind", GOOD)
def test_a_study_names_the_modules_that_it_runs(kind):
    found = components.registry.module(kind).uses()
    assert all(importlib.util.find_spec(name) for name in found)
    used, unused = ({f"befrl.{name}" for name in names.split()} for names in USED[kind])
    assert used <= set(found) and not unused & set(found)


@pytest.mark.parametrize("kind", GOOD)
def test_wrong_settings_are_rejected_by_name(kind):
    good, allowed = GOOD[kind], ", ".join(GOOD[kind])
    assert error_of(kind, good | {"lks": 3}).endswith(f"unknown setting 'lks': allowed are {allowed}")
    for key, value in good.items():
        rest = {name: other for name, other in good.items() if name != key}
        assert f"the setting '{key}' is missing: it needs {allowed}" in error_of(kind, rest)
        several = isinstance(value, list)
        words = "a list of whole numbers from 1" if several else "a whole number from 1"
        for bad in (value[0] if several else [value], 0, -3, 2.0, "7", True, None, [], [0], [2.5], [[3]], ["x"]):
            reason = f"{key} = {bad!r} is not allowed: it must be {words}"
            assert error_of(kind, good | {key: bad}).endswith(reason)
    for function in (components.tables, components.registry.module):
        with pytest.raises(InputError, match="unknown component study 'pies': choose one of certified, densities"):
            function("pies")
