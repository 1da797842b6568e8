"""Newton's method on problems with known minima, and on problems without any."""

import numpy as np
import pytest
from scipy import special

from befrl.cli import main
from befrl.common.errors import InputError
from befrl.numerics import linalg, newton
from helpers import full


def softplus(targets):
    """sum log(1 + e^theta) - target theta + theta^2/200: flat tails, minimum far from a far start."""

    def evaluate(theta, rows):
        p = special.expit(theta)
        value = (np.logaddexp(0, theta) - targets[rows] * theta + theta**2 / 200).sum(-1)
        return value, p - targets[rows] + theta / 100, (p * (1 - p) + 0.01)[..., None, None]

    return evaluate


def quadratic(H, b):
    """1/2 theta' H theta - b' theta, H (n, blocks, m, m)."""

    def evaluate(theta, rows):
        pull = linalg.product(H[rows], theta)
        return (0.5 * theta * pull - b[rows] * theta).sum(-1), pull - b[rows], H[rows].copy()

    return evaluate


def test_a_quadratic_takes_one_step(rng):
    roots = rng.standard_normal((4, 3, 2, 2))
    H, b = roots @ np.swapaxes(roots, -1, -2) + np.eye(2), rng.standard_normal((4, 6))
    theta, hessian = newton.minimise(quadratic(H, b), rng.standard_normal((4, 6)))
    for i in range(4):
        assert full(H[i]) @ theta[i] == pytest.approx(b[i], abs=1e-12)
    assert np.array_equal(hessian, H)


def test_the_minimum_is_found_from_far_starts_on_flat_tails(rng):
    targets = rng.uniform(0.01, 0.99, (3, 4))
    near, _ = newton.minimise(softplus(targets), np.zeros((3, 4)))
    assert np.allclose(softplus(targets)(near, slice(None))[1], 0.0, rtol=0, atol=1e-8)
    for start in (-300.0, -20.0, 20.0, 300.0):
        far, _ = newton.minimise(softplus(targets), np.full((3, 4), start))
        assert np.allclose(far, near, rtol=0, atol=1e-8)


def test_full_steps_that_overshoot_are_halved():
    """sqrt(1 + theta^2): from |theta| > 1 undamped Newton diverges."""

    def evaluate(theta, rows):
        root = np.sqrt(1 + theta**2)
        return root.sum(-1), theta / root, (root**-3)[..., None, None]

    theta, _ = newton.minimise(evaluate, np.array([[2.0], [-50.0], [0.1]]))
    assert np.allclose(theta, 0.0, rtol=0, atol=1e-9)


def test_a_row_has_the_same_bits_alone_whatever_the_others_need(rng):
    targets = rng.uniform(0.01, 0.99, (5, 4))
    starts = np.array([0.0, 300.0, -40.0, 1.0, 7.0])[:, None] * np.ones((5, 4))
    together, hessians = newton.minimise(softplus(targets), starts)
    for i in range(5):
        alone, hessian = newton.minimise(softplus(targets[i : i + 1]), starts[i : i + 1])
        assert np.array_equal(alone[0], together[i])
        assert np.array_equal(hessian[0], hessians[i])


@pytest.mark.parametrize("factors", [(np.nan, np.nan, 1), (1, -1, 1), (-1, -1, -1)], ids=["nan", "ascent", "maximum"])
def test_a_row_without_a_minimum_does_not_converge_and_is_named(factors):
    """NaN; a gradient of the wrong sign; and a maximum, where the decrement is negative."""

    def evaluate(theta, rows):
        with np.errstate(invalid="ignore"):
            parts = softplus(np.full((3, 1), 0.5))(theta, rows)
            broken = np.arange(3)[rows] == 1
            return [
                np.where(broken.reshape(-1, *[1] * (part.ndim - 1)), factor * part, part)
                for part, factor in zip(parts, factors, strict=True)
            ]

    with pytest.raises(newton.NotConverged, match=r"rows \[1\] of the group"):
        newton.minimise(evaluate, np.ones((3, 1)))


def test_a_failing_solver_is_one_sentence_and_exit_code_1(monkeypatch, capsys):
    """It must not pass for bad input."""
    monkeypatch.setattr(newton, "ROUNDS", 1)
    assert not issubclass(newton.NotConverged, InputError)
    assert main(["run", "--instance", "chain", "--agent", "greedy", "--episodes", "3", "--seeds", "2"]) == 1
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1 and "did not converge" in shown.err
