"""BEF-RLSVI: the noise has the stated law, the scale is Theorem 1's."""

import math

import numpy as np
import pytest

from befrl import agents
from befrl.common.errors import Refused
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from befrl.model.theorem import theorem_x
from helpers import INSTANCES, Idle, assert_optimal, assert_standard_normal, full, trained
from helpers import light as instance
from pairs import cover

CONSTANTS = {"alpha_p": 0.2, "beta_p": 1.7, "alpha_r": 0.05, "beta_r": 0.25, "B_A": 6.0, "B_phi_A": 1.3}


def noise(agent, drawn, plans, idle=True):
    """xi of some plans, (plans, n, d): the parameters that rewards were planned with, less their centre."""
    agent.planner = Idle(agent.planner) if idle else agent.planner
    drawn["mean_reward"].clear()
    for k in range(plans):
        agent.plan(k)
    known = agent.problem.known_theta_r
    return np.stack(drawn["mean_reward"]) - (agent.learner.theta_r if known is None else known)


@pytest.mark.parametrize(("name", "track", "x", "design"), cover(INSTANCES, "UK", [0.04, 50.0], ["gram", "hessian"]))
def test_noise_has_covariance_x_times_the_inverse_design(name, track, x, design, drawn):
    """All seeds have the same data, so that 50 seeds and 200 plans are 10,000 draws of one law."""
    problem = instance(name)
    agent = trained("bef-rlsvi", problem, track, seeds=range(50), same_data=True, x=x, design=design)
    xi = noise(agent, drawn, 200).reshape(-1, problem.model.d)
    precision = agent.learner.hessian_p if design == "hessian" else agent.learner.design()
    assert_standard_normal(xi @ np.linalg.cholesky(full(precision[0])) / np.sqrt(x))


def test_each_seed_and_episode_has_its_own_noise(drawn):
    agent = trained("bef-rlsvi", instance("dense"), seeds=range(4), same_data=True, x=1.0)
    xi = noise(agent, drawn, 3).reshape(12, -1)
    assert all(np.abs(xi[i] - xi[j]).min() > 1e-6 for i in range(12) for j in range(i))


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(("d", "H", "K", "eta", "delta"), [(16, 40, 1000, 1.0, 0.05), (3, 1, 1, 0.1, 1.0)])
def test_theorem_x_is_the_printed_formula(swap, d, H, K, eta, delta):
    alpha_p, alpha_r = (0.05, 0.2) if swap else (0.2, 0.05)
    c = CONSTANTS | {"alpha_p": alpha_p, "alpha_r": alpha_r}
    gamma_p, gamma_r = (d * math.log(1 + beta / eta * 1.3 * H * K) for beta in (1.7, 0.25))
    beta_p, beta_r = (eta / 2 * 6.0**2 + gamma + math.log(1 / delta) for gamma in (gamma_p, gamma_r))
    transitions = H * math.sqrt(1.7 * beta_p / (alpha_p * alpha_r))
    rewards = math.sqrt(0.25 * beta_r * min(1.0, alpha_p / alpha_r)) / (2 * alpha_r)
    assert theorem_x(c, d, H, K, eta, delta, False) == pytest.approx((transitions + rewards) ** 2, rel=1e-12)
    assert theorem_x(c, d, H, K, eta, delta, True) == pytest.approx(transitions**2, rel=1e-12)


@pytest.mark.parametrize("track", ["U", "K"])
def test_the_scale_multiplies_the_theorem(track):
    problem = instance("chain")
    theory = theorem_x(problem.constants, 16, 40, 5, 1.0, 0.05, track == "K")
    settings = [{}, {"scale": "theory"}, {"scale": 1}, {"scale": 0.1}, {"scale": 0}, {"x": 0.3}]
    together = loop.make_agent(RunSpec.of(problem, "test", "bef-rlsvi", settings, 5, [0, 1], track=track))
    assert np.array_equal(together.x, np.repeat([theory, theory, theory, 0.1 * theory, 0.0, 0.3], 2))


def test_noise_by_step_is_independent_and_has_the_same_covariance(drawn):
    """20,000 draws of (xi_1, ..., xi_H) together, d = 4, H = 3: covariance x Gbar^-1 of each, none between them."""
    problem = instance("chain", bins=2, horizon=3)
    agent = trained("bef-rlsvi", problem, seeds=range(200), same_data=True, x=4.0, noise="step")
    xi = noise(agent, drawn, 100, idle=False).reshape(100, 3, 200, 4)
    L = np.linalg.cholesky(full(agent.learner.design()[0]))
    assert_standard_normal((xi.transpose(0, 2, 1, 3) @ L / 2.0).reshape(20000, 12))


VARIANTS = [(name, noise, "range") for name in ("chain", "dense", "waves") for noise in ("episode", "step")]
VARIANTS += [("dense", "step", "none"), *((name, "episode", "none") for name in INSTANCES)]


@pytest.mark.parametrize(("name", "noise", "clip"), VARIANTS)
def test_plans_follow_the_recursion_of_their_variant(name, noise, clip, drawn):
    """Step by step, with loops; the parameters of later steps are drawn first."""
    problem = instance(name, horizon=4)
    agent = trained("bef-rlsvi", problem, seeds=(0,), x=30.0, noise=noise, clip=clip)
    drawn["mean_reward"].clear()
    plan = agent.plan(5)
    thetas = drawn["mean_reward"] if noise == "step" else drawn["mean_reward"] * 4
    assert len(thetas) == 4
    P = problem.model.kernel(agent.learner.theta_p)[0]
    V, Q, cut = np.zeros(problem.model.n_anchors), [], 0
    for to_go, theta in enumerate(thetas[:4], start=1):  # the list grows
        R = problem.model.mean_reward(theta)[0]
        q = np.array([[R[x, a] + P[x, a] @ V for a in range(R.shape[1])] for x in range(len(R))])
        if clip == "range":
            cut += np.sum((q < 0) | (q > to_go))
            q = np.minimum(np.maximum(q, 0), to_go)
        Q.insert(0, q)
        V = q.max(1)
    assert np.allclose(plan.values[0], V, rtol=1e-12, atol=1e-10)
    assert np.allclose(plan.rewards[0], R, rtol=0, atol=1e-14)
    assert_optimal(problem, plan.policy[0], np.array(Q), rtol=1e-12)
    if name == "dense" and clip == "range":
        assert cut > 0


@pytest.mark.parametrize("values", [{"noise": "step"}, {"clip": "range"}])
def test_variants_by_step_need_the_exact_planner(values):
    model = instance("chain").model
    assert agents.specification(model, "bef-rlsvi", agents.parameters("bef-rlsvi", values)) == "exact"
    with pytest.raises(Refused, match="planner = exact"):
        agents.specification(model, "bef-rlsvi", agents.parameters("bef-rlsvi", values | {"planner": "rff"}))
