"""The episodes of a run one by one, for studies and claims that measure what the loop does not log."""

from befrl.experiment.environment import Environment
from befrl.experiment.loop import make_agent


def play(spec):
    """Yield (agent, plan, trajectory) of each episode; the agent learns from it when the next one is asked for."""
    environment = Environment(spec.instance, spec.root_seed, spec.name, spec.row_seeds)
    agent = make_agent(spec)
    for k in range(spec.episodes):
        plan = agent.plan(k)
        trajectory = environment.rollout(agent, plan.policy)
        yield agent, plan, trajectory
        agent.update(trajectory)
