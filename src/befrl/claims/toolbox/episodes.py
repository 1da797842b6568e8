"""Runs of BEF-RLSVI in which bad rounds are counted: of the played episodes, and of imagined ones."""

import functools
from dataclasses import replace

import numpy as np

from befrl import agents, instances
from befrl.experiment import bad_rounds
from befrl.experiment.episodes import play
from befrl.experiment.spec import RunSpec
from befrl.model import constants
from befrl.model.families.base import FiniteFamily
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import gaussian
from befrl.model.spaces import FiniteSpace

CASES = (
    ("jao", {"arms": 3, "horizon": 5}),
    ("riverswim", {"states": 4, "horizon": 8}),
    ("chain", {"bins": 4, "horizon": 10}),
    ("factored", {"machines": 2, "horizon": 3}),
    ("literal", {"bins": 3, "horizon": 1}),
)


def uses() -> list[str]:
    """The modules that the runs find by name and not by an import statement."""
    found = agents.modules("bef-rlsvi", {})
    return [*found, *(module for name, values in CASES for module in instances.modules(name, values))]


@functools.lru_cache(1)
def bad_round_runs(seed, trials):
    """Runs of BEF-RLSVI, four settings of penalty and noise each: the example, and the instances of CASES."""
    found = []
    for H in (4, 40):
        run = _run(two_states(H), f"example with H = {H}", [1.0], ["theory"], 1, 100, seed)
        found.append(run | {"example": True})
    for name, values in CASES:
        instance = _instance(name, tuple(values.items()))
        p, alpha = instance.model.features.p, instance.constants["alpha_r"]
        etas = [alpha * p * instance.constants["B_phi_A"] * share for share in (0.999, 0.03)]
        found.append(_run(instance, name, etas, ["theory", 1e-3], 2 + trials // 2, 24, seed) | {"example": False})
    return found


@functools.cache
def _instance(name, values):
    return instances.build(name, dict(values))


@functools.cache
def two_states(horizon):
    """Two states and one action; the second state has probability 2e-9 and is not reached."""
    family = FiniteFamily(FiniteSpace(2), np.array([[0.0], [1.0]]), np.zeros(2))
    model = Model(Features.one_hot(2, 1, p=1), family, gaussian.Law(1.0), B=np.ones(1))
    theta_p, theta_r = np.array([-20.0, 0.0]), np.full(2, 0.5)
    instance = Instance(model, horizon, theta_p, theta_r, lambda u: np.zeros(len(u), int), np.array([1.0, 0.0]))
    return replace(instance, constants=constants.compute(model, theta_p, theta_r, np.random.default_rng(0)))


def _run(instance, name, etas, scales, seeds, episodes, seed):
    """Play; return (rows, K): bad steps played, probabilities of a played and an imagined bad round, min(1, KL)."""
    settings = [{"eta": eta, "scale": scale} for eta in etas for scale in scales]
    spec = RunSpec.of(instance, name, "bef-rlsvi", settings, episodes, range(seeds), root_seed=seed)
    rows = np.arange(spec.rows)[:, None]
    log = {key: np.empty((spec.rows, episodes)) for key in ("steps", "played", "imagined", "KL")}
    for k, (agent, plan, trajectory) in enumerate(play(spec)):
        bad = bad_rounds.squared_norms(instance, agent.learner) >= 1.0
        played, imagined, KL = bad_rounds.chances(instance, agent.learner, plan.policy, bad)
        first = trajectory.cells[:, :1]
        log["steps"][:, k] = bad[rows, trajectory.cells, trajectory.actions].sum(1)
        for key, value in zip(("played", "imagined", "KL"), (played, imagined, np.minimum(KL, 1.0)), strict=True):
            log[key][:, k] = value[rows, first][:, 0]
    ratio = agent.learner.eta / instance.constants["alpha_r"]
    y = min(instance.model.d, instance.model.features.p) * instance.constants["B_phi_A"] / ratio
    return {"name": name, "d": instance.model.d, "y": y, **log}
