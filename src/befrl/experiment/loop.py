"""The episode loop: plan, play, log and learn, for all rows of a run in lock step; it knows no algorithm by name."""

import time

import numpy as np

from befrl import agents
from befrl.agents.base import BaseAgent, Problem
from befrl.common.errors import require
from befrl.common.streams import AGENT_NORMAL, AGENT_UNIFORM
from befrl.experiment.environment import Environment
from befrl.experiment.plan_check import PlanCheck
from befrl.experiment.regret import Regret
from befrl.experiment.run_file import LOGGED, SECONDS, TRACED, marks, negative

SATURATION = 0.01  # a mean reward this close to 0 or 1 counts as saturated


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


def changed(policy, previous, trajectory):
    """Whether a policy differs from the previous one at a visited (step, cell), (n,); False if their shapes differ."""
    n, H = trajectory.cells.shape
    if previous is policy or previous is None or previous.shape != policy.shape:
        return np.zeros(n, dtype=bool)
    tables = (each.reshape(n * H * policy.shape[2], -1) for each in (policy, previous))
    at = np.arange(n * H).reshape(n, H) * policy.shape[2] + trajectory.cells  # numbers of (row, step, cell)
    new, old = (table.take(at.ravel(), axis=0) for table in tables)
    return (new != old).reshape(n, -1).any(1)


def make_agent(spec):
    """Make the agent of a run; only in track K is it given the true reward parameter."""
    instance = spec.instance
    cls = agents.registry.module(spec.algorithm).Agent
    for setting in spec.settings:
        cls.specification(instance.model, setting)
    sound = cls.act is BaseAgent.act
    require(
        sound, "the agent has its own act(): it must play the policy of its plan, because regret is computed from it"
    )
    problem = Problem(
        model=instance.model,
        horizon=instance.horizon,
        episodes=spec.episodes,
        n=spec.rows,
        constants=instance.constants,
        known_theta_r=instance.theta_r if spec.track == "K" else None,
        normals=spec.stream(AGENT_NORMAL),
        uniforms=spec.stream(AGENT_UNIFORM),
        stream=spec.stream,
        generators=spec.generators,
        ties=spec.tie_breaker(),
        optimal_policy=instance.optimal_policy if cls.needs_truth else None,
        optimal_values=instance.optimum[1][0] if cls.needs_truth else None,
    )
    return cls(problem, spec.row_parameters)


def run(spec, tick=None, environment=None):
    """Play all episodes of every row and return a dictionary of arrays (n, K), (n, marks) and, for the cost, (K,).

    `tick(steps)` is called after every episode with the number of steps taken. Contracts replace the environment. With
    `until_certified` the log ends with the first episode in which the certificates of all rows are small enough.
    """
    instance, n, episodes = spec.instance, spec.rows, spec.episodes
    environment = environment or Environment(instance, spec.root_seed, spec.name, spec.row_seeds)
    agent, regret, previous = make_agent(spec), Regret(instance, n, episodes), None
    log = {key: np.full((n, episodes), np.nan) for key in LOGGED if key != "regret"}
    until = spec.until_certified
    marked = marks(episodes) if until is None else range(1, episodes + 1)  # the marks depend on the last episode
    traced = {int(k) - 1: i for i, k in enumerate(marked)}
    log |= {key: np.full((n, len(traced)), np.nan) for key in TRACED}
    seconds, plans = {key: np.zeros(episodes) for key in SECONDS}, np.zeros(episodes)
    best, at = instance.optimum[1][0], Lookup(instance.model.space)
    check = PlanCheck(instance.model, instance.horizon, n, type(agent).certifies)
    for k in range(episodes):
        start = time.process_time()  # does not count other load on the machine
        plan = agent.plan(k)
        planned = time.process_time()
        check(plan)
        trajectory = environment.rollout(agent, plan.policy)
        acted = time.process_time()
        regret.add(plan.policy, trajectory)
        log["optimism"][:, k] = at.first(plan.values - best, trajectory)
        if plan.certificate is not None:
            log["certificate"][:, k] = at.first(plan.certificate, trajectory)
        log["tied"][:, k] = agent.problem.ties.share
        log["changed"][:, k] = changed(plan.policy, previous, trajectory)
        previous = plan.policy
        if plan.rewards is not None and instance.model.reward.bounded:
            log["saturated"][:, k] = (np.abs(plan.rewards - 0.5) > 0.5 - SATURATION).mean((1, 2))
        if agent.learner is not None and k in traced:
            design = agent.learner.design()
            errors = agent.learner.errors(instance.theta_p, instance.theta_r, design)
            norms = at.visits(agent.learner.feature_norms(design), trajectory)
            for key, value in zip(TRACED, (*errors, np.sqrt(norms.max(1))), strict=True):
                log[key][:, traced[k]] = value
        logged = time.process_time()
        agent.update(trajectory)
        seconds["estimating"][k] = time.process_time() - logged
        seconds["planning"][k] = planned - start
        seconds["acting"][k] = acted - planned
        plans[k] = plan.plans
        if tick is not None:
            tick(n * instance.horizon)
        if until is not None and np.all(log["certificate"][:, k] <= until):
            break
    regret.flush()
    least = negative(regret.values[:, : k + 1], instance.horizon, instance.optimal_value)
    require(least is None, f"the regret of an episode is {least}, and none can be negative: check the agent's plans")
    log = {"regret": regret.values, **log, **{key: value / n for key, value in seconds.items()}, "plans": plans}
    return log if until is None else first_episodes(log, k + 1)


def first_episodes(log, episodes):
    """The first episodes of a log that has the traced quantities of every episode."""
    short = {key: value[..., :episodes] for key, value in log.items()}
    return short | {key: short[key][:, marks(episodes) - 1] for key in TRACED}
