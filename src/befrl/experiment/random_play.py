"""Episodes of the uniformly random agent: data whose visits depend on no estimate."""

from befrl.experiment.environment import Environment
from befrl.experiment.loop import make_agent
from befrl.experiment.spec import RunSpec


def random_play(instance, name, seeds, episodes, root_seed):
    """Yield the trajectories of all seeds, episode by episode."""
    spec = RunSpec.of(instance, name, "random", {}, episodes, seeds, root_seed=root_seed)
    actor, environment = make_agent(spec), Environment(instance, root_seed, name, seeds)
    for k in range(episodes):
        yield environment.rollout(actor, actor.plan(k).policy)
