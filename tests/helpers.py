"""Slow and simple versions of fast computations of the package, and small problems on which tests compare them."""

import functools
import itertools
from pathlib import Path
from unittest import mock

import numpy as np
from scipy import linalg, special

from befrl import instances
from befrl.experiment import loop
from befrl.experiment.episodes import random_play
from befrl.experiment.run_file import LOGGED, TRACED
from befrl.experiment.spec import RunSpec
from befrl.instances import custom_sin
from befrl.model import constants
from befrl.model.families.base import ContinuousFamily, FiniteFamily
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.kronecker_features import KroneckerFeatures
from befrl.model.model import Model
from befrl.model.rewards import bernoulli, gaussian
from befrl.model.spaces import FiniteSpace, SmoothBox

ROOT = 7
# The keys that a run logs for every row.
LOG = (*LOGGED, *TRACED)
PROJECT = Path(__file__).resolve().parents[1]
# Every family of the registry, and two whose (anchor, action) share all their parameters; `waves` is smooth.
INSTANCES = [*instances.registry.names(), "dense", "waves"]
# Written down, so that nothing is built when tests are collected; `test_instances.py` checks them.
SMOOTH = ["circle", "custom-sin", "lds", "waves"]
CONSTANT = [name for name in INSTANCES if name not in SMOOTH]
FINITE = {"dense", "factored", "grid", "jao", "riverswim", "trap-two"}
CONTINUOUS = set(INSTANCES) - FINITE
# The allowed instances of agents, estimators and planners that do not run on all of them.
WORKS_ON = {
    "orrl-mnl": FINITE,
    "rrl-mnl": FINITE,
    "ucrl-mnl": FINITE,
    "ucrl-mnl-plus": FINITE,
    "ren-ts": CONTINUOUS,
    "smrl": CONTINUOUS,
    "gaussian": {"lds"},
    "score-matching": CONTINUOUS,
    "chebyshev": {"chain", "custom-sin", "jao", "lds", "literal", "trap-one", "trap-zero"},
    "jacobi-anger": {"circle"},
    "interval": {"chain", "jao", "lds", "literal", "trap-one", "trap-zero"},
}


@functools.lru_cache(maxsize=64)
def instance(family, **values):
    """An instance by name; built once for all tests."""
    own = {"dense": dense_instance, "waves": waves_instance}
    return own[family](**values) if family in own else instances.build(family, values)


@functools.lru_cache(maxsize=64)
def light(family, **values):
    """An instance with fewer anchors, for tests of agents that hold on any grid."""
    if family == "circle":
        values = {"knots": 4, "kappa": 4.0} | values
    if family == "custom-sin":
        with mock.patch.object(custom_sin, "ORDER", 3):
            return instances.build(family, values)
    return instance(family, **values)


def _with_constants(**parts):
    model, theta_p, theta_r = parts["model"], parts["theta_p"], parts["theta_r"]
    return Instance(**parts, constants=constants.compute(model, theta_p, theta_r, np.random.default_rng(0)))


def dense_instance(horizon=6):
    """Four states, two actions, p = 2, d = 5: full matrices A_i, full features, a random first state."""
    rng = np.random.default_rng(5)
    phi, A = rng.uniform(-1, 1, (4, 2, 3)), rng.uniform(-1, 1, (5, 2, 3))
    psi = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.7, -0.8]])
    family = FiniteFamily(FiniteSpace(4), psi, np.log([0.1, 0.2, 0.3, 0.4]))
    model = Model(Features.dense(phi, A), family, gaussian.Law(0.5), B=np.array([0.6, -0.8]))
    theta_p, theta_r = rng.uniform(-1, 1, (2, 5))
    parts = {"model": model, "horizon": horizon, "theta_p": theta_p, "theta_r": theta_r}
    parts |= {"start": lambda u: (u * 2).astype(np.int64), "start_masses": np.array([0.5, 0.5, 0.0, 0.0])}
    return _with_constants(family_name="dense", parameters={"phi": phi, "A": A}, **parts)


def waves_instance(horizon=5, cells=3, order=10):
    """[-1, 1] in a few cells, 2 actions, p = 2, d = 4: smooth features, correlated components of psi, full A_i.

    The first state is uniform on the first cell.
    """
    rng = np.random.default_rng(6)
    A = rng.uniform(-1, 1, (4, 2, 3))
    edges = np.linspace(-1, 1, cells + 1)
    space = SmoothBox([edges], order)

    def phi(s):
        s = np.asarray(s)[:, None]
        waves = [np.sin(s + np.array([0.3, -0.8])), np.cos(2 * s + np.array([0.0, 1.1]))]
        return np.stack([np.ones((len(s), 2)), *waves], axis=-1)

    def psi(s):
        return np.stack([np.sin(2 * s), np.cos(3 * s) + s], axis=-1)

    family = ContinuousFamily(space, statistic=psi, log_base_at=lambda s: -np.square(s))
    model = Model(Features.dense(phi(space.nodes), A), family, bernoulli.Law(), B=np.array([1.2, -0.5]), phi=phi)
    theta_p, theta_r = rng.uniform(-1.5, 1.5, (2, 4))
    parts = {"model": model, "horizon": horizon, "theta_p": theta_p, "theta_r": theta_r}
    return _with_constants(family_name="waves", parameters={"A": A}, **parts, **space.uniform(edges[0], edges[1]))


def spec(algorithm, problem, track="U", seeds=(0, 1), episodes=5, **values):
    """A run of the tests, with the agent's parameters `values`."""
    return RunSpec.of(problem, "test", algorithm, values, episodes, seeds, track=track, root_seed=ROOT)


def play(algorithm, problem, track="U", seeds=(0, 1, 2), episodes=8, **values):
    """The log of a run with the agent's parameters `values`."""
    return loop.run(spec(algorithm, problem, track, seeds, episodes, **values))


def trained(algorithm, problem, track="U", seeds=(0, 1), episodes=5, same_data=False, **values):
    """An agent after some episodes; with `same_data` all seeds learn from the first one's episodes."""
    agent = loop.make_agent(spec(algorithm, problem, track, seeds, episodes, **values))
    for episode in random_episodes(problem, [seeds[0]] * len(seeds) if same_data else seeds, episodes):
        agent.update(episode)
    return agent


class Idle:
    """A planner that records the parameters and returns zeros."""

    def __init__(self, planner):
        self.model, self.thetas = planner.model, []

    def plan(self, R, theta_p, horizon):
        self.thetas.append(theta_p.copy())
        n, N, A = R.shape
        return np.zeros((n, 1, N, A)), np.zeros((n, 1, N))


def random_episodes(problem, seeds, episodes):
    """Trajectories of the uniformly random agent."""
    return list(random_play(problem, "test", list(seeds), episodes, ROOT))


def learner(problem, seeds=(0, 1), track="U", **values):
    """A learner before any data, as in an agent with these seeds."""
    return loop.make_agent(spec("greedy", problem, track, seeds, 1, **values)).learner


def samples(data, i):
    """The states, actions, rewards and next states of one seed, over all its episodes in order."""
    keys = ("states", "actions", "rewards", "next_states")
    return [np.concatenate([getattr(episode, key)[i] for episode in data]) for key in keys]


def matrices_at(problem, states, actions):
    """U(s,a) of each sample, (samples, p, d); smooth features are evaluated at the states themselves."""
    features = problem.model.features
    if not problem.model.smooth:
        cells = problem.model.space.cell(states)
        return np.stack([full_U(features, x, a) for x, a in zip(cells, actions, strict=True)])
    there = features.on(problem.model.phi(states))
    return np.stack([full_U(there, t, a) for t, a in enumerate(actions)])


def fine_rule(space, pieces=None, order=12):
    """Nodes and weights of an independent rule: every cell is cut into pieces, with `order` nodes per side in each.

    By default into three, or more where cells are few: a law may be far narrower than a cell.
    """
    if space.discrete:
        return space.nodes, np.ones(len(space.nodes))
    if pieces is None:
        pieces = max(3, 48 // space.n_cells)
    x, w = np.polynomial.legendre.leggauss(order)
    points, weights = [], []
    for edges in [space.edges] if np.ndim(space.edges) == 1 and not isinstance(space.edges, tuple) else space.edges:
        cuts = np.concatenate([np.linspace(a, b, pieces + 1)[:-1] for a, b in itertools.pairwise(edges)] + [edges[-1:]])
        width = np.diff(cuts)[:, None]
        points.append((cuts[:-1, None] + width * (x + 1) / 2).ravel())
        weights.append((width * w / 2).ravel())
    if len(points) == 1:
        return points[0], weights[0]
    grid = np.stack([g.ravel() for g in np.meshgrid(*points, indexing="ij")], axis=-1)
    return grid, functools.reduce(np.multiply.outer, weights).ravel()


class FineLaws:
    """The laws of a problem by sums over the nodes of `fine_rule`: psi (G, p), log weights and base measure."""

    def __init__(self, problem, **rule):
        self.problem, family = problem, problem.model.family
        self.nodes, self.weights = fine_rule(problem.model.space, **rule)
        self.finite = problem.model.space.discrete
        self.psi = family.psi if self.finite else family.statistic(self.nodes)
        self.log_base = family.log_base if self.finite else family.log_base_at(self.nodes)[None, None]

    def log_weights(self, cells=0, actions=0):
        """Log base measure of the nodes at some (cell, action), (..., G)."""
        N, A = self.log_base.shape[:2]
        return self.log_base[np.minimum(cells, N - 1), np.minimum(actions, A - 1)] + np.log(self.weights)

    def moments(self, natural, cells=0, actions=0):
        """Z (...), E psi (..., p) and Cov psi (..., p, p) of natural parameters (..., p)."""
        logits = natural @ self.psi.T + self.log_weights(cells, actions)
        Z = special.logsumexp(logits, axis=-1)
        mass = np.exp(logits - Z[..., None])
        mean = mass @ self.psi
        centred = self.psi - mean[..., None, :]
        return Z, mean, np.swapaxes(centred, -1, -2) @ (mass[..., None] * centred)


class Continuum:
    """The true MDP of a problem on an independent grid, by the Nystroem method.

    Densities are evaluated point by point and normalised by their sum over the grid's nodes; values of policies are
    computed at these nodes, and the first step at the state itself. Two dimensions must be separable, as in `lds`.
    """

    def __init__(self, problem, **rule):
        self.problem, self.laws = problem, FineLaws(problem, **rule)
        self.nodes = self.laws.nodes
        self.cells = problem.model.space.cell(self.nodes)
        self.R, self.P = self.step(self.nodes)

    def natural(self, theta, s):
        model = self.problem.model
        if model.smooth:
            return np.einsum("xaq,pq->xap", model.phi(s), model.features.matrix(theta))
        return model.features.natural(theta[None])[0][model.space.cell(s)]

    def step(self, s):
        """Mean rewards (n, A) and probabilities of the nodes (n, A, G) at states s."""
        model = self.problem.model
        R = model.reward.mean(self.natural(self.problem.theta_r, s) @ model.B)
        cells = model.space.cell(s)[:, None]
        actions = np.arange(model.n_actions)
        logits = self.natural(self.problem.theta_p, s) @ self.laws.psi.T + self.laws.log_weights(cells, actions)
        return R, special.softmax(logits, axis=-1)

    def optimal(self, s, steps=None):
        """V* with the given number of remaining steps, all by default, at states s (n,)."""
        V = np.zeros(len(self.nodes))
        for _ in range((steps or self.problem.horizon) - 1):
            V = (self.R + self.P @ V).max(1)
        R, P = self.step(s)
        return (R + P @ V).max(1)

    def value(self, policy, s):
        """V_1 of a policy on cells, (H, cells) actions or (H, cells, A) probabilities, at states s (n,)."""
        A = self.R.shape[1]
        weights = np.eye(A)[policy] if policy.ndim == 2 else policy
        V = np.zeros(len(self.nodes))
        for step in weights[:0:-1]:
            V = ((self.R + self.P @ V) * step[self.cells]).sum(1)
        R, P = self.step(s)
        return ((R + P @ V) * weights[0][self.problem.model.space.cell(s)]).sum(1)


@functools.lru_cache(maxsize=4)
def continuum(name, **values):
    """Twelve nodes or more for each anchor-sized piece of a cell: kinks of V* within cells cause errors below 1e-6."""
    return Continuum(instance(name, **values), pieces=6, order=4)


@functools.lru_cache(maxsize=16)
def fine_laws(problem_name, **values):
    return FineLaws(instance(problem_name, **values))


def optimal(R, P, H):
    """Q* and V* by loops: R (N, A), P (N, A, N) -> lists over h."""
    N, A = R.shape
    V, Q = [[0.0] * N], []
    for _ in range(H):
        q = [[R[x, a] + np.dot(P[x, a], V[0]) for a in range(A)] for x in range(N)]
        Q.insert(0, q)
        V.insert(0, [max(row) for row in q])
    return np.array(Q), np.array(V)


def value_of(policy, R, P):
    """V_1 of a policy by loops: (H, cells) actions or (H, cells, A) probabilities -> (N,)."""
    policy = np.asarray(policy)
    N, A = R.shape
    per_cell = N // policy.shape[1]
    V = np.zeros(N)
    for step in policy[::-1]:
        weights = np.eye(A)[step] if policy.ndim == 2 else step
        V = np.array(
            [sum(weights[x // per_cell, a] * (R[x, a] + np.dot(P[x, a], V)) for a in range(A)) for x in range(N)]
        )
    return V


def assert_optimal(problem, policy, Q, rtol=0.0, atol=1e-10):
    """The policy (H, cells) takes an action with the largest Q (H, N, A), on average over the cell's own anchors."""
    space = problem.model.space
    means = np.einsum("hcja,j->hca", Q.reshape(len(Q), space.n_cells, space.per_cell, -1), space.cell_shares)
    chosen = np.take_along_axis(means, policy[..., None].astype(int), axis=-1)[..., 0]
    assert np.allclose(chosen, means.max(-1), rtol=rtol, atol=atol)


def all_policies(H, N, A):
    """Every deterministic policy, (A^(H N), H, N)."""
    return np.array(list(itertools.product(range(A), repeat=H * N))).reshape(-1, H, N)


def derivative(f, x, step=1e-3):
    """d f / d x along a new last axis, for x (d,): central differences with a Richardson step, error O(step^4)."""

    def central(t):
        return np.stack([(f(x + t * e) - f(x - t * e)) / (2 * t) for e in np.eye(len(x))], axis=-1)

    return (4 * central(step) - central(2 * step)) / 3


def full(blocks):
    """Block-diagonal matrix of blocks (blocks, m, m)."""
    return linalg.block_diag(*blocks)


def in_family(reachable, blocks, weight):
    """The matrix weight A + sum f f' in the family's coordinates (d, d), from its blocks in those of `mnl.py`."""
    A, E = full(reachable.features.trace), full(reachable.basis)
    assert np.allclose(E.T @ A @ E, np.eye(E.shape[1]), rtol=0, atol=1e-12)
    return weight * A + A @ E @ (full(blocks) - weight * np.eye(E.shape[1])) @ E.T @ A


def full_U(features, x, a):
    """U(s,a) as a (p, d) matrix."""
    if isinstance(features, KroneckerFeatures):
        return np.kron(np.eye(features.p), features.phi[x, a])
    U = np.zeros((features.p, features.n_blocks, features.m))
    U[:, features.block[x, a]] = features.U[x, a]
    return U.reshape(features.p, features.d)


def assert_standard_normal(draws):
    """Draws (m, d) have mean 0 and covariance I within 5 standard errors, entry by entry.

    False alarms: 6e-7 for each of the d (d + 3)/2 entries, 1e-4 for d = 16 and 1e-3 for d = 60; the seeds are fixed.
    """
    m, d = draws.shape
    assert np.all(np.abs(draws.mean(0)) < 5 / np.sqrt(m))
    error = np.abs(draws.T @ draws / m - np.eye(d))
    assert np.all(error < 5 * np.sqrt((1 + np.eye(d)) / m))
