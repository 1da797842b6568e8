"""What a researcher's own instance or agent may get wrong: refused with a sentence that says what.

Mistakes in the parts of an instance are in `model/test_checks.py`.
"""

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


def test_a_sound_instance_is_taken():
    found = compute(small())
    assert found["alpha_p"] == pytest.approx(np.exp(1.0) / (1 + np.exp(1.0)) ** 2)
    assert found["B_A"] == pytest.approx(np.sqrt(5.0))


def test_a_zero_reward_vector_is_refused():
    with pytest.raises(InputError, match="alpha_r"):
        compute(small(model=replace(small().model, B=np.zeros(1))))


def test_dependent_matrices_are_refused():
    A = np.ones((2, 1, 2))
    features = Features.dense(np.tile(np.eye(2)[:, None], (1, 2, 1)), A)
    instance = small(model=replace(small().model, features=features), theta_p=np.zeros(2), theta_r=np.zeros(2))
    with pytest.raises(InputError, match="linearly dependent"):
        compute(instance)


def test_a_deterministic_kernel_is_refused():
    base = np.where(np.eye(2)[:, None, :] > 0, 0.0, -np.inf).repeat(2, axis=1)
    family = FiniteFamily(FiniteSpace(2), np.array([[0.0], [1.0]]), base)
    with pytest.raises(InputError, match="nothing to estimate"):
        compute(small(model=replace(small().model, family=family)))


@pytest.mark.parametrize("leak", [1e-8, 1e-6])
def test_an_alpha_that_is_only_rounding_is_refused(leak):
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


def test_a_sound_smooth_instance_is_taken():
    instance = smooth()
    assert compute(instance)["alpha_p"] == pytest.approx(1.0, abs=1e-6)
    # Two uses of the kernel: E s' = +-s/2 on the anchors.
    s = instance.model.space.nodes
    assert np.allclose(instance.P @ s, np.clip(s, -3, 3)[:, None] * [0.5, -0.5], rtol=0, atol=1e-6)


def test_a_box_that_the_law_leaves_is_refused():
    with pytest.raises(OutsideDomain, match=r"leaves the box.* at \(s, a\) = \("):
        smooth(reach=4.0)


def test_a_parameter_whose_law_is_no_number_is_refused():
    with pytest.raises(OutsideDomain, match=r"at \(s, a\)"):
        smooth(theta_p=np.array([1e200]))


def test_smooth_features_need_a_function_of_the_state():
    model = smooth().model
    with pytest.raises(InputError, match="Model needs phi"):
        smooth(model=replace(model, phi=None))
    with pytest.raises(InputError, match="phi does not give the features"):
        smooth(model=replace(model, phi=lambda s: 1.1 * model.phi(s)))
    with pytest.raises(WrongShape, match=r"has shape \(2, 3\), it must have \(2, 1\)"):
        smooth(model=replace(model, phi=lambda s: np.ones((len(s), 2, 3))))


@dataclass
class Undeclared:
    scale: float = 1.0


def test_a_plain_field_is_named():
    for use in (describe, lambda cls: read(cls, {}, "agent 'mine'")):
        with pytest.raises(InputError, match=r"parameter .scale. of .* is a plain field"):
            use(Undeclared)


def test_a_module_without_docstring_is_listed(tmp_path, monkeypatch):
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
