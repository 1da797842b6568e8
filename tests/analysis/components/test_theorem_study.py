"""Theorem 1 in numbers: the first useful K, the agent's own x, and where Assumption 1 can be met."""

import math

import numpy as np
import pytest

from befrl.analysis.components import theorem
from befrl.experiment.loop import make_agent
from befrl.experiment.spec import RunSpec
from befrl.model.seed_theorem import information, radius
from befrl.model.theorem import TERMS, terms
from helpers import instance, light

EPISODES = 50
OURS = ("bef-seed, Theorem 1", "bef-seed, Theorem 2")


@pytest.fixture(scope="module")
def chain():
    return instance("chain", bins=3, horizon=4)


@pytest.fixture(scope="module")
def tables(chain):
    found = theorem.study("chain-3", chain, 0, decades=4, episodes=EPISODES)
    return found | {"facts": {row["quantity"]: row["value"] for row in found["facts"]}}


def test_the_bound_is_the_sum_of_its_terms_and_compared_with_the_trivial_one(chain, tables):
    """The trivial bound is H K times the span of the mean rewards."""
    span = np.ptp(chain.R)
    assert 0 < chain.optimal_value - chain.uniform_value <= 4 * span
    for K in (1.0, 100.0, 10_000.0):
        rows = {row["term"]: row for row in tables["bound"] if row["K"] == K}
        assert set(rows) == {*TERMS, "all", *OURS}
        assert rows["all"]["value"] == pytest.approx(sum(rows[term]["value"] for term in TERMS), rel=1e-12)
        for row in rows.values():
            expected = row["value"] / row["trivial"], 4 * K * span
            assert (row["ratio"], row["trivial"]) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("which", ["trivial", "random"])
def test_the_bound_is_first_below_the_other_at_the_first_K(chain, tables, which):
    facts = tables["facts"]
    slope = 4 * np.ptp(chain.R) if which == "trivial" else chain.optimal_value - chain.uniform_value
    z, first = theorem.settings(chain), facts[f"first K, {which}"]
    before, at = (sum(terms(z | {"K": K})["theorem"].values()) / K for K in (first - 1, first))
    assert at < slope * (1 + 1e-12) and before >= slope * (1 - 1e-12) and before - at < 1e-3 * slope
    assert facts["first K, random"] > facts["first K, trivial"] > 1e6
    shares = [facts[f"share, {term}"] for term in TERMS]
    assert min(shares) > 0 and sum(shares) == pytest.approx(1.0, rel=1e-12)


def test_x_is_the_one_that_the_agent_uses(chain, tables):
    x, root = (tables["facts"][f"x, {name}"] for name in ("theorem", "lemma"))
    spec = RunSpec.of(chain, "chain-3", "bef-rlsvi", [{}], EPISODES, range(1), root_seed=0)
    assert (x, root) == pytest.approx((float(make_agent(spec).x[0]), math.sqrt(x)), rel=1e-12)


def test_assumption_1_holds_on_compact_sets_for_bounded_laws_and_everywhere_for_gaussian_ones(tables):
    transitions, rewards = tables["assumption"]
    assert transitions["met_on"] == rewards["met_on"] == "compact set"
    assert 0 < transitions["alpha_wider"] < transitions["alpha"] < transitions["beta"]
    far = 1 / (1 + math.exp(theorem.WIDER * rewards["radius"]))
    assert rewards["alpha_wider"] == pytest.approx(far * (1 - far), rel=1e-6)  # Bernoulli, B = 1
    for row in theorem.study("lds", instance("lds"), 0, decades=1, episodes=1)["assumption"]:
        assert row["met_on"] == "all parameters" and row["alpha_wider"] == row["alpha"] == row["beta"]


@pytest.mark.parametrize(("name", "hold"), [("chain", 1), ("trap-one", 1), ("riverswim", 2), ("dense", 2), ("lds", 0)])
def test_bounds_of_bef_seed_are_given_where_they_hold(name, hold):
    """No theorem where nothing is promised, and only the first one where the width is `interval`."""
    problem = light(name)
    agent = make_agent(RunSpec.of(problem, name, "bef-seed", [{}], EPISODES, range(1), root_seed=0))
    theorems = 0 if agent.facts()["certificate_delta"][0] == 1 else 1 if agent.width == "interval" else 2
    facts = {row["quantity"]: row["value"] for row in theorem.study(name, problem, 0, 1, EPISODES)["facts"]}
    first = [facts[f"first K, {each}"] for each in OURS]
    assert theorems == hold and list(np.isnan(first)) == [hold < 1, hold < 2] and not np.any(np.array(first) < 100)


def test_the_constants_of_bef_seed_are_those_of_its_agent(chain):
    """After n visits of one pair the agent's set has D = b/n, up to the error of Newton's method."""
    agent, n = make_agent(RunSpec.of(chain, "chain-3", "bef-seed", [{}], EPISODES, range(1), root_seed=0)), 1000.0
    for known, sets in zip(theorem.likelihoods(chain), (agent.states, agent.rewards), strict=True):
        visits = np.zeros((1, *chain.R.shape))
        visits[0, 1, 0] = n
        D = sets.update(visits, np.zeros((*visits.shape, 1))).D[0, 1, 0]
        assert known.one_hot
        assert D * n == pytest.approx(radius(known, n, 2 * known.sets, agent.parameters.delta[0]), rel=1e-3)


def test_no_log_determinant_is_above_gamma():
    circle = instance("circle")
    features, known = circle.model.features, theorem.likelihoods(circle)[0]
    for n in (10.0, 1e6):
        visits = np.full((1, *circle.R.shape), n / circle.R.size)
        grown = features.plus_trace(known.beta / known.eta * features.design(visits), 1.0)
        gained = np.linalg.slogdet(grown)[1].sum() - np.linalg.slogdet(features.trace)[1].sum()
        assert 0.2 * information(known, n) < gained < information(known, n)
