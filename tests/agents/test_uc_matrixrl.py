"""UC-MatrixRL: a direct transcription with matrices, its bonus, and optimism."""

import math

import numpy as np
import pytest

from helpers import INSTANCES, play, random_episodes, samples, trained
from helpers import light as instance
from transcription import played

SMALL = [("riverswim", {"states": 3, "horizon": 5}), ("chain", {"bins": 3, "horizon": 4}), ("jao", {"horizon": 4})]


@pytest.mark.parametrize(("name", "values"), SMALL)
@pytest.mark.parametrize(("ball", "scale"), [("2-1", 0.01), ("frobenius", 0.02), ("2-1", "theory")])
def test_plan_is_the_transcription(name, values, ball, scale):
    problem = instance(name, **values)
    space, H, (S, A), episodes = problem.model.space, problem.horizon, problem.R.shape, 6
    plan = trained("uc-matrixrl", problem, "K", episodes=episodes, ball=ball, scale=scale).plan(episodes)
    data = random_episodes(problem, (0, 1), episodes)
    c, d = 1.0 if scale == "theory" else scale, S * A
    for i in range(2):
        states, actions, _, following = samples(data, i)
        phi, psi = np.eye(d), np.eye(S)
        A_n, total = np.eye(d), np.zeros((d, S))
        for s, a, s_next in zip(space.cell(states), actions, space.cell(following), strict=True):
            A_n += np.outer(phi[s * A + a], phi[s * A + a])
            total += np.outer(phi[s * A + a], psi[s_next])
        M_n = np.linalg.inv(A_n) @ total @ np.linalg.inv(psi.T @ psi)
        beta = (1 + 1) * math.log(episodes * H) * d
        width = 2 * H * math.sqrt(d * beta) if ball == "2-1" else 2 * math.sqrt(S) * H * math.sqrt(beta)
        V = np.zeros(S)
        for h in reversed(range(H)):
            Q = np.empty((S, A))
            for (s, a), x in zip(np.ndindex(S, A), phi, strict=True):
                bonus = c * width * math.sqrt(x @ np.linalg.solve(A_n, x))
                Q[s, a] = problem.R[s, a] + x @ M_n @ psi.T @ V + bonus
            V = np.clip(Q.max(1), 0, H)
            assert np.allclose(Q[np.arange(S), plan.policy[i, h]], Q.max(1), rtol=0, atol=1e-9)
        assert np.allclose(plan.values[i], V, rtol=0, atol=1e-10)


@pytest.mark.parametrize("radius", ["self-normalised", "frozen"])
def test_plans_of_ayoub_et_al_by_loops(radius):
    """Their text backs up the values of the same plan; their code those of the last one, with a constant radius."""
    problem = instance("riverswim", states=3, horizon=5)
    H, (S, A), delta = problem.horizon, problem.R.shape, 0.01
    _, plans, history = played("uc-matrixrl", problem, "K", radius=radius, delta=delta, scale=0.02)
    for i in range(2):
        visits, last = np.zeros((S, A, S)), np.zeros((H + 1, S))
        for plan, episode in zip(plans, history, strict=True):
            V, number = np.zeros((H + 1, S)), visits.sum(-1) + 1
            log_det = 0.0 if radius == "frozen" else np.linalg.slogdet(np.diag(number.ravel()))[1]
            for h in reversed(range(H)):
                ahead = (last if radius == "frozen" else V)[h + 1]
                beta = math.sqrt(S * A) + (H - h) / 2 * math.sqrt(2 * math.log(1 / delta) + log_det)
                Q = np.clip(problem.R + visits @ ahead / number + 0.02 * 2 * H * beta / np.sqrt(number), 0, H)
                V[h] = Q.max(1)
                assert np.allclose(Q[np.arange(S), plan.policy[i, h]], V[h], rtol=0, atol=1e-10)
            assert np.allclose(plan.values[i], V[0], rtol=0, atol=1e-10)
            last = V
            np.add.at(visits, (episode.cells[i], episode.actions[i], episode.next_states[i]), 1)


@pytest.mark.parametrize(("name", "values"), SMALL)
def test_theory_is_optimistic(name, values):
    for ball in ("2-1", "frobenius"):
        optimism = play("uc-matrixrl", instance(name, **values), "K", range(20), 30, ball=ball)["optimism"]
        assert np.all(optimism >= -1e-9)


@pytest.mark.parametrize("name", INSTANCES)
def test_values_stay_in_their_range_and_unknown_rewards_are_optimistic(name):
    """The rewards are those of EXP-UCRL, which are tested by brute force."""
    problem = instance(name)
    for scale in (0, 1e6):
        values = trained("uc-matrixrl", problem, scale=scale).plan(5).values
        assert np.all((values >= 0) & (values <= problem.horizon))
    assert np.array_equal(values, np.full_like(values, problem.horizon))
    for reward_scale in (None, 0.4):
        agent = trained("uc-matrixrl", problem, scale=0.02, reward_scale=reward_scale, delta=0.1)
        other = trained("exp-ucrl", problem, scale=reward_scale or 0.02, delta=0.1)
        assert np.allclose(agent.rewards.means(), other.optimistic_rewards(), rtol=0, atol=1e-8)
    known = trained("uc-matrixrl", problem, "K").plan(5).rewards
    assert np.array_equal(known, np.broadcast_to(problem.R, known.shape))
