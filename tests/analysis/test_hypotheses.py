"""Hypotheses of the proof on instances that satisfy them or not, and the table of its steps against the ledger."""

import numpy as np
import pytest

from befrl.analysis import hypotheses
from befrl.analysis.components import repairs
from befrl.analysis.hypotheses import HYPOTHESES, needed, no_cancellation, one_feature, rewards_see_all, steps
from befrl.claims.judge import function_of
from befrl.claims.pages import number_of, pages
from befrl.model.families.base import ContinuousFamily, FiniteFamily
from befrl.model.features import Features
from befrl.model.model import Model
from befrl.model.rewards import gaussian
from befrl.model.spaces import FiniteSpace, SmoothBox
from helpers import _with_constants, instance

CHAIN = ("chain", {"bins": 3, "horizon": 4})
RIVER = ("riverswim", {"states": 3, "horizon": 4})
# By hypothesis: an instance that satisfies it, and one that does not.
EXAMPLES = {
    "finite_z": (("custom-sin", {}), ("laplace", {})), "every_state": (CHAIN, RIVER), "one_component": (CHAIN, RIVER),
    "alpha_p_least": (RIVER, CHAIN), "alpha_r_least": (CHAIN, RIVER), "large_C_d": (CHAIN, RIVER),
    "constant_variance": (RIVER, CHAIN), "long_B": (CHAIN, ("half B", {})), "rewards_see_all": (RIVER, ("dense", {})),
    "no_imagined_bad_round": (CHAIN, ("noisy", {})), "constants_everywhere": (("lds", {"horizon": 3}), RIVER),
    "no_cancellation": (RIVER, ("lds", {"horizon": 3})),
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
        "signed": lambda: two_states(np.array([[[1.0], [1.0]], [[-3.0], [-3.0]]])),
        "mixed": lambda: two_states(np.array([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.5, 0.5]]])),
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


def along_the_optimal_policy(one):
    """The features U met by the optimal policy, with the chance of each step and state."""
    U, law = hypotheses._matrices(one.model), one.start_masses
    for actions in one.optimal_policy:
        states = np.arange(len(law))
        yield U[states, actions], law
        law = law @ one.P[states, actions]


def test_under_one_feature_the_square_of_the_sum_bounds_the_sum_of_squares():
    """C46: sum_h E|U_h x|^2 <= |sum_h E U_h x|^2 for all x, along the optimal policy."""
    for one, expected in ((problem("shared", {}), True), (problem("noisy", {}), False)):
        assert one_feature(one) is expected
        met = list(along_the_optimal_policy(one))
        square = sum(np.einsum("s,spi,spj->ij", law, U, U) for U, law in met)
        total = sum(np.einsum("s,spi->pi", law, U) for U, law in met)
        assert (np.linalg.eigvalsh(total.T @ total - square)[0] >= -1e-9) == expected


@pytest.mark.parametrize(
    ("case", "expected"),
    [(("shared", {}), True), (("noisy", {}), True), (RIVER, True), (("signed", {}), False), (("mixed", {}), False)],
)
def test_without_cancellation_the_norm_of_the_expected_features_bounds_the_first_powers(case, expected, rng):
    """C46, C51: kappa sum_h E|U_h x| <= |x|_G |sum_h E U_h'B|_G^-1 for designs G of any visits and all x."""
    one = problem(*case)
    model, met = one.model, list(along_the_optimal_policy(one))
    U = hypotheses._matrices(model).reshape(-1, model.features.p, model.d)
    lengths, seen = np.linalg.norm(U, axis=1), np.abs(np.einsum("p,mpd->md", model.B, U))
    kappa = (seen[lengths > 0] / lengths[lengths > 0]).min()
    w = sum(np.einsum("s,p,spi->i", law, model.B, features) for features, law in met)
    worst = 0.0
    for _ in range(1000):
        visits = 10.0 ** rng.uniform(-3, 3, len(U))
        G = np.einsum("m,mpi,mpj->ij", visits, U, U)
        x = np.linalg.solve(G, w) * rng.choice([-1, 1], model.d) + 0.1 * rng.standard_normal(model.d)
        left = kappa * sum(law @ np.linalg.norm(features @ x, axis=1) for features, law in met)
        worst = max(worst, left / np.sqrt(x @ G @ x * (w @ np.linalg.solve(G, w))))
    assert (no_cancellation(one), bool(worst <= 1 + 1e-9)) == (expected, expected)


def test_all_hold_together_on_a_gaussian_bandit_with_equal_constants():
    """A linear-Gaussian system with one step and unit noise of the rewards, so that alpha_p = alpha_r."""
    (answer,) = repairs.study("bandit", instance("lds", horizon=1, reward_sd=1.0), 0, [1])["answers"]
    assert answer == {"instance": "bandit", "H": 1, "proof": True, "printed": True, "missing": ""}


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("jao", "literal", "factored")]


@pytest.mark.parametrize("name", ["chain", "riverswim", "lds", *SLOW])
def test_with_several_steps_no_family_satisfies_what_the_proof_needs(name):
    own, single = repairs.study(name, instance(name, horizon=3), 0, [1])["answers"]
    assert (own["H"], own["proof"], single["H"]) == (3, False, 1)
    lacks = {"riverswim": "constants_everywhere", "lds": "no_cancellation"}
    assert own["missing"] == lacks.get(name, own["missing"]) and set(own["missing"].split()) <= set(needed())
    assert single["proof"] == (name in lacks)


def rests_on(id):
    """The claims that the printed proof of a claim uses, directly or not."""
    used = set(pages()[id].uses)
    return used | {other for each in used for other in rests_on(each)}


def survives(page, **given):
    rng = np.random.default_rng(np.random.SeedSequence(3, spawn_key=number_of(page.id)))
    return function_of(page)(rng, 10, **given).violation <= page.tolerance


def test_every_false_step_that_the_theorem_rests_on_and_every_hypothesis_is_in_the_table():
    listed = [step["claim"] for step in steps()]
    assert listed == sorted(set(listed), key=number_of)
    candidates = {id for id in rests_on("C62") | set(listed) if pages()[id].test}
    false = {id for id in candidates if not survives(pages()[id])}
    assert rests_on("C62") & false <= set(listed) <= false and len(false) > 20
    named = {step["hypothesis"] for step in steps()} - {""}
    assert named == set(HYPOTHESES) and set(needed()) < named
    assert all(step["fails"] and step["reading"] and (step["hypothesis"] or not step["needed"]) for step in steps())


def test_the_reading_of_every_step_is_in_the_ledger_and_survives():
    for step in steps():
        page = pages()[step["reading_of"]]
        readings = {reading.words: reading.given for reading in (*page.repairs, *page.others, *page.steps)}
        assert step["reading"] in readings, step["claim"]
        assert survives(page, **readings[step["reading"]]), step["claim"]
