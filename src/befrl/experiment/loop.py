"""The episode loop: seeds in lock step, exact regret, one record per seed and episode.

It owns the regret and knows no algorithm by name. Regret is V*_1(s_1) - V^pi_1(s_1) under the true model, by exact
policy evaluation of every episode's policy; policies are evaluated `TOGETHER` episodes at a time. Where features vary
within cells the first step is taken at s_1 itself, not at an anchor.
"""

import time

import numpy as np

from befrl import agents
from befrl.agents.base import Problem, Trajectory
from befrl.common.errors import unknown
from befrl.common.streams import AGENT_NORMAL, AGENT_UNIFORM, ENVIRONMENT, Stream
from befrl.experiment.run_file import LOGGED, SECONDS
from befrl.numerics import bellman

TRACKS = ("U", "K")
TOGETHER = 32
# A mean reward this close to the ends of [0, 1] counts as saturated.
SATURATION = 0.01


class Environment:
    """n copies of an instance, each with its own stream of uniforms.

    An episode takes one of them for the start, then those of all next states (one per step and dimension), then those
    of all rewards.
    """

    def __init__(self, instance, root_seed, name, seeds):
        self.instance = instance
        self.stream = Stream(root_seed, name, seeds, ENVIRONMENT)
        self.laws = SmoothLaws(instance) if instance.model.smooth else CellLaws(instance)

    def uniforms(self):
        """Those of one episode: start (n,), next states (H, n) or (H, n, dim), rewards (n, H)."""
        H, dim = self.instance.horizon, self.instance.model.space.dim
        u = self.stream.take(1 + (dim + 1) * H)
        u_next = u[:, 1 : 1 + dim * H].reshape(len(u), H, dim).swapaxes(0, 1)
        return u[:, 0], np.ascontiguousarray(u_next[..., 0] if dim == 1 else u_next), u[:, 1 + dim * H :]

    def rollout(self, agent, policy):
        """One episode of every seed."""
        instance, space = self.instance, self.instance.model.space
        H = instance.horizon
        u_start, u_next, u_reward = self.uniforms()
        s = instance.start(u_start)
        states = np.empty((H + 1, *s.shape), dtype=s.dtype)
        states[0] = s
        cells, actions = np.empty((2, H, len(s)), dtype=np.int64)
        for h in range(H):
            cells[h] = cell = space.cell(s)
            actions[h] = a = agent.act(h, cell, policy)
            states[h + 1] = s = self.laws.next_state(s, cell, a, u_next[h])
        states, cells, actions = states.swapaxes(0, 1), cells.T, actions.T
        # Rewards do not steer the episode, so they are drawn for all its steps at once.
        rewards = self.laws.reward(states[:, :-1], cells, actions, u_reward)
        return Trajectory(states[:, :-1], cells, actions, rewards, states[:, 1:])


class CellLaws:
    """The true laws where features are constant on cells: tables."""

    def __init__(self, instance):
        model = instance.model
        self._draw = model.family.sampler(model.features.natural(instance.theta_p[None])[0])
        self._reward = model.reward
        self._c = model.reward_natural(instance.theta_r[None])[0]

    def next_state(self, s, cell, action, u):
        return self._draw(cell, action, u)

    def reward(self, s, cell, action, u):
        return self._reward.quantile(self._c[cell, action], u)


class SmoothLaws:
    """The true laws where features vary within cells: phi at the state itself."""

    def __init__(self, instance):
        self.model = instance.model
        features = instance.model.features
        self._M_p = features.matrix(instance.theta_p)
        self._reward_row = instance.model.B @ features.matrix(instance.theta_r)

    def _phi(self, s, action):
        """(..., q) for states (...,), or (..., dim), and actions (...,)."""
        flat = np.asarray(s).reshape(action.size, -1) if self.model.space.dim > 1 else np.ravel(s)
        phi = self.model.phi(flat)[np.arange(action.size), action.ravel()]
        return phi.reshape(*action.shape, -1)

    def next_state(self, s, cell, action, u):
        eta = (self._phi(s, action)[:, None, :] * self._M_p).sum(-1)
        return self.model.family.quantile(eta, u)

    def reward(self, s, cell, action, u):
        return self.model.reward.quantile((self._phi(s, action) * self._reward_row).sum(-1), u)


class Regret:
    """Collects policies and first states, and evaluates them together."""

    def __init__(self, instance, n, episodes):
        self.instance = instance
        self.values = np.empty((n, episodes))
        self._rows = np.arange(n)[:, None]
        self._waiting, self._first = [], 0

    def add(self, policy, trajectory):
        # Tables of actions and of probabilities are evaluated apart.
        if self._waiting and self._waiting[0][0].ndim != policy.ndim:
            self.flush()
        self._waiting.append((policy, trajectory.states[:, 0], trajectory.cells[:, 0]))
        if len(self._waiting) == TOGETHER:
            self.flush()

    def flush(self):
        if not self._waiting:
            return
        policies, starts, cells = (np.stack(part, axis=1) for part in zip(*self._waiting, strict=True))
        last = self._first + policies.shape[1]
        lost = self._smooth if self.instance.model.smooth else self._constant
        self.values[:, self._first : last] = lost(policies, starts, cells)
        self._waiting, self._first = [], last

    def _constant(self, policies, starts, cells):
        V = bellman.evaluate(policies, self.instance.R, self.instance.P)
        reached = V[self._rows, np.arange(policies.shape[1]), cells]
        return self.instance.optimum[1][0][cells] - reached

    def _smooth(self, policies, starts, cells):
        """With the first step at s_1: Q_1(s_1, a) = r(s_1, a) + sum over anchors of p(x | s_1, a) V_2(x)."""
        instance, A = self.instance, self.instance.model.n_actions
        n, C = cells.shape
        later = bellman.evaluate(policies[:, :, 1:], instance.R, instance.P)
        R, P = instance.first_step(starts.reshape(n * C, *starts.shape[2:]))
        R, P = R.reshape(n, C, A), P.reshape(n, C, A, -1)
        best = (R + P @ instance.optimum[1][1]).max(-1)
        Q = R + (P @ later[..., None])[..., 0]
        policy = policies[self._rows, np.arange(C), 0, cells]
        weights = policy if policies.ndim == 5 else np.eye(A)[policy]
        return best - (Q * weights).sum(-1)


class Lookup:
    """Functions on anchors, read at the states of a trajectory: by cell, or interpolated within it."""

    def __init__(self, space):
        self.space = space

    def first(self, values, trajectory):
        """(n, N) -> (n,) at the first states."""
        space, rows, cells = self.space, np.arange(len(values)), trajectory.cells[:, 0]
        if space.per_cell == 1:
            return values[rows, cells]
        near = values.reshape(len(values), space.n_cells, -1)[rows, cells]
        return (near * space.interpolation(trajectory.states[:, 0])).sum(-1)

    def visits(self, values, trajectory):
        """(n, N, A) -> (n, H) at the visited states and actions."""
        space, rows = self.space, np.arange(len(values))[:, None]
        if space.per_cell == 1:
            return values[rows, trajectory.cells, trajectory.actions]
        near = values.reshape(len(values), space.n_cells, space.per_cell, -1)
        near = near[rows, trajectory.cells, :, trajectory.actions]
        return (near * space.interpolation(trajectory.states)).sum(-1)


def make_agent(instance, algorithm, parameters, track, episodes, root_seed, name, seeds):
    """An agent for these seeds, told what its track allows."""
    if track not in TRACKS:
        raise unknown("track", track, TRACKS)
    cls = agents.catalogue.module(algorithm).Agent
    cls.specification(instance.model, parameters)

    def stream(purpose):
        return Stream(root_seed, name, seeds, purpose)

    problem = Problem(
        model=instance.model,
        horizon=instance.horizon,
        episodes=episodes,
        n=len(seeds),
        constants=instance.constants,
        known_theta_r=instance.theta_r if track == "K" else None,
        normals=stream(AGENT_NORMAL),
        uniforms=stream(AGENT_UNIFORM),
        stream=stream,
        optimal_policy=instance.optimal_policy if cls.needs_truth else None,
        optimal_values=instance.optimum[1][0] if cls.needs_truth else None,
    )
    return cls(problem, parameters)


def run(instance, algorithm, parameters, track, episodes, seeds, root_seed, name, tick=None):
    """Play `episodes` episodes of every seed; returns a dictionary of (n, K) and, for the cost, (K,) arrays.

    `name` is the instance's name in the study: it keys the random streams. `tick(steps)` is called
    after every episode with the number of steps that were taken.
    """
    n = len(seeds)
    environment = Environment(instance, root_seed, name, seeds)
    agent = make_agent(instance, algorithm, parameters, track, episodes, root_seed, name, seeds)
    regret = Regret(instance, n, episodes)
    log = {key: np.full((n, episodes), np.nan) for key in LOGGED if key != "regret"}
    seconds, plans = {key: np.zeros(episodes) for key in SECONDS}, np.zeros(episodes)
    best = instance.optimum[1][0]
    at = Lookup(instance.model.space)
    for k in range(episodes):
        # Processor time: what else the machine does is not the agent's cost.
        start = time.process_time()
        plan = agent.plan(k)
        planned = time.process_time()
        trajectory = environment.rollout(agent, plan.policy)
        acted = time.process_time()
        regret.add(plan.policy, trajectory)
        log["optimism"][:, k] = at.first(plan.values - best, trajectory)
        if plan.rewards is not None and instance.model.reward.bounded:
            log["saturated"][:, k] = (np.abs(plan.rewards - 0.5) > 0.5 - SATURATION).mean((1, 2))
        if agent.learner is not None:
            design = agent.learner.design()
            errors = agent.learner.errors(instance.theta_p, instance.theta_r, design)
            log["error_p"][:, k], log["error_r"][:, k] = errors
            norms = at.visits(agent.learner.feature_norms(design), trajectory)
            log["feature_norm"][:, k] = np.sqrt(norms.max(1))
        logged = time.process_time()
        agent.update(trajectory)
        seconds["estimating"][k] = time.process_time() - logged
        seconds["planning"][k] = planned - start
        seconds["acting"][k] = acted - planned
        plans[k] = plan.plans
        if tick is not None:
            tick(n * instance.horizon)
    regret.flush()
    return {"regret": regret.values, **log, **{key: value / n for key, value in seconds.items()}, "plans": plans}
