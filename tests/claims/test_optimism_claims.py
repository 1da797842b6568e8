"""C46: the counterexample, the repairs, and what is true instead."""

import numpy as np
import pytest

from befrl import claims
from befrl.claims.optimism import REPAIRS, attack_sum_inside_norm, both_sides


def rng():
    return np.random.default_rng(11)


def squared_norm(x, matrix):
    return x @ matrix @ x


@pytest.fixture(scope="module")
def record():
    return claims.evaluate("C46", trials=30, seed=4)


def test_the_recorded_vectors_break_the_bound(record):
    a, x = np.array(record["instance"]["a"]), np.array(record["instance"]["x"])
    left = squared_norm(x, sum(np.outer(v, v) for v in a))
    right = squared_norm(x, np.outer(a.sum(0), a.sum(0)))
    assert record["verdict"] == "fails"
    assert 1 - right / left == pytest.approx(record["worst_case"]) == 1.0


@pytest.mark.parametrize("repair", REPAIRS)
def test_the_recorded_instances_break_every_repair(record, repair):
    instance = record["details"]["its instance (U: step, outcome, row, column)"][repair]
    U, probability, x = (np.array(instance[key]) for key in ("U", "probability", "x"))
    assert np.allclose(probability.sum(1), 1.0) and (probability >= 0).all()
    left = right_root = 0.0
    for step, weights in zip(U, probability, strict=True):
        for matrix, weight in zip(step, weights, strict=True):
            left = left + weight * squared_norm(x, matrix.T @ matrix)
            right_root = right_root + weight * matrix @ x
    right = (len(U) if repair == "factor n" else 1) ** 2 * (right_root @ right_root)
    share = record["details"]["largest uncovered share after each repair, in the proof's form"][repair]
    assert 1 - right / left == pytest.approx(share, abs=1e-9) and share > 0.9
    if repair == "nonnegative features":
        assert (U >= 0).all()
    if repair == "products of one sign":
        assert (U @ x >= 0).all()


def test_one_sign_saves_fixed_vectors_but_not_the_average():
    """sum y^2 <= (sum y)^2 for y >= 0, yet E y^2 >= (E y)^2 whatever y is."""
    assert attack_sum_inside_norm(rng(), 30, hypothesis="products of one sign").verdict == "holds"
    fixed = attack_sum_inside_norm(rng(), 30, averaged=False)
    assert fixed.verdict == "corrected" and "products of one sign" in fixed.correction
    assert attack_sum_inside_norm(rng(), 30, averaged=True).verdict == "fails"


def test_nonnegative_features_do_not_save_it():
    finding = attack_sum_inside_norm(rng(), 30, hypothesis="nonnegative features")
    assert finding.verdict == "fails" and finding.worst_case == pytest.approx(1.0)


def test_both_sides_are_the_two_norms():
    draw = rng()
    U, x = draw.standard_normal((3, 2, 2, 4)), draw.standard_normal(4)
    probability = draw.dirichlet(np.ones(2), size=3)
    pairs = list(zip(U.reshape(-1, 2, 4), probability.ravel(), strict=True))
    G = sum(w * M.T @ M for M, w in pairs)
    u = sum(w * M for M, w in pairs)
    assert both_sides(U, probability, x) == pytest.approx((squared_norm(x, G), squared_norm(x, u.T @ u)))


def test_what_is_true_instead_survives(record):
    details = record["details"]
    assert details["largest violation of (sum a'x)^2 <= n sum (a'x)^2"] < 1e-9
    assert details["largest violation of |x|^2_{sum E G} <= lambda |x|^2_Gbar"] < 1e-9
    # Both are sharp, so the attack reached them.
    assert details["largest violation of (sum a'x)^2 <= n sum (a'x)^2"] > -1e-9
    assert details["largest violation of |x|^2_{sum E G} <= lambda |x|^2_Gbar"] > -1e-9


def test_the_conclusion_drawn_from_it_is_false_too():
    """a_1, a_2 = e_1, e_2 and a past of (1, 1): nonnegative, yet lambda far exceeds |u|^2_{Gbar^-1}."""
    Gbar = 0.01 * np.eye(2) + np.ones((2, 2))
    u = np.ones(2)
    largest_eigenvalue = 1 / np.linalg.eigvalsh(Gbar)[0]
    assert largest_eigenvalue > 50 * (u @ np.linalg.solve(Gbar, u))
    details = claims.evaluate("C46", trials=30, seed=4)["details"]
    key = "share of lambda that |u_k|^2_{Gbar^-1} leaves uncovered, nonnegative features"
    assert min(details[key].values()) > 0.5
