"""The study of the proof: its tables against runs of the loop, closed forms of the radii, and bounds by hand."""

import math
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np
import pytest

from befrl.analysis import imagined_rounds
from befrl.analysis.components import proof
from befrl.experiment import bad_rounds, loop
from befrl.experiment.episodes import play
from befrl.experiment.spec import RunSpec
from befrl.model.constants import compute
from befrl.model.features import Features
from helpers import instance

ROOT, EPISODES, SEEDS = 3, 12, 9


def problem():
    return instance("jao", arms=3, horizon=5)


@pytest.fixture(scope="module")
def tables():
    return proof.study("jao-3", problem(), ROOT, EPISODES, SEEDS)


def spec_of(eta, multiples):
    values = [{"eta": eta, "scale": multiple} for multiple in multiples]
    return RunSpec.of(problem(), "jao-3", "bef-rlsvi", values, EPISODES, range(SEEDS), root_seed=ROOT)


def test_optimism_is_that_of_the_loop(tables):
    hits = (loop.run(spec_of(proof.DEFAULT, proof.MULTIPLES))["optimism"] >= 0).reshape(-1, SEEDS, EPISODES)
    for i, multiple in enumerate(proof.MULTIPLES):
        rows = [row for row in tables["optimism"] if row["multiple"] == multiple]
        assert rows[0]["first"] == 1 and rows[-1]["k"] == EPISODES
        assert all(following["first"] == row["k"] + 1 for row, following in pairwise(rows))
        for row in rows:
            assert row["share"] == pytest.approx(hits[i][:, row["first"] - 1 : row["k"]].mean())
            assert 0 <= row["low"] <= row["share"] <= row["high"] <= 1
    assert len({row["share"] for row in tables["optimism"]}) > 2


def test_played_bad_rounds_are_those_of_the_norms_and_imagined_ones_keep_their_bound(tables):
    eta = proof.SMALL * bad_rounds.harmless_eta(problem())
    spec = spec_of(eta, proof.BAD_MULTIPLES)
    bad = np.empty((spec.rows, EPISODES))
    for k, (agent, _, trajectory) in enumerate(play(spec)):
        # One-hot features with p = 1: the squared norm is 1/(eta/alpha_r + visits).
        norms = 1 / (eta / problem().constants["alpha_r"] + agent.learner.data.counts)
        visited = norms[np.arange(spec.rows)[:, None], trajectory.cells, trajectory.actions]
        bad[:, k] = (visited >= 1.0).any(1)
    counts = bad.cumsum(1).reshape(-1, SEEDS, EPISODES)
    for i, multiple in enumerate(proof.BAD_MULTIPLES):
        rows = [r for r in tables["bad_rounds"] if r["multiple"] == multiple and r["rounds"] == "played"]
        for row in rows:
            count = counts[i][:, row["k"] - 1]
            assert (row["mean"], row["most"]) == (pytest.approx(count.mean()), count.max())
    limit = 3 * problem().model.d / math.log(2) * math.log(1 + 1 / (proof.SMALL * math.log(2)))
    assert rows[0]["printed"] == pytest.approx(limit) == pytest.approx(rows[0]["corrected"])
    assert rows[-1]["mean"] > 1
    # The corrected bound of the imagined ones holds in each episode, for the same first state and the same policy.
    rows = [row for row in tables["bad_rounds"] if row["rounds"] == "imagined"]
    assert rows and all(0 < row["mean"] <= row["corrected"] for row in rows)


def test_the_scale_of_the_matrices_changes_the_printed_limit_alone():
    """Twice the A_i and half of theta are the same problem, but C_d has a 16 times larger |A|^2 in its logarithm."""
    one = instance("dense", horizon=4)
    twice = replace(one.model, features=Features.dense(one.parameters["phi"], 2 * one.parameters["A"]))
    halves = {"theta_p": one.theta_p / 2, "theta_r": one.theta_r / 2}
    two = replace(one, model=twice, **halves, constants=compute(twice, *halves.values(), np.random.default_rng(0)))
    np.testing.assert_allclose(two.P, one.P)
    (printed, corrected), (printed_twice, corrected_twice) = proof.limits(one, 0.2), proof.limits(two, 0.2)
    assert corrected_twice == pytest.approx(corrected)
    inside = [math.expm1(limit * math.log(2) / (3 * one.model.d)) for limit in (printed, printed_twice)]
    assert inside[1] == pytest.approx(16 * inside[0])


@pytest.mark.parametrize("eta", [0.1, 10.0])
def test_before_the_first_episode_distances_and_radii_have_a_closed_form(eta):
    """The estimate is 0 and Gbar = eta/alpha A: the ratio is |theta|_A sqrt(eta/(B_A^2 + log(2/delta))/2), printed."""
    one = instance("dense", horizon=4)
    agent, _, _ = next(play(RunSpec.of(one, "dense", "bef-rlsvi", [{"eta": eta}], 1, range(2), root_seed=ROOT)))
    found, delta, square = proof.ratios(one, agent.learner, 0.1), 0.1, one.constants["B_A"] ** 2
    for parameter, theta in (("transitions", one.theta_p), ("rewards", one.theta_r)):
        size = eta * one.model.features.trace_norm(theta) ** 2
        printed = math.sqrt(size / (2 * (square + math.log(2 / delta))))
        corrected = math.sqrt(size / (eta * square + 2 * math.log(1 / delta)))
        np.testing.assert_allclose(found[parameter, "printed"], printed)
        np.testing.assert_allclose(found[parameter, "corrected"], corrected)
        assert corrected < 1  # whatever eta


def test_ratios_are_those_of_dense_matrices():
    """Distances in the norms of the two regions, and both determinants, for p = 2 and a B that is not a unit vector."""
    one, eta, delta = instance("dense", horizon=4), 0.5, 0.05
    one = replace(one, model=replace(one.model, B=np.array([0.9, -1.6])))
    c, A, U, B = one.constants, one.model.features.trace[0], one.model.features.U, one.model.B
    x = np.einsum("p,xapi->xai", B, U)
    spec = RunSpec.of(one, "dense", "bef-rlsvi", [{"eta": eta}], 4, [0], root_seed=ROOT)
    for agent, _, _ in play(spec):
        learner, found = agent.learner, proof.ratios(one, agent.learner, delta)
        counts = learner.data.counts[0].copy()
        G, seen = np.einsum("xa,xapi,xapj->ij", counts, U, U), np.einsum("xa,xai,xaj->ij", counts, x, x)
        least = c["alpha_r"] / (B @ B)
        for parameter, change, beta, printed, corrected in (
            ("transitions", learner.theta_p[0] - one.theta_p, c["beta_p"], (c["alpha_p"], G), (c["alpha_p"], G)),
            ("rewards", learner.theta_r[0] - one.theta_r, c["beta_r"], (c["alpha_r"], G), (least, seen)),
        ):
            log_D = np.linalg.slogdet(np.eye(5) + beta / eta * np.linalg.solve(A, G))[1]
            sizes = {
                "printed": (*printed, c["B_A"] ** 2 + math.log(2 / delta) + log_D),
                "corrected": (*corrected, eta / 2 * c["B_A"] ** 2 + math.log(1 / delta) + log_D / 2),
            }
            for kind, (alpha, data, size) in sizes.items():
                square = change @ (eta / alpha * A + data) @ change
                assert found[parameter, kind][0] == pytest.approx(math.sqrt(square * alpha / (2 * size)))
    assert counts.sum() == 3 * 4


def test_shares_that_are_covered_fall_and_a_large_penalty_breaks_the_printed_region(tables):
    """With eta = 10 the printed radius is too small before anything is seen: eta B_A^2 > 2 (B_A^2 + log(2/delta))."""
    B = problem().constants["B_A"] ** 2
    assert proof.LARGE * B > 2 * (B + math.log(2 / proof.DELTA))
    groups = {}
    for row in tables["regions"]:
        groups.setdefault((row["eta"], row["parameter"], row["radius"]), []).append(row)
        assert row["low"] <= row["covered"] <= row["high"] and (row["largest"] <= 1) == (row["covered"] == 1)
        assert row["missed_inside"] <= 1 - row["covered"]
    for row, later in chain.from_iterable(map(pairwise, groups.values())):
        assert later["covered"] <= row["covered"] and later["left"] >= row["left"]
    larger = "rewards" if problem().constants["radius_r"] > problem().constants["radius_p"] else "transitions"
    for radius, covered in (("printed", 0), ("corrected", 1)):
        assert groups[proof.LARGE, larger, radius][0]["covered"] == covered


def test_the_example_of_imagined_bad_rounds_is_that_of_simulations():
    """Next states N(6, 1), the penalised estimate after each episode, and the second state that it imagines."""
    row = next(row for row in imagined_rounds.rows() if row["K"] == 100)
    rng, runs, H, eta = np.random.default_rng(5), 2000, 2, 12 * 100
    sums = rng.normal(6.0, 1.0, (runs, 99, H)).sum(2).cumsum(1)
    estimates = np.concatenate([np.zeros((runs, 1)), sums / (H * np.arange(1, 100) + eta)], axis=1)
    counts = (rng.normal(estimates, 1.0) <= 0).sum(1)
    assert abs(counts.mean() - row["imagined"]) < 4 * counts.std() / math.sqrt(runs)
    # As the page of the claim says, for K = 1000.
    (long,) = [row for row in imagined_rounds.rows() if row["K"] == 1000]
    assert [round(long[key], 1) for key in ("imagined", "printed", "corrected")] == [331.1, 96.5, 11.7]
    assert long["played"] < 1e-5 and long["imagined"] > 3 * long["printed"]
