"""The tables of certificates by hand."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from befrl import instances
from befrl.analysis import certificates, regret_columns
from befrl.analysis.aggregation import aggregate
from befrl.analysis.intervals import p_value
from cases import Entry, play_all, written

LEVEL, K, H, SEEDS = 0.9, 12, 4, 6


@pytest.fixture(scope="module")
def instance():
    return instances.build("chain", {"bins": 3, "horizon": H})


@pytest.fixture(scope="module")
def case(instance):
    entries = {"orlc": Entry("orlc", sweep={"scale": [0.5]}), "greedy": Entry("greedy"), "random": Entry("random")}
    return play_all(instance, entries)


def tables_of(folder, case):
    texts = aggregate(*written(folder, case, cuts=(1004,)), LEVEL)
    return {name: pd.read_csv(io.StringIO(text)) for name, text in texts.items()}


def test_rows_by_hand(case, instance, tmp_path):
    """Sums, shares and broken seeds, for the constants of the agent and for smaller ones, which promise nothing."""
    log, meta, _ = case["orlc"]
    rng = np.random.default_rng(3)
    regret = rng.random((2, SEEDS, K))
    certificate = (regret + rng.random(regret.shape)).astype(np.float32)
    certificate[1, 0, 3] = regret[1, 0, 3] - 1e-3  # seed 0 breaks in two episodes, seed 4 in one
    certificate[1, 0, 5] = certificate[1, 4, 11] = 0.0
    log = log | {"regret": regret, "certificate": certificate}
    tables = tables_of(tmp_path, case | {"orlc": (log, meta, None)})
    rows = tables["certificates"].set_index("variant")
    assert list(rows.index) == ["orlc", "orlc@scale=0.5"]  # greedy and random have none
    exact = stats.binomtest(2, SEEDS).proportion_ci(LEVEL, method="exact")
    none = stats.binomtest(0, SEEDS).proportion_ci(LEVEL, method="exact")
    expected = {"orlc": (0, none, 0, 0.05), "orlc@scale=0.5": (2, exact, 3, 1.0)}
    for i, (label, (seeds, ends, episodes, delta)) in enumerate(expected.items()):
        row, sums = rows.loc[label], certificate[i].astype(float).cumsum(1)
        assert (row["agent"], row["algorithm"], row["seeds"], row["episodes"]) == ("orlc", "orlc", SEEDS, K)
        assert (row["delta"], row["broken_episodes"], row["trivial"]) == (delta, episodes, H * K)
        assert [row["broken_low"], row["broken_high"]] == pytest.approx([ends.low, ends.high], rel=1e-9)
        assert row["broken"] == pytest.approx(seeds / SEEDS) and row["regret"] == pytest.approx(regret[i].sum(1).mean())
        assert row["certified"] == pytest.approx(sums[:, -1].mean())
        assert row["certified_share"] == pytest.approx(sums[:, -1].mean() / (H * K))
        assert row["random"] == pytest.approx(K * (instance.optimal_value - instance.uniform_value))
        k = np.arange(K // 2, K + 1)
        slope = np.polyfit(np.log(k), np.log(sums.mean(0)[k - 1]), 1)[0]
        assert row["slope"] == pytest.approx(slope, abs=1e-8)
        assert row["first_k"] == certificates.first_below(sums, H / 2)
        points = tables["certificate_curves"]
        points = points[points["variant"] == label]
        assert points["episode"].tolist() == list(range(1, K + 1))
        assert points["certified"].to_numpy() == pytest.approx(sums.mean(0), rel=1e-9)


def test_a_case_without_certificates_has_tables_with_a_header_only(case, tmp_path):
    texts = aggregate(*written(tmp_path, {name: case[name] for name in ("greedy", "random")}), LEVEL)
    for name in ("certificates", "certificate_curves"):
        assert texts[name] == ",".join(getattr(regret_columns, name.upper())) + "\n"


def test_the_first_k_is_the_one_from_which_on_all_seeds_are_below():
    """Sums of 1, 0, 0, 3, 0, 0 and 1, 0, 0, 0, 0, 0 against k: the fourth episode undoes what the second reached."""
    sums = np.cumsum([[1, 0, 0, 3, 0, 0], [1, 0, 0, 0, 0, 0]], axis=1).astype(float)
    assert certificates.first_below(sums, 1.0) == 5 and certificates.first_below(sums[1:], 1.0) == 2
    assert certificates.first_below(sums, 2.0) == 1 and np.isnan(certificates.first_below(sums[:, :4], 1.0))


def test_theoretical_constants_are_compared_with_tuned_rivals_by_holm(instance, tmp_path):
    """`bef-seed` against the tuned variants of the others, but not against its own; orlc's constants are surrogates."""
    tuned = {"scale": [0.1, 1.0]}
    entries = {"bef-seed": Entry("bef-seed", tune=tuned), "orlc": Entry("orlc", tune=tuned), "random": Entry("random")}
    entries["greedy"] = Entry("greedy", tune={"eta": [0.1, 10.0]})
    case = play_all(instance, entries)
    rows = tables_of(tmp_path, case)["paired"].query("family == 'certified'")
    assert list(rows["first"]) == ["bef-seed"] * 2 and list(rows["second"]) == ["orlc@tuned", "greedy@tuned"]
    regret = {
        label: log["regret"][i].sum(1) for log, meta, _ in case.values() for i, label in enumerate(meta["labels"])
    }
    differences = [regret["bef-seed"] - regret[rival] for rival in rows["second"]]
    plain = p_value(np.stack(differences, axis=1))
    smaller, larger = min(plain), max(plain)
    corrected = [min(1.0, 2 * smaller) if p == smaller else min(1.0, max(larger, 2 * smaller)) for p in plain]
    assert np.allclose(rows["p"], corrected, rtol=1e-8, atol=0)
    assert np.allclose(rows["difference"], np.mean(differences, axis=1), rtol=1e-8, atol=0)
