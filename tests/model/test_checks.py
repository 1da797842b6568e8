"""A mistake in a user's MDP is an error when it is built, in one sentence that names the instance and the part."""

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from befrl import instances
from befrl.common.errors import InputError
from befrl.model.families.base import ContinuousFamily, FiniteFamily
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import bernoulli, gaussian, truncated_exponential
from befrl.model.spaces import BinnedInterval, FiniteSpace, SmoothBox

NOISE = np.random.default_rng(1)


def phi(s):
    return np.stack(np.broadcast_arrays(1.0, s[:, None], [0.0, 1.0]), axis=-1)


def smooth(**changes):
    """A family of one instance on [0, 1] with smooth features; `changes` replace its parts."""
    part = {"edges": [np.linspace(0.0, 1.0, 6)], "order": 5, "family": ContinuousFamily, "phi": phi, "later_phi": None}
    part |= {"statistic": lambda s: np.stack([s, np.square(s)], axis=-1), "log_base_at": lambda s: -np.square(s)}
    part |= {"reward": bernoulli.Law, "B": [1.0, 0.0], "horizon": 4, "start": lambda u: 0.2 * u, "start_masses": None}
    part |= {"theta_p": np.array([0.1, 1.0, -1.0, 0.2, 0.3, -0.4])}
    part |= {"theta_r": np.array([0.5, 1.0, -1.0, 0.0, 0.0, 0.0])} | changes

    def build(_):
        space = SmoothBox(part["edges"], part["order"])
        family = part["family"](space, part["statistic"], part["log_base_at"])
        reward = part["reward"]() if part["reward"] in (bernoulli.Law, gaussian.Law) else part["reward"]
        model = Model.smooth_in(part["phi"], family, reward, part["B"])
        if part["later_phi"]:
            model = Model(model.features, family, reward, model.B, part["later_phi"])
        masses = space.uniform(0.0, 0.2)["start_masses"] if part["start_masses"] is None else part["start_masses"]
        return Instance(model, part["horizon"], part["theta_p"], part["theta_r"], part["start"], masses)

    return build


def finite(**changes):
    """A family of one instance with three states, two actions and one-hot features; `changes` replace its parts."""
    part = {"states": 3, "psi": np.array([[0.0], [1.0], [2.0]]), "log_base": np.zeros(3), "family": FiniteFamily}
    part |= {"features": lambda: Features.one_hot(3, 2, 1), "B": np.ones(1), "reward": gaussian.Law(0.5), "horizon": 3}
    part |= {"theta_p": [0.5, -0.5, 1.0, 0.0, 0.2, -1.0], "theta_r": [0.0, 1.0, 2.0, 0.0, 0.0, 0.0]}
    part |= {"start": lambda u: (u > 0.25).astype(int), "start_masses": [0.25, 0.75, 0.0]} | changes

    def build(_):
        family = part["family"](FiniteSpace(part["states"]), part["psi"], part["log_base"])
        model = Model(part["features"](), family, part["reward"], part["B"])
        laws = part["start"], part["start_masses"]
        return Instance(model, part["horizon"], part["theta_p"], part["theta_r"], *laws)

    return build


def broken(base, **methods):
    """A class whose methods are those of `base`, but for some."""
    return type("Broken", (base,), methods)


def off_by(shift, base=ContinuousFamily):
    """A family whose Z, mean and covariance are shift(family, natural, Z, mean, cov) of its own."""
    return broken(base, moments=lambda self, v: shift(self, v, *ContinuousFamily.moments(self, v)))


LARGER_Z = broken(ContinuousFamily, log_partition=lambda self, v: ContinuousFamily.log_partition(self, v) + 0.1)
FAMILIES = {
    # A factor of the base measure is forgotten.
    "partition": off_by(lambda self, v, Z, mean, cov: (Z + 0.1, mean, cov), LARGER_Z),
    "kernel": broken(ContinuousFamily, kernel=lambda self, v: ContinuousFamily.kernel(self, 0.9 * v)),
    "mean": off_by(lambda self, v, Z, mean, cov: (Z, ContinuousFamily.moments(self, 0.99 * v)[1], cov)),
    # The second moment in place of the covariance.
    "covariance": off_by(lambda self, v, Z, mean, cov: (Z, mean, cov + mean[..., None] * mean[..., None, :])),
    "draws": broken(ContinuousFamily, quantile=lambda self, v, u: ContinuousFamily.quantile(self, v + 1.0, u)),
    "beyond": broken(ContinuousFamily, quantile=lambda self, v, u: ContinuousFamily.quantile(self, v, u) + 1.0),
}


class BackwardDraws(FiniteFamily):
    """Draws of the last state for the first."""

    def sampler(self, natural):
        draw = super().sampler(natural)
        return lambda cell, action, u: 2 - draw(cell, action, u)


REWARDS = {
    "mean": broken(bernoulli.Law, mean=lambda self, c: bernoulli.Law.mean(self, 1.1 * c)),
    "variance": broken(bernoulli.Law, variance=lambda self, c: np.full(np.shape(c), 0.25)),
    "draws": broken(bernoulli.Law, quantile=lambda self, c, u: 1.0 - bernoulli.Law.quantile(self, c, u)),
}


def one_hot_box(_):
    """One-hot features on the nodes of a smooth box."""
    space = SmoothBox([np.linspace(0.0, 1.0, 3)], 2)
    family, phi = ContinuousFamily(space, lambda s: s[..., None]), lambda s: np.ones((len(s), 2, 1))
    model = Model(Features.one_hot(4, 2, 1), family, bernoulli.Law(), B=np.ones(1), phi=phi)
    return Instance(model, 3, np.zeros(8), np.zeros(8), **space.uniform(0.0, 0.5))


def binned(_):
    """A user's psi on a BinnedInterval."""
    space = BinnedInterval(3)
    family = ContinuousFamily(space, lambda s: s[..., None])
    model = Model(Features.one_hot(3, 2, 1), family, bernoulli.Law(), B=np.ones(1))
    return Instance(model, 3, np.zeros(6), np.zeros(6), **space.first(0))


def features(*shape, block=0, blocks=1):
    """Features of ones in blocks, U of this shape."""
    return lambda: Features(np.ones(shape), np.full(shape[:2], block), np.ones((blocks, 1, 1)))


AGAIN = "gives other values when it is asked again"
TWO_STATES = {"features": features(2, 2, 1, 1), "theta_p": [0], "theta_r": [0], "start_masses": [1, 0]}
MISTAKES = [
    # numbers
    (smooth(horizon=0), "horizon = 0 is not allowed: it must be a whole number from 1"),
    (smooth(theta_p=np.ones(5)), "theta_p has shape (5,), it must have (6,)"),
    (finite(theta_p=["a"] * 6), "theta_p is not an array of numbers"),
    (finite(theta_r=[[1.0], [1.0, 2.0]]), "theta_r is not an array of numbers"),
    (smooth(theta_r=np.full(6, np.nan)), "theta_r has entries that are not finite"),
    (finite(theta_p=np.full(6, np.inf)), "theta_p has entries that are not finite"),
    (smooth(theta_p=np.full(6, 1e308)), "the log-partition Z of theta* is not finite at (s, a)"),
    (smooth(B=[1.0, 0.0, 0.0]), "B has shape (3,), it must have (2,)"),
    (smooth(B=[0.0, 0.0]), "constant alpha_r = 0 is zero to rounding"),
    # the space
    (finite(states=0), "the number of states = 0 is not allowed"),
    (smooth(edges=[np.linspace(1.0, 0.0, 6)]), "edges must be a list of increasing arrays"),
    (smooth(order=0), "order = 0 is not allowed: it must be a whole number from 1"),
    # psi
    (smooth(statistic=lambda s: s), "psi (`statistic`) has shape (25,) on the 25 nodes"),
    (finite(psi=np.ones((2, 1))), "psi (`statistic`) has shape (2, 1) on the 3 nodes"),
    (smooth(statistic=lambda s: np.stack([s, s * s], axis=1)), "shape (2, 2, 3) for states of shape (2, 3), it must"),
    (smooth(statistic=lambda s: [math.sin(s)]), "statistic(s) fails on an array of shape (25,) (TypeError: "),
    (smooth(statistic=lambda s: (s / (s < 0.9))[..., None]), "psi (`statistic`) is not finite at s' = 0.9"),
    (smooth(statistic=lambda s: NOISE.random((*s.shape, 2))), f"statistic(s) {AGAIN}"),
    (finite(psi=np.eye(3)), "the matrices A_i have 1 rows, but psi has 3 components"),
    (finite(psi=np.ones((3, 1))), "there is nothing to estimate"),
    # the base measure
    (smooth(log_base_at=lambda s: np.where(s > 0.9, np.nan, 0.0)), "(`log_base`, `log_base_at`) is nan at s' = 0.9"),
    (finite(log_base=np.array([0.0, np.inf, 0.0])), "is inf at s' = 1: it must be a number"),
    (finite(log_base=np.zeros((3, 3))), "has shape (3, 3) on the 3 nodes of the space"),
    (finite(log_base=np.zeros((3, 4, 3))), "given for (states, actions) = (3, 4), the features for (3, 2)"),
    (finite(log_base=np.full(3, -np.inf)), "the base measure of (s, a) = (0, 0) is zero"),
    (smooth(log_base_at=lambda s: np.zeros(len(s))), "(2,) for states of shape (2, 3), it must have (2, 3)"),
    # phi
    (smooth(phi=lambda s: [[1.0, math.sin(s)]]), "phi(s) fails on an array of shape (25,) (TypeError: "),
    (smooth(phi=lambda s: np.stack([s, s], axis=-1)), "phi has shape (25, 2)"),
    (smooth(phi=lambda s: np.log(phi(s) - 0.1)), "the features U are not finite at (s, a) = (0.00"),
    (smooth(phi=lambda s: NOISE.random((len(s), 2, 3))), f"phi(s) {AGAIN}"),
    (smooth(later_phi=lambda s: 2 * phi(s)), "phi does not give the features that the model has on the anchors"),
    (one_hot_box, "must be made by Model.smooth_in or Features.dense"),
    (finite(**TWO_STATES), "the features have 2 states, the space 3"),
    (finite(features=features(3, 2, 1)), "U, block and trace have shapes (3, 2, 1), (3, 2) and (1, 1, 1)"),
    (finite(features=features(3, 2, 1, 1, block=6, blocks=6)), "blocks must be whole numbers from 0 to 5"),
    # rewards
    (finite(reward=gaussian), "is not a law of befrl.model.rewards"),
    (smooth(theta_r=np.full(6, 50.0)), "the mean reward R of theta* is 0 or 1 to rounding"),
    (lambda _: bernoulli.Law().natural(np.array([0.5, 1.2])), "a mean reward of 1.2 is not allowed"),
    (lambda _: truncated_exponential.Law().natural(np.array([0.5, 1.2])), "a mean reward of 1.2 is not allowed"),
    (smooth(reward=REWARDS["mean"]()), "mean is not the slope of log_partition"),
    (smooth(reward=REWARDS["variance"]()), "variance is not the slope of mean"),
    (smooth(reward=REWARDS["draws"]()), "its draws have another mean"),
    # the first state
    (smooth(start=lambda u: 1.3 + 0 * u), "start(u) gives 1.3, which is outside the state space"),
    (smooth(start=lambda u: u * np.nan), "start(u) gives nan, which is outside the state space"),
    (finite(start=lambda u: 0 * u), "start(u) gives states of type float64"),
    (smooth(start=lambda u: 0.2 * u[:, None]), "start(u) has shape (10000, 1)"),
    (finite(start=0), "start(u) fails on an array of shape (10000,) (TypeError: "),
    (finite(start=lambda u: NOISE.integers(0, 2, len(u))), f"start(u) {AGAIN}"),
    (smooth(start=lambda u: 0.2 * np.arange(len(u)) / len(u)), f"start(u) {AGAIN}"),
    (smooth(start_masses=np.eye(5)[0]), "start_masses has shape (5,), it must have (25,)"),
    (finite(start_masses=[0.5, 0.0, 0.0]), "start_masses sum to 0.5"),
    (finite(start_masses=[0.5, 0.75, -0.25]), "they must be a law on the states"),
    (finite(start_masses=[np.nan] * 3), "start_masses has entries that are not finite"),
    (finite(start_masses=[0.5, 0.5, 0.0]), "cell 0 has share 0.25 by the one and probability 0.5 by the other"),
    (smooth(start=lambda u: 0.4 + 0.2 * u), "start(u) disagrees with start_masses"),
    # a user's laws
    (smooth(family=FAMILIES["partition"]), "log_partition and kernel of its family disagree"),
    (smooth(family=FAMILIES["kernel"]), "log_partition and kernel of its family disagree"),
    (smooth(family=FAMILIES["mean"]), "E psi is not the gradient of log_partition"),
    (smooth(family=FAMILIES["covariance"]), "Cov psi is not the gradient of E psi"),
    (smooth(family=FAMILIES["draws"]), "the draw of a next state at (s, a) = ("),
    (smooth(family=FAMILIES["beyond"]), "which is outside the state space"),
    (finite(family=BackwardDraws), "disagrees with the kernel"),
    (binned, "the family ContinuousFamily has no `sampler`"),
]


@dataclass(frozen=True)
class Parameters:
    """A family needs no parameters."""


@pytest.fixture
def mine(monkeypatch):
    """Build a function's instance as that of the family 'mine'."""

    def build(function):
        module = SimpleNamespace(Parameters=Parameters, build=function)
        monkeypatch.setattr(instances.registry, "names", lambda: ["mine"])
        monkeypatch.setattr(instances.registry, "module", lambda name: module)
        return instances.build("mine", {})

    return build


def test_sound_instances_are_accepted(mine):
    for build in (smooth(), finite()):
        instance = mine(build)
        assert instance.family_name == "mine"
        assert instance.constants["alpha_p"] > 0
        assert instance.theta_p.dtype == float


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("build", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_error_is_one_sentence_with_instance_and_part(mine, build, words):
    with pytest.raises(InputError) as caught:
        mine(build)
    said = str(caught.value)
    assert said.startswith("instance 'mine': ") and said.count("instance '") == 1
    assert words in said and "\n" not in said


def test_a_failing_function_keeps_its_own_traceback(mine):
    with pytest.raises(InputError) as caught:
        mine(smooth(start=lambda u: 1 / 0))
    assert isinstance(caught.value.__cause__.__cause__.__cause__, ZeroDivisionError)


def test_a_base_measure_need_not_be_normalised():
    """A factor of the base measure changes Z and nothing else."""
    plain, scaled = (smooth(**changes)(None) for changes in ({}, {"log_base_at": lambda s: 3.0 - np.square(s)}))
    assert np.allclose(plain.P, scaled.P, rtol=1e-12, atol=0)


def test_known_as_checks_and_computes_nothing_again():
    instance = finite()(None)
    kernel, other = instance.P, instance.known_as(family_name="other", constants={"alpha_p": 1.0})
    assert (other.family_name, other.constants) == ("other", {"alpha_p": 1.0})
    assert other.P is kernel
    assert instance.family_name == "unnamed"
