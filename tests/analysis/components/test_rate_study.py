"""Rates of regret: the instances that are made, and tables that agree with runs made by hand."""

import numpy as np
import pytest

from befrl import instances
from befrl.analysis import envelope
from befrl.analysis.components import rates
from befrl.common.errors import InputError, Refused
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from helpers import instance

ROOT, EPISODES, SEEDS, SHORT = 3, 30, 4, 5
SETTINGS = {"sizes": [2, 3], "horizons": [4, 8], "short": SHORT}
EPS = 0.45 / 1.8 ** np.arange(3)


def problem():
    return instance("jao", arms=3, horizon=4, bonus=0.06)


@pytest.fixture(scope="module")
def tables():
    return rates.study("two", problem(), ROOT, EPISODES, SEEDS, 3, **SETTINGS)


def rows(tables, table, **wanted):
    return [row for row in tables[table] if wanted.items() <= row.items()]


def by_hand(agent, values, episodes, **parameters):
    """Cumulative regret (seeds, episodes)."""
    made = instances.build("jao", problem().parameters | parameters)
    return loop.run(RunSpec.of(made, "two", agent, values, episodes, range(SEEDS), root_seed=ROOT))["regret"].cumsum(1)


def test_points_and_envelopes_are_those_of_runs_with_smaller_gaps(tables):
    own = {"agent": "bef-rlsvi", "setting": "x=10", "varied": "K"}
    played = np.stack([by_hand("bef-rlsvi", {"x": 10.0}, EPISODES, eps=eps, bonus=0.06 * eps / 0.3) for eps in EPS])
    for eps, mean in zip(EPS, played.mean(1), strict=True):
        found = rows(tables, "points", eps=eps, **own)
        assert found[-1]["value"] == EPISODES
        assert [row["mean"] for row in found] == pytest.approx([mean[row["value"] - 1] for row in found])
    highest = envelope.bootstrap(played, np.random.default_rng(0), 1)[0]
    found = rows(tables, "envelopes", **own)
    assert [row["mean"] for row in found] == pytest.approx([highest[row["value"] - 1] for row in found])
    assert all(row["low"] <= row["high"] for row in found)


def test_regret_in_d_and_H_is_that_of_more_arms_and_of_slower_states(tables):
    gap = {"eps": EPS[1], "bonus": 0.06 * EPS[1] / 0.3}
    wanted = {"agent": "exp-psrl", "setting": "", "eps": EPS[1], "episodes": SHORT}
    slow = {"horizon": 8, "rate": 0.25, "leave": 0.1, "eps": EPS[1] / 2}
    for varied, changes in {"d": {4: {"arms": 2}, 6: {}}, "H": {4: {}, 8: slow}}.items():
        found = rows(tables, "points", varied=varied, **wanted)
        assert [row["value"] for row in found] == list(changes)
        expected = [by_hand("exp-psrl", {}, SHORT, **gap | change)[:, -1].mean() for change in changes.values()]
        assert [row["mean"] for row in found] == pytest.approx(expected)
    # The span of the optimal values grows as the horizon.
    base = instance("jao", horizon=20)
    made = [instances.build("jao", rates._parameters(base, 0.3, {"horizon": H})) for H in (20, 200, 400)]
    assert made[0].parameters == base.parameters
    spans = [np.ptp(each.optimum[1][0]) for each in made]
    assert spans[2] / spans[1] == pytest.approx(2.0, rel=0.01)


def test_every_setting_has_an_envelope_and_the_slope_of_its_last_decade(tables):
    for varied, settings in (("K", rates.IN_EPISODES), ("d", rates.IN_SIZE), ("H", rates.IN_SIZE)):
        slopes = rows(tables, "slopes", varied=varied)
        assert [row["agent"] for row in slopes] == [agent for agent, values in settings.items() for _ in values]
        assert {row["claimed"] for row in slopes} == {0.5 if varied == "K" else 1.5}
        for row in slopes:
            own = {key: row[key] for key in ("agent", "setting", "varied")}
            means = {}
            for point in rows(tables, "points", **own):
                means.setdefault(point["value"], {})[point["eps"]] = point["mean"]
            found = rows(tables, "envelopes", **own)
            assert [each["value"] for each in found] == list(means)
            for each in found:
                by_gap = means[each["value"]]
                assert by_gap[each["eps"]] == max(by_gap.values())
                assert each["edge"] == ("large", "none", "small")[list(EPS).index(each["eps"])]
    # The slope in K is that of the last decade.
    own = {"agent": "bef-rlsvi", "setting": "", "varied": "K"}
    (row,) = rows(tables, "slopes", **own)
    assert row["edge"] == "large"  # with the theory's x the agent does not learn at any gap
    assert (row["first"], row["last"]) == (EPISODES / 10, EPISODES)
    found = rows(tables, "envelopes", **own)
    late = np.array([(each["value"], each["mean"]) for each in found if each["value"] >= EPISODES / 10]).T
    assert row["slope"] == pytest.approx(envelope.slopes(late[0], late[1:])[0])


def test_on_the_chain_the_contrast_is_the_gap_and_only_K_grows():
    made = rates.study("walk", instance("chain", bins=3, horizon=4), ROOT, 4, SEEDS, 3, **SETTINGS)
    assert {row["varied"] for row in made["slopes"]} == {"K"}
    small = instance("chain", bins=3, horizon=4, contrast=1 / 1.8)
    spec = RunSpec.of(small, "walk", "exp-psrl", {}, 4, range(SEEDS), root_seed=ROOT)
    (last,) = rows(made, "points", agent="exp-psrl", eps=1 / 1.8, value=4)
    assert last["mean"] == pytest.approx(loop.run(spec)["regret"].sum(1).mean())


def test_wrong_settings_are_rejected_by_name():
    with pytest.raises(Refused, match=r"instance 'ring' is of family 'circle', .* choose one of family jao, chain"):
        rates.study("ring", instance("circle", knots=4, kappa=4.0), 0, 4, SEEDS, 3, **SETTINGS)
    good = {"episodes": 4, "seeds": 4, "gaps": 3, "sizes": [2, 3], "horizons": [4, 8], "short": 2}
    several = "a slope needs two values"
    for key, value, words in (
        ("episodes", 1, "it must be at least 2"), ("seeds", 3, "it must be at least 4"),
        ("gaps", 2, "it must be at least 3"), ("sizes", [3, 1], "it must be at least 2"),
        ("horizons", [4, 2], "it must be at least 4"), ("sizes", [3, 3], several), ("horizons", [4], several),
    ):  # fmt: skip
        with pytest.raises(InputError) as raised:
            rates.study("two", problem(), 0, **good | {key: value})
        assert str(raised.value) == f"component study 'rates': {key} = {value} is not allowed: {words}"
