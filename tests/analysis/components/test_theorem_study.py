"""Theorem 1 in numbers: the first useful K, the agent's own x, and where Assumption 1 can be met."""

import math

import numpy as np
import pytest

from befrl.analysis.components import theorem
from befrl.experiment.loop import make_agent
from befrl.experiment.spec import RunSpec
from befrl.model.theorem import TERMS, terms
from helpers import instance

EPISODES = 50


@pytest.fixture(scope="module")
def chain():
    return instance("chain", bins=3, horizon=4)


@pytest.fixture(scope="module")
def tables(chain):
    return theorem.study("chain-3", chain, 0, decades=4, episodes=EPISODES)


def facts(tables):
    return {row["quantity"]: row["value"] for row in tables["facts"]}


def test_the_bound_is_the_sum_of_its_terms(tables):
    for K in (1.0, 100.0, 10_000.0):
        rows = {row["term"]: row for row in tables["bound"] if row["K"] == K}
        assert set(rows) == {*TERMS, "all"}
        assert rows["all"]["value"] == pytest.approx(sum(rows[term]["value"] for term in TERMS), rel=1e-12)
        assert all(row["ratio"] == pytest.approx(row["value"] / row["trivial"]) for row in rows.values())


def test_the_trivial_bound_is_H_K_times_the_span_of_mean_rewards(chain, tables):
    span = chain.R.max() - chain.R.min()
    assert all(row["trivial"] == pytest.approx(4 * row["K"] * span) for row in tables["bound"])
    loss = chain.optimal_value - chain.uniform_value
    assert 0 < loss <= 4 * span


@pytest.mark.parametrize("which", ["trivial", "random"])
def test_the_bound_crosses_at_the_first_K(chain, tables, which):
    found, z = facts(tables), theorem.settings(chain)
    slope = 4 * np.ptp(chain.R) if which == "trivial" else chain.optimal_value - chain.uniform_value
    first = found[f"first K, {which}"]
    before, at = (sum(terms(z | {"K": K})["theorem"].values()) / K for K in (first - 1, first))
    assert at < slope * (1 + 1e-12) and before >= slope * (1 - 1e-12) and before - at < 1e-3 * slope
    assert found["first K, random"] > found["first K, trivial"] > 1e6


def test_the_shares_add_up_to_one(tables):
    shares = [facts(tables)[f"share, {term}"] for term in TERMS]
    assert min(shares) > 0 and sum(shares) == pytest.approx(1.0, rel=1e-12)


def test_x_is_the_one_that_the_agent_uses(chain, tables):
    spec = RunSpec.of(chain, "chain-3", "bef-rlsvi", [{}], EPISODES, range(1), root_seed=0)
    assert facts(tables)["x, theorem"] == pytest.approx(float(make_agent(spec).x[0]), rel=1e-12)
    assert facts(tables)["x, lemma"] == pytest.approx(math.sqrt(facts(tables)["x, theorem"]), rel=1e-12)


def test_bounded_laws_meet_the_assumption_on_compact_sets_alone(chain, tables):
    transitions, rewards = tables["assumption"]
    assert [row["met_on"] for row in (transitions, rewards)] == ["compact set", "compact set"]
    assert 0 < transitions["alpha_wider"] < transitions["alpha"] < transitions["beta"]
    far = 1 / (1 + math.exp(theorem.WIDER * rewards["radius"]))
    assert rewards["alpha_wider"] == pytest.approx(far * (1 - far), rel=1e-6)  # Bernoulli, B = 1


def test_gaussian_laws_meet_it_for_all_parameters():
    for row in theorem.study("lds", instance("lds"), 0, decades=1, episodes=1)["assumption"]:
        assert row["met_on"] == "all parameters" and row["alpha_wider"] == row["alpha"] == row["beta"]
