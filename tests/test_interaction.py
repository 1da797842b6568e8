"""The episode loop: exact regret against Monte Carlo and loops, the log, common random numbers."""

import numpy as np
import pytest

from befrl import agents, interaction
from befrl.agents.base import BaseAgent, Plan
from befrl.errors import InputError
from befrl.interaction import LOGGED, SECONDS, TOGETHER, Environment, Regret
from helpers import INSTANCES, ROOT, instance, play, trained, value_of


class Fixed(BaseAgent):
    """Plays a table (H, N) or probabilities (H, N, A), with uniforms of its own."""

    def __init__(self, table, n):
        self.table, self.n, self.uniforms = table, n, np.random.default_rng(11)

    def plan(self, k):
        return Plan(np.stack([self.table] * self.n), np.full((self.n, self.table.shape[1]), np.nan))

    def act(self, h, cells, policy):
        if self.table.ndim == 2:
            return self.table[h, cells]
        return (self.uniforms.random(self.n)[:, None] >= np.cumsum(self.table[h, cells], -1)[:, :-1]).sum(-1)


def episodes(problem, table, seeds, count):
    environment, agent = Environment(problem, ROOT, "test", seeds), Fixed(table, len(seeds))
    return [environment.rollout(agent, None) for _ in range(count)]


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("kind", ["optimal", "table", "random"])
def test_mean_return_is_the_evaluated_value(name, kind, rng):
    problem = instance(name)
    N, A = problem.R.shape
    tables = {
        "optimal": problem.optimal_policy,
        "table": rng.integers(0, A, (problem.horizon, N)),
        "random": rng.dirichlet(np.ones(A), (problem.horizon, N)),
    }
    table = tables[kind]
    played = episodes(problem, table, range(250), 80)
    returns = np.concatenate([trajectory.rewards.sum(1) for _, trajectory in played])
    value = problem.start_masses @ value_of(table, problem.R, problem.P)
    # 4 standard errors of 20,000 returns: 6e-5 of all roots would fail, each of nine tests; the root is fixed.
    assert abs(returns.mean() - value) < 4 * returns.std() / np.sqrt(returns.size)
    assert returns.std() / np.sqrt(returns.size) < 0.05


@pytest.mark.parametrize("name", INSTANCES)
def test_transitions_have_the_frequencies_of_the_kernel(name, rng):
    problem = instance(name)
    N, A = problem.R.shape
    table = np.full((problem.horizon, N, A), 1 / A)
    counts = np.zeros((N, A, N))
    for _, t in episodes(problem, table, range(250), 20):
        np.add.at(counts, (t.cells, t.actions, problem.model.space.cell(t.next_states)), 1)
    visits = counts.sum(-1, keepdims=True)
    error = np.abs(counts - visits * problem.P)
    # 5 standard deviations and 5 of the Poisson law for small cells; fewer than 300 cells: 3e-4; fixed root.
    assert np.all(error <= 5 * np.sqrt(visits * problem.P * (1 - problem.P)) + 5 * (problem.P > 0))


@pytest.mark.parametrize("name", INSTANCES)
def test_rewards_have_their_means_whatever_the_next_state(name):
    problem = instance(name)
    N, A = problem.R.shape
    counts, sums, squares = np.zeros((3, N, A, N))
    for _, t in episodes(problem, np.full((problem.horizon, N, A), 1 / A), range(250), 20):
        at = t.cells, t.actions, problem.model.space.cell(t.next_states)
        residual = t.rewards - problem.R[at[:2]]
        for table, weight in ((counts, 1), (sums, residual), (squares, residual**2)):
            np.add.at(table, at, weight)
    often = counts >= 200
    assert often.sum() >= N
    # 5 standard errors in fewer than 300 cells: 2e-4 of all roots would fail; the root is fixed.
    assert np.all(np.abs(sums[often]) < 5 * np.sqrt(squares[often]))


@pytest.mark.parametrize("name", INSTANCES)
def test_an_episode_is_a_path_of_its_horizon(name, rng):
    problem = instance(name)
    N, A = problem.R.shape
    for first, t in episodes(problem, rng.dirichlet(np.ones(A), (problem.horizon, N)), [0, 1, 2], 3):
        for part in (t.cells, t.actions, t.rewards, t.next_states):
            assert part.shape == (3, problem.horizon)
        assert np.array_equal(t.cells[:, 0], first)
        assert np.array_equal(t.cells[:, 1:], problem.model.space.cell(t.next_states)[:, :-1])
        assert set(np.unique(t.actions)) <= set(range(A))


@pytest.mark.parametrize("name", INSTANCES)
def test_equal_actions_meet_equal_noise(name):
    problem = instance(name)
    half = problem.horizon // 2
    left = np.zeros(problem.optimal_policy.shape, dtype=int)
    turned = left.copy()
    turned[half:] = problem.model.n_actions - 1
    pairs = list(zip(episodes(problem, left, range(5), 4), episodes(problem, turned, range(5), 4), strict=True))
    for (first, one), (other_first, other) in pairs:
        assert np.array_equal(first, other_first)
        assert np.array_equal(one.next_states[:, :half], other.next_states[:, :half])
        assert np.array_equal(one.rewards[:, :half], other.rewards[:, :half])
    assert any(not np.array_equal(one.next_states, other.next_states) for (_, one), (_, other) in pairs)


@pytest.mark.parametrize("name", INSTANCES)
def test_a_seed_meets_the_same_noise_alone(name):
    problem = instance(name)
    N, A = problem.R.shape
    table = np.random.default_rng(2).integers(0, A, (problem.horizon, N))
    block, alone = episodes(problem, table, range(5), 3), episodes(problem, table, [3], 3)
    for (_, one), (_, other) in zip(block, alone, strict=True):
        for key in ("cells", "actions", "rewards", "next_states"):
            assert np.array_equal(getattr(one, key)[3], getattr(other, key)[0])


@pytest.mark.parametrize("count", [1, TOGETHER, TOGETHER + 3])
@pytest.mark.parametrize("random", [False, True])
def test_regret_of_any_policies_by_loops(count, random, rng):
    problem = instance("dense")
    N, A = problem.R.shape
    regret = Regret(problem, 2, count)
    expected = np.empty((2, count))
    for k in range(count):
        shape = (2, problem.horizon, N)
        policy = rng.dirichlet(np.ones(A), shape) if random else rng.integers(0, A, shape)
        starts = rng.integers(0, N, 2)
        regret.add(policy, starts)
        for i in range(2):
            gap = problem.optimum[1][0] - value_of(policy[i], problem.R, problem.P)
            expected[i, k] = gap[starts[i]]
    regret.flush()
    assert np.allclose(regret.values, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", INSTANCES)
def test_the_log_of_a_learner_by_hand(name):
    """Optimism, errors, feature norms and saturation of the last episode, from an agent with the same history."""
    problem = instance(name)
    log = play("greedy", problem, seeds=(0, 1), episodes=6)
    agent = interaction.make_agent(problem, "greedy", agents.parameters("greedy", {}), "U", 6, ROOT, "test", [0, 1])
    environment = Environment(problem, ROOT, "test", [0, 1])
    for k in range(6):
        plan, design = agent.plan(k), agent.learner.design()
        errors = agent.learner.errors(problem.theta_p, problem.theta_r, design)
        norms = agent.learner.feature_norms(design)
        first, t = environment.rollout(agent, plan.policy)
        for i in range(2):
            value = value_of(plan.policy[i], problem.R, problem.P)[first[i]]
            best = problem.optimum[1][0, first[i]]
            assert log["regret"][i, k] == pytest.approx(best - value, abs=1e-12)
            assert log["optimism"][i, k] == pytest.approx(plan.values[i, first[i]] - best, abs=1e-12)
            largest = max(norms[i, x, a] for x, a in zip(t.cells[i], t.actions[i], strict=True))
            assert log["feature_norm"][i, k] == pytest.approx(np.sqrt(largest), rel=1e-12)
            share = np.mean((plan.rewards[i] < 0.01) | (plan.rewards[i] > 0.99))
            expected = share if problem.model.reward.bounded else np.nan
            assert log["saturated"][i, k] == pytest.approx(expected, abs=1e-12, nan_ok=True)
            assert log["error_p"][i, k] == pytest.approx(errors[0][i], rel=1e-12)
            assert log["error_r"][i, k] == pytest.approx(errors[1][i], rel=1e-12)
        agent.update(t)


def test_errors_before_any_data_are_the_norm_of_the_truth():
    problem = instance("chain")
    log = play("greedy", problem, episodes=1)
    c = problem.constants
    for key, theta in (("error_p", problem.theta_p), ("error_r", problem.theta_r)):
        assert log[key][:, 0] == pytest.approx(np.linalg.norm(theta) / np.sqrt(c["alpha_p"]), rel=1e-12)
    assert log["feature_norm"][:, 0] == pytest.approx(np.sqrt(c["alpha_p"]), rel=1e-12)


@pytest.mark.parametrize("name", INSTANCES)
def test_a_known_reward_has_no_error(name):
    assert np.all(play("greedy", instance(name), track="K")["error_r"] == 0)
    assert np.all(play("greedy", instance(name), track="U")["error_r"][:, 0] > 0)


def test_the_log_is_complete_and_steps_are_told():
    seen = []
    log = interaction.run(
        instance("dense"), "random", agents.parameters("random", {}), "U", 5, [3, 9], ROOT, "test", seen.append
    )
    assert seen == [2 * 6] * 5
    assert set(log) == set(LOGGED) | set(SECONDS)
    assert all(log[key].shape == (2, 5) for key in LOGGED)
    assert all(log[key].shape == (5,) for key in SECONDS)


def test_an_unknown_track_is_refused():
    with pytest.raises(InputError, match="unknown track 'X': choose one of U, K"):
        play("greedy", instance("dense"), track="X")


def test_the_track_decides_what_an_agent_is_told():
    problem = instance("dense")
    assert trained("greedy", problem, "U").problem.known_theta_r is None
    assert np.array_equal(trained("greedy", problem, "K").problem.known_theta_r, problem.theta_r)
    assert trained("greedy", problem).problem.optimal_policy is None
    assert trained("greedy", problem).problem.optimal_values is None
