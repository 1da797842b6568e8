"""Properties of every instance, and the definitions of the chain and of RiverSwim."""

import dataclasses

import numpy as np
import pytest

from befrl import instances
from befrl.common import instance_facts
from befrl.common.errors import InputError
from befrl.experiment.runs import run_rows
from befrl.experiment.spec import RunSpec
from helpers import FINITE, INSTANCES, SMOOTH, all_policies, instance, optimal, value_of

VARIANTS = [
    *[(name, {}) for name in INSTANCES],
    ("chain", {"bins": 5, "horizon": 7, "reward": "gaussian"}),
    ("chain", {"bins": 3, "horizon": 1, "reward": "truncated-exponential"}),
    ("riverswim", {"kernel": "cho", "states": 4, "horizon": 12}),
    ("riverswim", {"kernel": "ayoub", "states": 3, "horizon": 12, "leak": 0.02}),
    ("circle", {"knots": 4, "kappa": 2.0, "horizon": 5}),
    ("lds", {"pull": -0.5, "bound": 1.0, "horizon": 4}),
]
REGISTRY = instances.registry.names()
SMALL = [("chain", {"bins": 2, "horizon": 4}), ("riverswim", {"states": 3, "horizon": 3}), ("dense", {"horizon": 2})]


def gap(problem, Q, V):
    """The smallest positive gap over the reachable (h, s), by loops."""
    cells, gaps = np.flatnonzero(problem.start_masses), []
    for h in range(problem.horizon):
        gaps += [V[h, x] - q for x in cells for q in Q[h, x] if V[h, x] - q > 1e-12]
        cells = {y for x in cells for y in np.flatnonzero(problem.P[x].any(0))}
    return min(gaps)


@pytest.mark.parametrize(("name", "values"), VARIANTS)
def test_arrays_are_laws_and_optimal_and_uniform_values_are_those_of_loops(name, values):
    problem = instance(name, **values)
    model, c, P, R = problem.model, problem.constants, problem.P, problem.R
    N, A = model.n_anchors, model.n_actions
    assert N == model.n_cells * model.space.per_cell and P.shape == (N, A, N) and R.shape == (N, A)
    assert np.all(P >= 0) and np.allclose(P.sum(-1), 1.0, rtol=0, atol=1e-12)
    assert problem.theta_p.shape == problem.theta_r.shape == (model.d,)
    assert np.allclose(problem.start_masses.sum(), 1.0, rtol=0, atol=1e-12)
    for key in ("alpha_p", "beta_p", "alpha_r", "beta_r", "B_A", "B_phi_A", "radius_p", "radius_r"):
        assert np.isfinite(c[key]) and c[key] > 0
    assert c["alpha_p"] <= c["beta_p"] and c["alpha_r"] <= c["beta_r"]
    Q, V = optimal(R, P, problem.horizon)
    assert all(np.allclose(*pair, rtol=0, atol=1e-12) for pair in zip(problem.optimum, (Q, V), strict=True))
    assert problem.optimal_value == pytest.approx(problem.start_masses @ V[0], abs=1e-12)
    lost = V[0] - value_of(problem.optimal_policy, R, P)
    assert problem.cell_loss == pytest.approx(problem.start_masses @ lost, abs=1e-12)
    assert lost.min() > -1e-12 and (model.smooth or lost.max() < 1e-12)
    assert problem.gap == pytest.approx(gap(problem, Q, V), abs=1e-12)
    uniform = value_of(np.full((problem.horizon, model.n_cells, A), 1 / A), R, P)
    assert problem.uniform_value == pytest.approx(problem.start_masses @ uniform, abs=1e-12)


def test_the_helpers_lists_are_right():
    models = {name: instance(name).model for name in INSTANCES}
    assert [name for name in INSTANCES if models[name].smooth] == SMOOTH
    assert {name for name in INSTANCES if models[name].space.discrete} == FINITE


@pytest.mark.parametrize(("name", "values"), SMALL)
def test_the_best_deterministic_policy_is_optimal(name, values):
    problem = instance(name, **values)
    policies = all_policies(problem.horizon, problem.model.n_cells, problem.model.n_actions)
    best = np.max([value_of(policy, problem.R, problem.P) for policy in policies], axis=0)
    assert np.allclose(problem.optimum[1][0], best, rtol=0, atol=1e-12)


def test_gaps_out_of_reach_do_not_count():
    """The episodes are so short that the far states, where gaps are smaller, are out of reach at first."""
    problem = instance("riverswim", kernel="ayoub", states=6, horizon=8, small=0.05)
    assert problem.gap == pytest.approx(gap(problem, *optimal(problem.R, problem.P, 8)), abs=1e-12)
    assert np.array_equal(problem.reachable, np.arange(6) <= np.arange(8)[:, None])
    gaps = problem.optimum[1][:-1, :, None] - problem.optimum[0]
    assert gaps[gaps > 1e-12].min() < problem.gap


@pytest.mark.parametrize(("name", "values"), VARIANTS)
def test_first_states_follow_the_stated_law(name, values, rng):
    problem, m = instance(name, **values), 20_000
    states = problem.start(rng.random(m))
    share = np.bincount(problem.model.space.cell(states), minlength=problem.model.n_cells) / m
    masses = problem.start_masses.reshape(problem.model.n_cells, -1).sum(-1)
    # 5 standard errors; at most 12 cells with mass in each of 14 instances: 1e-4.
    assert np.all(np.abs(share - masses) <= 5 * np.sqrt(masses / m))
    # Within a cell: E s and E s^2 by the masses of its anchors; 5 standard errors again, and rounding.
    if problem.model.smooth:
        for power in (1, 2):
            drawn, expected = states**power, problem.start_masses @ problem.model.space.nodes**power
            assert np.all(np.abs(drawn.mean(0) - expected) <= 5 * drawn.std(0) / np.sqrt(m) + 1e-12)


# Values that others of jao must have at the ends of the range of a parameter.
BESIDE = {"rate": {"eps": 0.001}, "eps": {"rate": 0.001}, "background": {"bonus": 0.0, "top": 0.999}}
BESIDE |= {"bonus": {"background": 0.001, "top": 0.999}, "top": {"background": 0.001, "bonus": 0.0}}
# The sizes at which the search for the constants is fast.
LITTLE = {"circle": {"knots": 4, "kappa": 2.0, "horizon": 3}, "riverswim": {"states": 3}}


@pytest.mark.parametrize("name", REGISTRY)
def test_every_allowed_number_makes_an_instance_and_others_are_rejected(name):
    for field in dataclasses.fields(instances.registry.module(name).Parameters):
        if field.metadata["kind"] is not float:
            continue
        key = field.name
        beside = LITTLE.get(name, {}) | (BESIDE.get(key, {}) if name == "jao" else {})
        for value in (field.metadata["low"], field.metadata["high"]):
            problem = instances.build(name, beside | {key: value})
            assert np.isfinite(problem.optimal_value)
            assert np.allclose(problem.P.sum(-1), 1.0, rtol=0, atol=1e-12)
        for value in (np.nan, np.inf, -np.inf, "nan", "much"):
            with pytest.raises(InputError, match=key):
                instances.build(name, {key: value})


def test_the_contrast_of_the_chain_multiplies_the_regret_of_every_policy():
    full, small = (instance("chain", bins=4, horizon=9, contrast=contrast) for contrast in (1.0, 0.2))
    assert np.array_equal(full.P, small.P)
    assert small.R - 0.5 == pytest.approx(0.2 * (full.R - 0.5), abs=1e-12)
    losses = [each.optimum[1][0][:, None] - each.optimum[0][0] for each in (full, small)]
    assert losses[1] == pytest.approx(0.2 * losses[0], abs=1e-12)
    assert small.optimal_value - small.uniform_value == pytest.approx(0.2 * (full.optimal_value - full.uniform_value))


def test_chain_rewards_and_parameters():
    """With every reward law the means are the same; Gaussian rewards take their standard deviation."""
    problem, means = instance("chain"), np.full((8, 2), 0.5)
    means[0, 0], means[7, 1] = 0.6, 0.95
    assert np.allclose(problem.R, means, rtol=0, atol=1e-12)
    centres = (np.arange(8) + 0.5) / 8
    aims = np.stack([centres - 0.1, centres + 0.06], axis=1)
    assert problem.theta_p.reshape(8, 2) * 0.1 + 0.5 == pytest.approx(aims, abs=1e-12)
    for law in ("truncated-exponential", "gaussian"):
        other = instance("chain", reward=law, reward_sd=2.0)
        assert np.allclose(other.R, means, rtol=0, atol=1e-12)
    assert np.allclose(other.model.reward.variance(other.theta_r), 4.0)


# As printed by Osband and Cho et al., and by Ayoub et al.; rows are states, columns next states, action right.
OSBAND = [[0.4, 0.6, 0, 0], [0.05, 0.6, 0.35, 0], [0, 0.05, 0.6, 0.35], [0, 0, 0.4, 0.6]]
AYOUB = [[0.3, 0.7, 0, 0], [0.1, 0.6, 0.3, 0], [0, 0.1, 0.6, 0.3], [0, 0, 0.1, 0.9]]
SWIM = {"osband": OSBAND, "cho": OSBAND, "ayoub": AYOUB}


def riverswim(**values):
    """RiverSwim without its constants, whose search takes half a second."""
    return instances.rebuild("riverswim", values, {})


@pytest.mark.parametrize("kernel", SWIM)
def test_riverswim_is_the_published_one(kernel):
    """The reward at state 1 left is 0.005 in print and in the code of Ayoub et al., whose printed values imply 0.05."""
    printed = np.stack([np.eye(4)[[0, 0, 1, 2]], SWIM[kernel]], axis=1)
    for leak, small in ((0.0, 0.005), (0.04, 0.05)):
        problem = riverswim(kernel=kernel, states=4, leak=leak, **({} if small == 0.005 else {"small": small}))
        assert np.allclose(problem.P, (1 - leak) * printed + leak / 4, rtol=0, atol=1e-12)
        assert np.allclose(problem.R.ravel(), [small, 0, 0, 0, 0, 0, 0, 1], rtol=0, atol=1e-12)
    if kernel == "cho":
        assert riverswim(kernel=kernel, states=4, horizon=12).optimal_value == pytest.approx(2.6627, abs=5e-5)


def test_riverswim_parameters_have_least_norm(rng):
    """Adding a direction in which psi does not vary on the support keeps the law and lengthens theta."""
    problem, S = riverswim(states=5), 5
    theta = problem.theta_p.reshape(S, 2, S - 1)
    for s, a in np.ndindex(S, 2):
        contrasts = np.eye(S)[problem.P[s, a] > 0, 1:]
        _, singular, rows = np.linalg.svd(contrasts - contrasts.mean(0))
        null = rows[(np.pad(singular, (0, S - 1))[: S - 1]) < 1e-12]
        assert np.allclose(null @ theta[s, a], 0.0, rtol=0, atol=1e-12)


def test_a_preset_is_its_family_at_the_published_setting():
    for preset, values in {
        "riverswim-cho-4": {"kernel": "cho", "states": 4, "horizon": 12},
        "riverswim-cho-8": {"kernel": "cho", "states": 8, "horizon": 24},
        "riverswim-ayoub-3": {"kernel": "ayoub", "states": 3, "horizon": 12},
        "riverswim-ayoub-5": {"kernel": "ayoub", "states": 5, "horizon": 20},
        "riverswim-ayoub-4-text": {"kernel": "ayoub", "states": 4, "horizon": 16, "small": 0.05},
        "riverswim-osband-6": {"kernel": "osband", "states": 6, "horizon": 20},
        "riverswim-lee-40": {"kernel": "osband", "states": 40, "horizon": 160, "reward_sd": 0.1},
    }.items():
        assert instances.resolve(preset, {}) == ("riverswim", values)
        assert instances.resolve(preset, {"horizon": 3}) == ("riverswim", values | {"horizon": 3})
    named, spelt = instances.build("riverswim-cho-4", {}), riverswim(kernel="cho", states=4, horizon=12)
    assert (named.name, named.family_name, named.parameters) == ("riverswim-cho-4", "riverswim", spelt.parameters)
    assert named.optimal_value == spelt.optimal_value


def test_an_unknown_instance_is_answered_with_families_and_presets():
    with pytest.raises(InputError, match=r"choose one of chain, .*riverswim-cho-4"):
        instances.build("riverswim-cho-5", {})


def test_modules_of_an_instance_include_its_reward_law():
    """A law that is chosen by a parameter is part of the code that the instance depends on."""
    for values, law in (({}, "bernoulli"), ({"reward": "truncated-exponential"}, "truncated_exponential")):
        assert instances.modules("chain", values) == ["befrl.instances.chain", f"befrl.model.rewards.{law}"]
    assert instances.modules("riverswim-cho-4", {}) == ["befrl.instances.riverswim"]


def test_the_stored_theta_of_another_processor_is_used_to_the_bit(tmp_path):
    """Rounding differs between processors; runs use the stored theta*, in workers too."""
    built = instance("riverswim")
    elsewhere = dataclasses.replace(built, theta_p=np.nextafter(built.theta_p, np.inf))
    instances.save(tmp_path / "r.npz", "r", elsewhere, {})
    name, loaded = instances.load(tmp_path / "r.npz")
    assert name == "r"
    assert np.array_equal(loaded.theta_p, elsewhere.theta_p) and not np.array_equal(loaded.theta_p, built.theta_p)
    spec = RunSpec.of(loaded, "r", "random", {}, 3, range(4))
    alone, together = (run_rows(spec, 2, threads)[0]["regret"] for threads in (1, 2))
    assert np.array_equal(alone, together)
    assert instance_facts.read(tmp_path / "r.npz", "r")["optimal_value"] == elsewhere.optimal_value
    with pytest.raises(InputError, match="it is the file of 'r', not of 's'"):
        instance_facts.read(tmp_path / "r.npz", "s")


def test_build_must_return_an_instance(monkeypatch):
    monkeypatch.setattr(instances.registry.module("jao"), "build", lambda parameters: None)
    with pytest.raises(InputError, match=r"^instance 'jao': build\(parameters\) returns NoneType, it must return"):
        instances.build("jao", {})
