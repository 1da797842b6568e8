"""Mistakes in a user's own instance or agent; those in the parts of an instance: `model/test_checks.py`."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import norm

from befrl import agents, instances
from befrl.agents.base import BaseAgent, Plan
from befrl.common.errors import InputError
from befrl.common.parameters import describe, read
from befrl.common.registry import Registry
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec
from befrl.model import constants
from befrl.model.checks import OutsideDomain
from befrl.model.families.base import ContinuousFamily, FiniteFamily
from befrl.model.features import Features, WrongShape
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
    """A zero vector B, dependent matrices A_i, a deterministic kernel, and constants alpha_p that are only rounding."""
    model = small().model
    dependent = Features.dense(np.tile(np.eye(2)[:, None], (1, 2, 1)), np.ones((2, 1, 2)))
    certain = np.where(np.eye(2)[:, None, :] > 0, 0.0, -np.inf).repeat(2, axis=1)
    family = FiniteFamily(FiniteSpace(2), np.array([[0.0], [1.0]]), certain)
    for instance, words in (
        (small(model=replace(model, B=np.zeros(1))), "alpha_r"),
        (small(model=replace(model, features=dependent), theta_p=np.zeros(2), theta_r=np.zeros(2)), "linearly depend"),
        (small(model=replace(model, family=family)), "nothing to estimate"),
    ):
        with pytest.raises(InputError, match=words):
            compute(instance)
    for leak in (1e-8, 1e-6):
        with pytest.raises(InputError, match="alpha_p"):
            instances.build("riverswim", {"leak": leak})


def smooth(reach=9.0, order=6, **changes):
    """A user's own smooth instance: s' ~ N(+-s/2, 1) by quadrature on a box that stands for all of R."""
    space = SmoothBox([np.linspace(-reach, reach, 25)], order, unbounded=True)
    family = ContinuousFamily(space, lambda s: np.asarray(s)[..., None], norm.logpdf)
    phi = changes.pop("phi", lambda s: np.clip(s, -3, 3)[:, None, None] * np.array([[1.0], [-1.0]]))
    given = {
        "model": Model.smooth_in(phi, family, gaussian.Law(0.5), B=np.ones(1)),
        "horizon": 3,
        "theta_p": np.array([0.5]),
        "theta_r": np.array([0.2]),
        **space.uniform(-reach, reach),
    }
    return Instance(**{**given, **changes})


def test_a_correct_smooth_instance_is_accepted():
    instance = smooth()
    assert compute(instance)["alpha_p"] == pytest.approx(1.0, abs=1e-6)
    # The kernel, on the anchors: E s' = +-s/2.
    s = instance.model.space.nodes
    assert np.allclose(instance.P @ s, np.clip(s, -3, 3)[:, None] * [0.5, -0.5], rtol=0, atol=1e-6)


def test_wrong_smooth_instances_are_rejected():
    """The law leaves the box or is not finite, and phi is missing, wrong or of another shape."""
    model = smooth().model
    for changes, kind, words in (
        ({"reach": 4.0}, OutsideDomain, r"leaves the box.* at \(s, a\) = \("),
        ({"theta_p": np.array([1e200])}, OutsideDomain, r"at \(s, a\)"),
        ({"model": replace(model, phi=None)}, InputError, "Model needs phi"),
        ({"model": replace(model, phi=lambda s: 1.1 * model.phi(s))}, InputError, "phi does not give the features"),
        (
            {"model": replace(model, phi=lambda s: np.ones((len(s), 2, 3)))},
            WrongShape,
            r"\(2, 3\), it must have \(2, 1\)",
        ),
    ):
        with pytest.raises(kind, match=words):
            smooth(**changes)


@dataclass
class Undeclared:
    scale: float = 1.0


def test_a_plain_field_is_rejected():
    for use in (describe, lambda cls: read(cls, {}, "agent 'mine'")):
        with pytest.raises(InputError, match=r"parameter .scale. of .* is a plain field"):
            use(Undeclared)


def test_a_module_without_docstring_has_an_empty_summary(tmp_path, monkeypatch):
    package = tmp_path / "undocumented"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "plain.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert Registry("agent", "undocumented", [str(package)]).summary("plain") == ""


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
