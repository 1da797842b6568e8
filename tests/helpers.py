"""Slow and obvious versions of what the package computes fast, and small problems to compare them on."""

import functools
import itertools

import numpy as np

from befrl import agents, constants, instances, interaction
from befrl.family import FiniteFamily
from befrl.features import Features
from befrl.model import Instance, Model
from befrl.rewards import Gaussian
from befrl.spaces import FiniteSpace

ROOT = 7
# Every family of the catalogue, and one whose (cell, action) share all their parameters.
INSTANCES = [*instances.catalogue.names(), "dense"]


@functools.lru_cache(maxsize=64)
def instance(family, **values):
    """An instance by name; built once for all tests."""
    return dense_instance(**values) if family == "dense" else instances.build(family, values)


def dense_instance(horizon=6):
    """Four states, two actions, p = 2, d = 5: full matrices A_i, full features, a random first state."""
    rng = np.random.default_rng(5)
    phi, A = rng.uniform(-1, 1, (4, 2, 3)), rng.uniform(-1, 1, (5, 2, 3))
    psi = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.7, -0.8]])
    family = FiniteFamily(FiniteSpace(4), psi, np.log([0.1, 0.2, 0.3, 0.4]))
    model = Model(Features.dense(phi, A), family, Gaussian(0.5), B=np.array([0.6, -0.8]))
    theta_p, theta_r = rng.uniform(-1, 1, (2, 5))
    return Instance(
        family_name="dense",
        parameters={"phi": phi, "A": A},
        model=model,
        horizon=horizon,
        theta_p=theta_p,
        theta_r=theta_r,
        start=lambda u: (u * 2).astype(np.int64),
        start_masses=np.array([0.5, 0.5, 0.0, 0.0]),
        constants=constants.compute(model, theta_p, theta_r, np.random.default_rng(0)),
    )


def play(algorithm, problem, track="U", seeds=(0, 1, 2), episodes=8, **values):
    """`interaction.run` with the agent's parameters `values`."""
    parameters = agents.parameters(algorithm, values)
    return interaction.run(problem, algorithm, parameters, track, episodes, list(seeds), ROOT, "test")


def trained(algorithm, problem, track="U", seeds=(0, 1), episodes=5, same_data=False, **values):
    """An agent after some episodes; with `same_data` all seeds learn from the first one's episodes."""
    agent = interaction.make_agent(
        problem, algorithm, agents.parameters(algorithm, values), track, episodes, ROOT, "test", list(seeds)
    )
    for episode in random_episodes(problem, [seeds[0]] * len(seeds) if same_data else seeds, episodes):
        agent.update(episode)
    return agent


def random_episodes(problem, seeds, episodes):
    """Trajectories of the uniformly random agent."""
    actor = interaction.make_agent(
        problem, "random", agents.parameters("random", {}), "U", episodes, ROOT, "test", list(seeds)
    )
    environment = interaction.Environment(problem, ROOT, "test", list(seeds))
    return [environment.rollout(actor, actor.plan(k).policy)[1] for k in range(episodes)]


def optimal(R, P, H):
    """Q* and V* by loops: R (N, A), P (N, A, N) -> lists over h."""
    N, A = R.shape
    V, Q = [[0.0] * N], []
    for _ in range(H):
        q = [[R[x, a] + sum(P[x, a, y] * V[0][y] for y in range(N)) for a in range(A)] for x in range(N)]
        Q.insert(0, q)
        V.insert(0, [max(row) for row in q])
    return np.array(Q), np.array(V)


def value_of(policy, R, P):
    """V_1 of a policy by loops: (H, N) actions or (H, N, A) probabilities -> (N,)."""
    policy = np.asarray(policy)
    N, A = R.shape
    V = np.zeros(N)
    for step in policy[::-1]:
        weights = np.eye(A)[step] if policy.ndim == 2 else step
        V = np.array(
            [
                sum(weights[x, a] * (R[x, a] + sum(P[x, a, y] * V[y] for y in range(N))) for a in range(A))
                for x in range(N)
            ]
        )
    return V


def all_policies(H, N, A):
    """Every deterministic policy, (A^(H N), H, N)."""
    return np.array(list(itertools.product(range(A), repeat=H * N))).reshape(-1, H, N)


def derivative(f, x, step=1e-3):
    """d f / d x along a new last axis, for x (d,): central differences with a Richardson step, error O(step^4)."""

    def central(t):
        return np.stack([(f(x + t * e) - f(x - t * e)) / (2 * t) for e in np.eye(len(x))], axis=-1)

    return (4 * central(step) - central(2 * step)) / 3


def full(blocks):
    """Block-diagonal matrix (d, d) of blocks (blocks, m, m)."""
    count, m, _ = blocks.shape
    matrix = np.zeros((count * m, count * m))
    for i, block in enumerate(blocks):
        matrix[i * m : (i + 1) * m, i * m : (i + 1) * m] = block
    return matrix


def full_U(features, x, a):
    """U(s,a) as a (p, d) matrix."""
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
