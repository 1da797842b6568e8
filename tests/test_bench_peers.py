"""The benchmark against peers: its naive BEF-RLSVI is the same algorithm as befrl's, and its page has the ratios."""

import importlib

import numpy as np
import pandas as pd
import pytest

from befrl import instances
from helpers import PROJECT


@pytest.fixture
def peers(monkeypatch):
    monkeypatch.syspath_prepend(PROJECT / "tools" / "bench_peers")
    return importlib.import_module("measure")


def test_naive_bef_rlsvi_has_the_actions_and_values_of_befrls(peers, monkeypatch):
    """All history against sufficient statistics; a slightly different ridge or perturbation is noticed."""
    chain = instances.build(peers.FAMILY, peers.VALUES)
    assert all(peers.disagreement(chain, 15, seed) < peers.TOLERANCE for seed in (0, 3))
    original = peers.naive_agent
    for name, value in {"eta": 1.01, "x": 3.03}.items():

        def faulty(*about, name=name, value=value):
            agent = original(*about)
            setattr(agent, name, value)
            return agent

        monkeypatch.setattr(peers, "naive_agent", faulty)
        assert peers.disagreement(chain, 3) > 1e3 * peers.TOLERANCE


def test_truncated_normal_moments_are_derivatives_of_the_log_partition(peers):
    naive = importlib.import_module("naive_bef_rlsvi")
    c, half, step = np.array([-9.0, -2.0, 0.0, 0.3, 4.0, 8.0]), 5.0, 1e-4
    _, mean, variance = naive.truncated_normal(c, half)
    up, down = (naive.truncated_normal(c + sign * step, half) for sign in (1, -1))
    assert np.allclose((up[0] - down[0]) / (2 * step), mean, atol=1e-7)
    assert np.allclose((up[1] - down[1]) / (2 * step), variance, atol=1e-7)
    assert np.allclose(naive.cell_masses(c, 8, 0.1).sum(1), 1.0, atol=1e-12)


def test_observations_of_rlberrys_agents_are_bins_of_the_state(peers):
    env, cells = peers.Chain(), peers.Cells(peers.Chain())
    for seed in range(5):
        (s,), _ = env.reset(seed=seed)
        assert cells.reset(seed=seed)[0] == int(8 * s)
        for _ in range(40):
            s, cell = env.step(1)[0][0], cells.step(1)[0]
            assert cell == min(int(8 * s), 7) and cell in cells.observation_space


def test_page_has_ratios_and_no_speeds(peers):
    def row(algorithm, peer_speed, rows, ratio, difference=np.nan):
        found = (algorithm, "peer", peer_speed, 6.54, 0.25, rows, ratio * peer_speed, ratio, 100, difference)
        return dict(zip(peers.COLUMNS, found, strict=True))

    table = [row("lsvi-ucb", 61.3, rows, ratio) for rows, ratio in ((1, 254.9), (480, 12345.6))]
    table += [row("bef-rlsvi", 7777.7, rows, ratio, 3e-11) for rows, ratio in ((1, 0.5), (480, 99.9))]
    page = peers.page(pd.DataFrame(table))
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in page.splitlines()
        if line[:5] not in ("", "| ---") and line[0] == "|"
    ]
    assert cells == [
        ["algorithm", "peer", "befrl, 1 row", "befrl, 480 rows", "growth", "environment"],
        ["lsvi-ucb", "peer", "250", "12,000", "6.5", "25%"],
        ["bef-rlsvi", "peer", "0.5", "100", "6.5", "25%"],
    ]
    assert "at most 3e-11" in page
    assert "61.3" not in page and "7777" not in page


def test_growth_compares_the_last_quarter_with_the_first(peers):
    """Episodes that last 1, 2, ..., 11 seconds: (9 + 10 + 11)/(1 + 2 + 3)."""
    assert peers.growth(np.cumsum([0, *range(1, 12)])) == 5.0
