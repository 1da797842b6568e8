"""The episode loop: exact regret against Monte Carlo and loops, the log, common random numbers."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import interpolate

from befrl.agents.base import BaseAgent, Plan, Trajectory
from befrl.common.errors import InputError
from befrl.experiment import loop, run_file
from befrl.experiment.environment import Environment
from befrl.experiment.loop import changed
from befrl.experiment.regret import TOGETHER, Regret
from befrl.experiment.run_file import COST, LOGGED, TRACED, marks
from befrl.experiment.spec import RunSpec
from befrl.numerics import bellman
from helpers import INSTANCES, ROOT, SMOOTH, continuum, instance, play, spec, trained, value_of


class Fixed(BaseAgent):
    """Plays a table (H, cells) or probabilities (H, cells, A), with uniforms of its own."""

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


def sizes(problem):
    """Cells and actions."""
    return problem.model.n_cells, problem.model.n_actions


def true_laws(problem, t):
    """Mean rewards (n, H) and P(next cell) (n, H, cells) at the states and actions of a trajectory."""
    if not problem.model.smooth:
        return problem.R[t.cells, t.actions], problem.P[t.cells, t.actions]
    there = np.arange(t.actions.size), t.actions.ravel()
    R, P = (part[there] for part in problem.first_step(t.states.reshape(t.actions.size, *t.states.shape[2:])))
    return R.reshape(t.actions.shape), P.reshape(*t.actions.shape, problem.model.n_cells, -1).sum(-1)


def at(problem, values, s):
    """A function on anchors (N,) at one state: of its cell, or the polynomial through the anchors of its cell."""
    space = problem.model.space
    cell = int(space.cell(np.asarray(s)))
    if not problem.model.smooth:
        return values[cell]
    near = slice(cell * space.per_cell, (cell + 1) * space.per_cell)
    if space.dim == 1:
        return float(interpolate.BarycentricInterpolator(space.nodes[near], values[near])(s))
    grid = values[near].reshape(space.order, space.order)
    x, y = (np.unique(space.nodes[near][:, axis]) for axis in range(2))
    rows = [interpolate.BarycentricInterpolator(y, row)(s[1]) for row in grid]
    return float(interpolate.BarycentricInterpolator(x, rows)(s[0]))


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("kind", [pytest.param("optimal", marks=pytest.mark.slow), "table", "random"])
def test_mean_return_is_the_evaluated_value(name, kind, rng):
    problem = instance(name)
    C, A = sizes(problem)
    tables = {
        "optimal": problem.optimal_policy,
        "table": rng.integers(0, A, (problem.horizon, C)),
        "random": rng.dirichlet(np.ones(A), (problem.horizon, C)),
    }
    played = episodes(problem, tables[kind], range(1000), 4 if problem.model.smooth else 20)
    returns = np.concatenate([trajectory.rewards.sum(1) for trajectory in played])
    value = problem.start_masses @ value_of(tables[kind], problem.R, problem.P)
    # 4 standard errors of 4,000 or 20,000 returns: 6e-5 of all roots would fail, each of 30 tests; the root is fixed.
    assert abs(returns.mean() - value) < 4 * returns.std() / np.sqrt(returns.size)
    assert returns.std() / np.sqrt(returns.size) < (0.1 if problem.model.smooth else 0.05)


@pytest.mark.parametrize("name", INSTANCES)
def test_transitions_have_the_true_frequencies_and_rewards_the_true_means(name):
    """Whatever the next state is: rewards are independent of it given (s, a)."""
    problem, (C, A) = instance(name), sizes(instance(name))
    smooth, space = problem.model.smooth, problem.model.space
    counts, expected, variance, sums, squares = np.zeros((5, C, A, C))
    for t in episodes(problem, np.full((problem.horizon, C, A), 1 / A), range(250), 4 if smooth else 20):
        means, P = true_laws(problem, t)
        np.add.at(expected, (t.cells, t.actions), P)
        np.add.at(variance, (t.cells, t.actions), P * (1 - P))
        residual = t.rewards - means
        for table, weight in ((counts, 1), (sums, residual), (squares, residual**2)):
            np.add.at(table, (t.cells, t.actions, space.cell(t.next_states)), weight)
    # 5 standard deviations and 5 of the Poisson law for small cells; fewer than 4,000 triples of an instance, of which
    # those with many visits count alone: 3e-4 for each; fixed root.
    assert np.all(np.abs(counts - expected) <= 5 * np.sqrt(variance) + 5 * (expected > 0))
    often = counts >= (30 if smooth else 200)
    assert often.sum() >= min(C, 20)
    # 5 standard errors in fewer than 300 cells: 2e-4 of all roots would fail; the root is fixed.
    assert np.all(np.abs(sums[often]) < 5 * np.sqrt(squares[often]))


@pytest.mark.parametrize("name", INSTANCES)
def test_episodes_are_paths_with_common_noise(name, rng):
    """Shapes, paths, the same noise for a seed alone, and the same path for two policies while their actions agree."""
    problem = instance(name)
    space, (C, A), H = problem.model.space, sizes(problem), problem.horizon
    vector = () if space.dim == 1 else (space.dim,)
    for t in episodes(problem, rng.dirichlet(np.ones(A), (H, C)), [0, 1, 2], 3):
        assert all(part.shape == (3, H) for part in (t.cells, t.actions, t.rewards))
        assert all(part.shape == (3, H, *vector) for part in (t.states, t.next_states))
        assert np.array_equal(t.cells, space.cell(t.states))
        assert np.array_equal(t.states[:, 1:], t.next_states[:, :-1])
        assert np.all(problem.start_masses.reshape(C, -1).sum(-1)[t.cells[:, 0]] > 0)
        assert set(np.unique(t.actions)) <= set(range(A))
    table = rng.integers(0, A, (H, C))
    for one, other in zip(episodes(problem, table, range(5), 3), episodes(problem, table, [3], 3), strict=True):
        for key in ("states", "cells", "actions", "rewards", "next_states"):
            assert np.array_equal(getattr(one, key)[3], getattr(other, key)[0])
    half, left = H // 2, np.zeros((H, C), dtype=int)
    turned = left.copy()
    turned[half:] = A - 1
    pairs = list(zip(episodes(problem, left, range(5), 4), episodes(problem, turned, range(5), 4), strict=True))
    for one, other in pairs:
        assert np.array_equal(one.states[:, : half + 1], other.states[:, : half + 1])
        assert np.array_equal(one.next_states[:, :half], other.next_states[:, :half])
        assert np.array_equal(one.rewards[:, :half], other.rewards[:, :half])
    differ = any(not np.array_equal(one.next_states, other.next_states) for one, other in pairs)
    # At the second of two steps of these traps all actions are the same.
    assert differ == (name not in ("trap-one", "trap-zero"))


def starting(problem, states):
    """Trajectories of which only the first states matter."""
    nothing = np.zeros((len(states), 1))
    return Trajectory(states[:, None], problem.model.space.cell(states)[:, None], nothing, nothing, states[:, None])


@pytest.mark.parametrize("random", [False, True])
def test_regret_of_any_policies_by_loops(random, rng):
    problem = instance("dense")
    N, A = problem.R.shape
    for count in (1, TOGETHER, TOGETHER + 3):
        regret, expected = Regret(problem, 2, count), np.empty((2, count))
        for k in range(count):
            shape = (2, problem.horizon, N)
            policy = rng.dirichlet(np.ones(A), shape) if random else rng.integers(0, A, shape)
            starts = rng.integers(0, N, 2)
            regret.add(policy, starting(problem, starts))
            for i in range(2):
                gap = problem.optimum[1][0] - value_of(policy[i], problem.R, problem.P)
                expected[i, k] = gap[starts[i]]
        regret.flush()
        assert np.allclose(regret.values, expected, rtol=0, atol=1e-12)


# What the quadrature of V* misses where its kinks lie within cells, at the instance's own first states and anywhere;
# the error of V of a policy, which has its jumps at the cells' edges, is far below.
V_STAR_ERROR = {"circle": (2e-6, 5e-4), "custom-sin": (1e-8, 1e-7), "lds": (1e-9, 1e-9), "waves": (1e-4, 1e-4)}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("random", [False, True])
def test_regret_with_smooth_features_by_an_independent_discretisation(name, random, rng):
    """V*_1(s_1) - V^pi_1(s_1) on five to six times as many nodes, for policies of all kinds and starts anywhere."""
    problem, grid = instance(name), continuum(name)
    space, (C, A) = problem.model.space, sizes(problem)
    n, count = 6, 3
    regret, expected, gaps = Regret(problem, n, count), np.empty((n, count)), []
    for k in range(count):
        shape = (n, problem.horizon, C)
        policy = rng.dirichlet(np.ones(A), shape) if random else rng.integers(0, A, shape)
        starts = rng.uniform(space.low[0], space.high[0], n) if k else np.asarray(problem.start(rng.random(n)))
        regret.add(policy, starting(problem, starts))
        best, later = problem.optimum[1][1], bellman.evaluate(policy[:, None, 1:], problem.R, problem.P)[:, 0]
        optimum = grid.optimal(starts)
        R, P = problem.first_step(starts)
        assert np.abs((R + P @ best).max(1) - optimum).max() < V_STAR_ERROR[name][min(k, 1)]
        for i in range(n):
            value = grid.value(policy[i], starts[i : i + 1])[0]
            weights = np.eye(A)[policy[i, 0]] if not random else policy[i, 0]
            mine = (R[i] + P[i] @ later[i]) @ weights[space.cell(starts[i : i + 1])[0]]
            gaps.append(abs(mine - value))
            expected[i, k] = optimum[i] - value
    regret.flush()
    assert max(gaps) < 1e-7
    own, anywhere = V_STAR_ERROR[name]
    for mine, other, error in zip(regret.values.T, expected.T, (own, anywhere, anywhere), strict=True):
        assert np.abs(mine - other).max() < error + 1e-7
    assert regret.values.min() > -1e-9 and regret.values.max() > 100 * anywhere


@pytest.mark.parametrize("name", SMOOTH)
def test_the_optimal_policy_on_cells_loses_what_is_stated(name):
    """`cell_loss` is V* less the value of the best that a policy on cells was found to be, on average over starts."""
    problem, grid = instance(name), continuum(name)
    starts = np.asarray(problem.start((np.arange(200) + 0.5) / 200))
    loss = (grid.optimal(starts) - grid.value(problem.optimal_policy, starts)).mean()
    assert problem.cell_loss == pytest.approx(loss, abs=V_STAR_ERROR[name][0])
    if name != "waves":  # three cells for five steps are its own fault
        assert problem.cell_loss < 1e-3 * (problem.optimal_value - problem.uniform_value)


@pytest.mark.parametrize("name", INSTANCES)
def test_the_log_of_a_learner_by_hand(name, monkeypatch):
    """All that is logged, from an agent with the same history; errors and feature norms at the marks alone."""
    monkeypatch.setattr(run_file, "POINTS", 3)
    problem, traced = instance(name), [1, 2, 4, 6]
    log = play("greedy", problem, seeds=(0, 1), episodes=6)
    assert all(log[key].shape == (2, 4) for key in TRACED)
    agent = loop.make_agent(spec("greedy", problem, episodes=6))
    environment, before = Environment(problem, ROOT, "test", [0, 1]), None
    for k in range(6):
        plan, design = agent.plan(k), agent.learner.design()
        errors = agent.learner.errors(problem.theta_p, problem.theta_r, design)
        norms, t = agent.learner.feature_norms(design), environment.rollout(agent, plan.policy)
        for i in range(2):
            gap = problem.optimum[1][0] - value_of(plan.policy[i], problem.R, problem.P)
            # Between anchors: V of the policy is smooth within cells, V* has its kinks there.
            missed = 1e-12 if not problem.model.smooth else 0.01
            assert log["regret"][i, k] == pytest.approx(at(problem, gap, t.states[i, 0]), abs=missed)
            ahead = at(problem, plan.values[i] - problem.optimum[1][0], t.states[i, 0])
            assert log["optimism"][i, k] == pytest.approx(ahead, abs=1e-11)
            share = np.mean(np.minimum(plan.rewards[i], 1 - plan.rewards[i]) < 0.01)
            expected = share if problem.model.reward.bounded else np.nan
            assert log["saturated"][i, k] == pytest.approx(expected, abs=1e-12, nan_ok=True)
            assert log["tied"][i, k] == agent.problem.ties.share[i]
            moved = [k > 0 and plan.policy[i, h, c] != before[i, h, c] for h, c in enumerate(t.cells[i])]
            assert log["changed"][i, k] == any(moved)
            if k + 1 in traced:
                visited = zip(t.states[i], t.actions[i], strict=True)
                largest = max(at(problem, norms[i, :, a], s) for s, a in visited)
                expected = (errors[0][i], errors[1][i], np.sqrt(largest))
                assert [log[key][i, traced.index(k + 1)] for key in TRACED] == pytest.approx(expected, rel=1e-11)
        before = plan.policy
        agent.update(t)
    assert np.all(log["tied"][:, 0] == 1)  # before any data all mean rewards are equal


def test_marks_are_all_episodes_or_a_grid_that_is_fine_at_both_scales():
    """From the first to the last; gaps are at most 1 % of K and, but for rounding, of the ratio K^(1/99)."""
    for K in (1, 2, 7, 100, 101, 500, 20_000):
        found = marks(K)
        assert (found[0], found[-1]) == (1, K) and len(found) <= 200
        assert np.all(np.diff(found) > 0)
        assert K > 100 or np.array_equal(found, np.arange(1, K + 1))
        assert np.all(np.diff(found) <= (K - 1) / 99 + 1)
        assert np.all(found[1:] <= found[:-1] * K ** (1 / 99) + 2)


def test_saturated_rewards_are_those_within_one_per_cent_of_an_end(monkeypatch):
    """With Bernoulli rewards of mean 1/(1 + e^-c) these are the (s,a) with |c| > log 99."""
    problem = instance("chain", bins=3, horizon=4)
    run_spec = spec("greedy", problem, seeds=[0], episodes=1)
    agent, c = loop.make_agent(run_spec), np.zeros(problem.R.shape)
    plan, c.flat[:4] = agent.plan(0), np.log(99.0) * np.array([0.999, -0.999, 1.001, -1.001])
    monkeypatch.setattr(agent, "plan", lambda k: replace(plan, rewards=problem.model.reward.mean(c)[None]))
    monkeypatch.setattr(loop, "make_agent", lambda spec: agent)
    assert loop.run(run_spec)["saturated"] == pytest.approx(2 / c.size)


def test_changes_by_hand():
    """Only visited (step, cell) count: two rows, two steps, three cells."""

    def visits(*cells):
        return Trajectory(None, np.array(cells), None, None, None)

    policy = np.array([[[0, 1, 0], [1, 1, 0]], [[0, 1, 0], [1, 1, 0]]], dtype=np.int8)
    other, chances = policy.copy(), np.full((2, 2, 3, 2), 0.5)
    other[:, 1, 2] = 1  # step 1 in cell 2
    tilted = chances.copy()
    tilted[1, 0, 1] = 0.4, 0.6
    for new, old, cells, expected in (
        (policy, None, visits([0, 1], [0, 1]), [False, False]),
        (policy, policy, visits([0, 1], [0, 1]), [False, False]),
        (policy.copy(), policy, visits([0, 1], [0, 1]), [False, False]),
        (other, policy, visits([2, 1], [0, 2]), [False, True]),
        (policy, other, visits([0, 2], [0, 1]), [True, False]),
        # Probabilities are not compared with actions, and with probabilities action by action.
        (chances, policy, visits([2, 2], [2, 2]), [False, False]),
        (tilted, chances, visits([1, 0], [1, 0]), [False, True]),
        (chances, tilted, visits([1, 0], [0, 1]), [False, False]),
    ):
        assert list(changed(new, old, cells)) == expected


def test_errors_before_any_data_are_the_norm_of_the_truth():
    problem = instance("chain")
    log, c = play("greedy", problem, episodes=1), problem.constants
    for key, theta in (("error_p", problem.theta_p), ("error_r", problem.theta_r)):
        assert log[key][:, 0] == pytest.approx(np.linalg.norm(theta) / np.sqrt(c["alpha_p"]), rel=1e-12)
    assert log["feature_norm"][:, 0] == pytest.approx(np.sqrt(c["alpha_p"]), rel=1e-12)


def test_the_log_is_complete_and_steps_are_reported():
    seen = []
    log = loop.run(spec("random", instance("dense"), seeds=[3, 9]), seen.append)
    assert seen == [2 * 6] * 5
    assert set(log) == set(LOGGED) | set(TRACED) | set(COST)
    assert all(log[key].shape == (2, 5) for key in (*LOGGED, *TRACED))
    assert all(log[key].shape == (5,) for key in COST)


def test_unknown_choices_are_rejected():
    for key, value, known in (("track", "X", "U, K"), ("ties", "last", "random, first")):
        with pytest.raises(InputError, match=f"unknown {key} '{value}': choose one of {known}"):
            RunSpec.of(instance("dense"), "test", "greedy", {}, 5, [0], **{key: value})


def test_ties_are_broken_as_the_run_says():
    """Before any data all actions tie: with `first` the plan is action 0, at random it is half of either."""
    choices = "first", "random"
    specs = (RunSpec.of(instance("chain"), "test", "greedy", {}, 5, range(20), ties=ties) for ties in choices)
    first, random = (loop.make_agent(each).plan(0).policy for each in specs)
    # 6400 fair coins: 5 standard errors.
    assert np.all(first == 0) and abs(random.mean() - 0.5) < 2.5 / np.sqrt(random.size)


def test_the_track_decides_what_an_agent_is_given():
    problem = instance("dense")
    assert np.all(play("greedy", problem, track="K")["error_r"] == 0)
    unknown, known = (trained("greedy", problem, track).problem for track in ("U", "K"))
    assert unknown.known_theta_r is None and np.array_equal(known.known_theta_r, problem.theta_r)
    assert unknown.optimal_policy is None and unknown.optimal_values is None
