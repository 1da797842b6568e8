"""The episodes of a run one by one, for studies and claims that measure what the loop does not log."""

from befrl.experiment.environment import Environment
from befrl.experiment.loop import make_agent
from befrl.experiment.spec import RunSpec


def play(spec):
    """Yield (agent, plan, trajectory) of each episode; the agent learns from it when the next one is requested."""
    environment, agent = Environment(spec.instance, spec.root_seed, spec.name, spec.row_seeds), make_agent(spec)
    for k in range(spec.episodes):
        plan = agent.plan(k)
        trajectory = environment.rollout(agent, plan.policy)
        yield agent, plan, trajectory
        agent.update(trajectory)


def random_play(instance, name, seeds, episodes, root_seed):
    """Yield the trajectories of the uniformly random agent: data whose visits depend on no estimate."""
    spec = RunSpec.of(instance, name, "random", {}, episodes, seeds, root_seed=root_seed)
    return (trajectory for _, _, trajectory in play(spec))
