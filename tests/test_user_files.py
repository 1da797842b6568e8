"""A user's own instances and agents; mistakes in their parts are in `tests/model` and `test_your_own_mdp.py`."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from befrl import agents, instances
from befrl.agents.base import BaseAgent, Plan
from befrl.common.errors import InputError
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from befrl.model import constants
from befrl.model.families.base import ContinuousFamily, FiniteFamily
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import gaussian
from befrl.model.spaces import FiniteSpace, SmoothBox


def small(**changes):
    """A user's instance: two states, two actions, one-hot features."""
    family = FiniteFamily(FiniteSpace(2), np.array([[0.0], [1.0]]), np.zeros(2))
    given = {
        "model": Model(Features.one_hot(2, 2, 1), family, gaussian.Law(0.5), B=np.ones(1)),
        "horizon": 3,
        "theta_p": np.array([0.5, -0.5, 1.0, 0.0]),
        "theta_r": np.array([0.0, 1.0, 2.0, 0.0]),
        "start": lambda u: np.zeros(len(u), dtype=np.int64),
        "start_masses": np.array([1.0, 0.0]),
    }
    return Instance(**{**given, **changes})


def compute(instance):
    return constants.compute(instance.model, instance.theta_p, instance.theta_r, np.random.default_rng(0))


def test_a_correct_instance_is_accepted():
    found = compute(small())
    assert found["alpha_p"] == pytest.approx(np.exp(1.0) / (1 + np.exp(1.0)) ** 2)
    assert found["B_A"] == pytest.approx(np.sqrt(5.0))


def test_degenerate_instances_are_rejected():
    """Dependent matrices A_i, a deterministic kernel, and constants alpha_p that are only rounding."""
    model = small().model
    dependent = Features.dense(np.tile(np.eye(2)[:, None], (1, 2, 1)), np.ones((2, 1, 2)))
    certain = np.where(np.eye(2)[:, None, :] > 0, 0.0, -np.inf).repeat(2, axis=1)
    family = FiniteFamily(FiniteSpace(2), np.array([[0.0], [1.0]]), certain)
    with pytest.raises(InputError, match="linearly dependent"):
        compute(small(model=replace(model, features=dependent), theta_p=np.zeros(2), theta_r=np.zeros(2)))
    with pytest.raises(InputError, match="nothing to estimate"):
        compute(small(model=replace(model, family=family)))
    for leak in (1e-8, 1e-6):
        with pytest.raises(InputError, match="alpha_p"):
            instances.build("riverswim", {"leak": leak})


def test_a_smooth_instance_has_the_moments_of_its_law():
    """s' ~ N(+-s/2, 1) by quadrature on a box that stands for all of R; without its function phi it is rejected."""
    space = SmoothBox([np.linspace(-9.0, 9.0, 25)], 6, unbounded=True)
    family = ContinuousFamily(space, lambda s: np.asarray(s)[..., None], norm.logpdf)

    def phi(s):
        return np.clip(s, -3, 3)[:, None, None] * np.array([[1.0], [-1.0]])

    model = Model.smooth_in(phi, family, gaussian.Law(0.5), B=np.ones(1))
    parts = {"horizon": 3, "theta_p": np.array([0.5]), "theta_r": np.array([0.2]), **space.uniform(-9.0, 9.0)}
    instance, s = Instance(model=model, **parts), space.nodes
    assert compute(instance)["alpha_p"] == pytest.approx(1.0, abs=1e-6)
    assert np.allclose(instance.P @ s, np.clip(s, -3, 3)[:, None] * [0.5, -0.5], rtol=0, atol=1e-6)
    for wrong, words in ((None, "Model needs phi"), (lambda s: np.ones((len(s), 2, 3)), r"must have \(2, 1\)")):
        with pytest.raises(InputError, match=words):
            Instance(model=replace(model, phi=wrong), **parts)


class Mixed(BaseAgent):
    """Plays the second action with probability 0.3 everywhere."""

    def plan(self, k):
        n, H, model = self.problem.n, self.problem.horizon, self.problem.model
        policy = np.tile([0.7, 0.3], (n, H, model.n_cells, 1))
        return Plan(policy, np.full((n, model.n_cells), np.nan))


def test_probabilities_are_played_as_they_are_planned():
    """300 x 40 draws with p = 0.3: the share is within 4 standard errors (error rate 6e-5)."""
    problem = instances.build("chain", {"bins": 3})
    template = loop.make_agent(RunSpec(problem, "x", "random", agents.parameters("random", {}), 1, range(300), "U", 0))
    agent = Mixed(template.problem, None)
    environment = loop.Environment(problem, 0, "x", range(300))
    trajectory = environment.rollout(agent, agent.plan(0).policy)
    share = trajectory.actions.mean()
    assert abs(share - 0.3) < 4 * np.sqrt(0.21 / trajectory.actions.size)
