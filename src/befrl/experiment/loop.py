"""The episode loop: plan, play, log and learn, for all seeds of a run in lock step.

The loop knows no algorithm by name.
"""

import time

import numpy as np

from befrl import agents
from befrl.agents.base import Problem
from befrl.common.streams import AGENT_NORMAL, AGENT_UNIFORM, Stream
from befrl.experiment.environment import Environment
from befrl.experiment.regret import Regret
from befrl.experiment.run_file import LOGGED, SECONDS

# A mean reward this close to the ends of [0, 1] counts as saturated.
SATURATION = 0.01


class Lookup:
    """Evaluates functions on anchors at the states of a trajectory: by cell, or interpolated within it."""

    def __init__(self, space):
        self.space = space

    def first(self, values, trajectory):
        """Values at the first states, (n, N) -> (n,)."""
        space, rows, cells = self.space, np.arange(len(values)), trajectory.cells[:, 0]
        if space.per_cell == 1:
            return values[rows, cells]
        near = values.reshape(len(values), space.n_cells, -1)[rows, cells]
        return (near * space.interpolation(trajectory.states[:, 0])).sum(-1)

    def visits(self, values, trajectory):
        """Values at the visited states and actions, (n, N, A) -> (n, H)."""
        space, rows = self.space, np.arange(len(values))[:, None]
        if space.per_cell == 1:
            return values[rows, trajectory.cells, trajectory.actions]
        near = values.reshape(len(values), space.n_cells, space.per_cell, -1)
        near = near[rows, trajectory.cells, :, trajectory.actions]
        return (near * space.interpolation(trajectory.states)).sum(-1)


def make_agent(spec):
    """Make the agent of a run; only in track K is it given the true reward parameter."""
    instance = spec.instance
    cls = agents.catalogue.module(spec.algorithm).Agent
    cls.specification(instance.model, spec.parameters)

    def stream(purpose):
        return Stream(spec.root_seed, spec.name, spec.seeds, purpose)

    problem = Problem(
        model=instance.model,
        horizon=instance.horizon,
        episodes=spec.episodes,
        n=len(spec.seeds),
        constants=instance.constants,
        known_theta_r=instance.theta_r if spec.track == "K" else None,
        normals=stream(AGENT_NORMAL),
        uniforms=stream(AGENT_UNIFORM),
        stream=stream,
        optimal_policy=instance.optimal_policy if cls.needs_truth else None,
        optimal_values=instance.optimum[1][0] if cls.needs_truth else None,
    )
    return cls(problem, spec.parameters)


def run(spec, tick=None):
    """Play all episodes of every seed and return a dictionary of (n, K) arrays and, for the cost, (K,) arrays.

    `tick(steps)` is called after every episode with the number of steps taken.
    """
    instance, n, episodes = spec.instance, len(spec.seeds), spec.episodes
    environment = Environment(instance, spec.root_seed, spec.name, spec.seeds)
    agent = make_agent(spec)
    regret = Regret(instance, n, episodes)
    log = {key: np.full((n, episodes), np.nan) for key in LOGGED if key != "regret"}
    seconds, plans = {key: np.zeros(episodes) for key in SECONDS}, np.zeros(episodes)
    best = instance.optimum[1][0]
    at = Lookup(instance.model.space)
    for k in range(episodes):
        # Processor time does not count other load on the machine.
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
