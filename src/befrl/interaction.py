"""The episode loop: seeds in lock step, exact regret, one record per seed and episode.

It owns the regret and knows no algorithm by name. Regret is V*_1(s_1) - V^pi_1(s_1) under the true model, by exact
policy evaluation of every episode's policy; policies are evaluated `TOGETHER` episodes at a time.
"""

import time

import numpy as np

from befrl import agents, planning
from befrl.agents.base import Problem, Trajectory
from befrl.errors import unknown
from befrl.runfile import LOGGED, SECONDS
from befrl.streams import AGENT_NORMAL, AGENT_UNIFORM, ENVIRONMENT, Stream

TRACKS = ("U", "K")
TOGETHER = 32
# A mean reward this close to the ends of [0, 1] counts as saturated.
SATURATION = 0.01


class Environment:
    """n copies of an instance, each with its own stream of uniforms: one for the start, two per step."""

    def __init__(self, instance, root_seed, name, seeds):
        self.instance = instance
        self.stream = Stream(root_seed, name, seeds, ENVIRONMENT)
        features = instance.model.features
        self.draw_next = instance.model.family.sampler(features.natural(instance.theta_p[None])[0])
        self.reward_natural = instance.model.reward_natural(instance.theta_r[None])[0]

    def rollout(self, agent, policy):
        """One episode: first cells (n,) and the trajectory."""
        instance, space = self.instance, self.instance.model.space
        H = instance.horizon
        u = self.stream.take(1 + 2 * H)
        s = instance.start(u[:, 0])
        n = len(s)
        u_next = np.ascontiguousarray(u[:, 1 : H + 1].T)
        cells, actions = np.empty((2, H, n), dtype=np.int64)
        states = np.empty((H, n), dtype=s.dtype)
        for h in range(H):
            cells[h] = cell = space.cell(s)
            actions[h] = a = agent.act(h, cell, policy)
            states[h] = s = self.draw_next(cell, a, u_next[h])
        # Rewards do not steer the episode, so they are drawn for all its steps at once.
        rewards = instance.model.reward.quantile(self.reward_natural[cells, actions], u[:, H + 1 :].T)
        return cells[0], Trajectory(cells.T, actions.T, rewards.T, states.T)


class Regret:
    """Collects policies and evaluates them together."""

    def __init__(self, instance, n, episodes):
        self.instance = instance
        self.values = np.empty((n, episodes))
        self._rows = np.arange(n)[:, None]
        self._waiting, self._first = [], 0

    def add(self, policy, start_cells):
        self._waiting.append((policy, start_cells))
        if len(self._waiting) == TOGETHER:
            self.flush()

    def flush(self):
        if not self._waiting:
            return
        policies, starts = zip(*self._waiting, strict=True)
        V = planning.evaluate(np.stack(policies, axis=1), self.instance.R, self.instance.P)
        starts = np.stack(starts, axis=1)
        last = self._first + len(policies)
        reached = V[self._rows, np.arange(len(policies)), starts]
        self.values[:, self._first : last] = self.instance.optimum[1][0][starts] - reached
        self._waiting, self._first = [], last


def make_agent(instance, algorithm, parameters, track, episodes, root_seed, name, seeds):
    """An agent for these seeds, told what its track allows."""
    if track not in TRACKS:
        raise unknown("track", track, TRACKS)
    cls = agents.catalogue.module(algorithm).Agent
    problem = Problem(
        model=instance.model,
        horizon=instance.horizon,
        episodes=episodes,
        n=len(seeds),
        constants=instance.constants,
        known_theta_r=instance.theta_r if track == "K" else None,
        normals=Stream(root_seed, name, seeds, AGENT_NORMAL),
        uniforms=Stream(root_seed, name, seeds, AGENT_UNIFORM),
        optimal_policy=instance.optimal_policy if cls.needs_truth else None,
        optimal_values=instance.optimum[1][0] if cls.needs_truth else None,
    )
    return cls(problem, parameters)


def run(instance, algorithm, parameters, track, episodes, seeds, root_seed, name, tick=None):
    """Play `episodes` episodes of every seed; returns a dictionary of (n, K) and, for seconds, (K,) arrays.

    `name` is the instance's name in the study: it keys the random streams. `tick(steps)` is called
    after every episode with the number of steps that were taken.
    """
    n = len(seeds)
    environment = Environment(instance, root_seed, name, seeds)
    agent = make_agent(instance, algorithm, parameters, track, episodes, root_seed, name, seeds)
    regret = Regret(instance, n, episodes)
    log = {key: np.full((n, episodes), np.nan) for key in LOGGED if key != "regret"}
    seconds = {key: np.zeros(episodes) for key in SECONDS}
    best = instance.optimum[1][0]
    rows = np.arange(n)
    for k in range(episodes):
        start = time.perf_counter()
        plan = agent.plan(k)
        planned = time.perf_counter()
        first_cells, trajectory = environment.rollout(agent, plan.policy)
        acted = time.perf_counter()
        regret.add(plan.policy, first_cells)
        log["optimism"][:, k] = plan.values[rows, first_cells] - best[first_cells]
        if plan.rewards is not None and instance.model.reward.bounded:
            log["saturated"][:, k] = (np.abs(plan.rewards - 0.5) > 0.5 - SATURATION).mean((1, 2))
        if agent.learner is not None:
            design = agent.learner.design()
            errors = agent.learner.errors(instance.theta_p, instance.theta_r, design)
            log["error_p"][:, k], log["error_r"][:, k] = errors
            norms = agent.learner.feature_norms(design)[rows[:, None], trajectory.cells, trajectory.actions]
            log["feature_norm"][:, k] = np.sqrt(norms.max(1))
        logged = time.perf_counter()
        agent.update(trajectory)
        seconds["estimating"][k] = time.perf_counter() - logged
        seconds["planning"][k] = planned - start
        seconds["acting"][k] = acted - planned
        if tick is not None:
            tick(n * instance.horizon)
    regret.flush()
    return {"regret": regret.values, **log, **{key: value / n for key, value in seconds.items()}}
