"""Hypotheses of the proof on instances that satisfy them or not, and the table of its steps against the ledger."""

import re

import numpy as np
import pytest

from befrl import claims
from befrl.analysis import hypotheses
from befrl.analysis.components import repairs
from befrl.analysis.hypotheses import HYPOTHESES, needed, one_feature, rewards_see_all, steps
from befrl.claims.toolbox.registry import CLAIMS, number_of, paper
from befrl.model.families.base import ContinuousFamily, FiniteFamily
from befrl.model.features import Features
from befrl.model.model import Model
from befrl.model.rewards import gaussian
from befrl.model.spaces import FiniteSpace, SmoothBox
from helpers import PROJECT, _with_constants, instance

claims.names()  # imports all claims

CHAIN = ("chain", {"bins": 3, "horizon": 4})
RIVER = ("riverswim", {"states": 3, "horizon": 4})
# By hypothesis: an instance that satisfies it, and one that does not.
EXAMPLES = {
    "finite_z": (("custom-sin", {}), ("laplace", {})), "every_state": (CHAIN, RIVER), "one_component": (CHAIN, RIVER),
    "alpha_p_least": (RIVER, CHAIN), "alpha_r_least": (CHAIN, RIVER), "large_C_d": (CHAIN, RIVER),
    "constant_variance": (RIVER, CHAIN), "long_B": (CHAIN, ("half B", {})), "one_feature": (("shared", {}), CHAIN),
    "one_step": (("jao", {"horizon": 1}), ("jao", {"horizon": 2})), "rewards_see_all": (RIVER, ("dense", {})),
    "two_steps": (("jao", {"horizon": 2}), ("jao", {"horizon": 3})), "no_imagined_bad_round": (CHAIN, ("noisy", {})),
    "constants_everywhere": (("lds", {"horizon": 3}), RIVER),
}  # fmt: skip


def two_states(phi, B=1.0, sd=0.5):
    """Two states and two actions with p = 1, unit matrices A_i, and features phi (2, 2, q)."""
    q = np.shape(phi)[-1]
    family = FiniteFamily(FiniteSpace(2), np.array([[0.0], [1.0]]), np.zeros(2))
    model = Model(Features.dense(phi, np.eye(q)[:, None]), family, gaussian.Law(sd), B=np.array([B]))
    theta = np.linspace(0.2, 0.8, q)
    start = {"start": lambda u: np.zeros(len(u), int), "start_masses": np.array([1.0, 0.0])}
    return _with_constants(model=model, horizon=5, theta_p=theta, theta_r=theta, **start)


def laplace():
    """psi(s') = s' with the base measure exp(-|s'|) on the real line: Z is infinite for |theta| >= 1."""
    space = SmoothBox([np.linspace(-40, 40, 41)], 3, unbounded=True)
    family = ContinuousFamily(space, statistic=lambda s: s[..., None], log_base_at=lambda s: -np.abs(s))
    model = Model.smooth_in(lambda s: np.ones((len(s), 2, 1)), family, gaussian.Law(0.5), B=np.ones(1))
    first = space.n_anchors // 2
    start = {"start": lambda u: np.repeat(space.nodes[first], len(u)), "start_masses": np.eye(space.n_anchors)[first]}
    return _with_constants(model=model, horizon=3, theta_p=np.full(1, 0.1), theta_r=np.full(1, 0.1), **start)


def problem(name, values):
    own = {
        "laplace": laplace,
        "shared": lambda: two_states(np.broadcast_to(np.eye(2), (2, 2, 2))),
        "half B": lambda: two_states(np.eye(4).reshape(2, 2, 4), B=0.5),
        "noisy": lambda: two_states(np.eye(4).reshape(2, 2, 4), sd=2.0),
    }
    return own[name]() if name in own else instance(name, **values)


def test_a_hypothesis_is_true_on_one_instance_and_false_on_another(monkeypatch):
    for name, (yes, no) in EXAMPLES.items():
        assert HYPOTHESES[name](problem(*yes)) is True and HYPOTHESES[name](problem(*no)) is False, name
    # That on the penalty is about the default eta.
    assert set(HYPOTHESES) - set(EXAMPLES) == {"small_penalty"}
    assert HYPOTHESES["small_penalty"](problem(*CHAIN)) is True
    monkeypatch.setattr(hypotheses, "_eta", lambda: 2.1)
    assert HYPOTHESES["small_penalty"](problem(*CHAIN)) is False


def test_rewards_see_all_means_that_the_two_norms_agree(rng):
    """For random D in the span of the A^-1 x, |U D| = |B'U D|/|B| at every (s,a), or not."""
    for one, agree in ((problem(*RIVER), True), (problem("dense", {}), False)):
        model = one.model
        U = hypotheses._matrices(model).reshape(-1, model.features.p, model.d)
        # bold A is I for one-hot features; for dense ones it is a single block.
        A = np.eye(model.d) if agree else model.features.trace[0]
        D = np.linalg.solve(A, np.einsum("m,p,mpd->d", rng.standard_normal(len(U)), model.B, U))
        seen = np.abs(model.B @ (U @ D).T) / np.linalg.norm(model.B)
        assert np.allclose(np.linalg.norm(U @ D, axis=1), seen) == agree == rewards_see_all(one)


def test_under_one_feature_the_square_of_the_sum_bounds_the_sum_of_squares(rng):
    """C46: sum_h E|U_h x|^2 <= |sum_h E U_h x|^2 for all x, along the optimal policy."""
    for one, expected in ((problem("shared", {}), True), (problem("noisy", {}), False)):
        assert one_feature(one) is expected
        U = hypotheses._matrices(one.model)
        law, square, total = one.start_masses, 0.0, 0.0
        for actions in one.optimal_policy:
            met = U[[0, 1], actions]
            square = square + np.einsum("s,spi,spj->ij", law, met, met)
            total = total + np.einsum("s,spi->pi", law, met)
            law = law @ one.P[[0, 1], actions]
        assert (np.linalg.eigvalsh(total.T @ total - square)[0] >= -1e-9) == expected


def test_all_hold_together_on_a_gaussian_bandit_with_equal_constants():
    """A linear-Gaussian system with one step and unit noise of the rewards, so that alpha_p = alpha_r."""
    (answer,) = repairs.study("bandit", instance("lds", horizon=1, reward_sd=1.0), 0, [1])["answers"]
    assert answer == {"instance": "bandit", "H": 1, "proof": True, "printed": True, "missing": ""}


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("jao", "literal", "factored")]


@pytest.mark.parametrize("name", ["chain", "riverswim", "lds", *SLOW])
def test_with_several_steps_no_family_satisfies_what_the_proof_needs(name):
    own, single = repairs.study(name, instance(name, horizon=3), 0, [1])["answers"]
    assert (own["H"], own["proof"], single["H"]) == (3, False, 1)
    assert "one_step" in own["missing"].split() and "one_step" not in single["missing"]
    assert set(own["missing"].split()) <= set(needed())
    assert single["proof"] == (name in ("riverswim", "lds"))


def rests_on(id):
    """The claims that the printed proof of a claim uses, directly or not."""
    used = set(paper()[id]["uses"])
    return used | {other for each in used for other in rests_on(each)}


def test_every_false_step_that_the_theorem_rests_on_and_every_hypothesis_is_in_the_table():
    errata = set(re.findall(r"^## \d+\. (C\d+[a-z]?):", (PROJECT / "docs" / "errata.md").read_text(), re.MULTILINE))
    listed = [step["claim"] for step in steps()]
    assert len(errata) > 60 and listed == sorted(set(listed), key=number_of)
    assert rests_on("C62") & errata <= set(listed) <= errata
    named = {step["hypothesis"] for step in steps()} - {""}
    assert named == set(HYPOTHESES) and set(needed()) < named
    assert all(step["fails"] and step["reading"] and (step["hypothesis"] or not step["needed"]) for step in steps())


@pytest.mark.parametrize("expensive", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_reading_of_every_step_is_in_the_ledger_and_survives(expensive):
    later = ("C23", "C24", "C26", "C27", "C45c", "C51")
    for step in steps():
        entry = CLAIMS[step["reading_of"]]
        readings = entry.repairs | entry.others | entry.steps
        assert step["reading"] in readings, step["claim"]
        if (step["claim"] in later) == expensive:
            rng = np.random.default_rng(np.random.SeedSequence(3, spawn_key=number_of(entry.id)))
            assert entry.attack(rng, 10, **readings[step["reading"]]).violation <= entry.tolerance, step["claim"]
