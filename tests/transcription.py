"""Least-squares value iteration as its papers print it: every sample of the history is visited, one at a time."""

import numpy as np

from befrl.agents.shared.regression import LinearAgent, OneHot
from befrl.experiment import loop
from helpers import ROOT, spec


def features(agent, i):
    """x(s,a) as a function of one state, its cell and an action; and the table X (S, A, D) of the points."""
    regression, model = agent.regression, agent.problem.model
    A = model.n_actions
    if isinstance(regression, OneHot):
        X = np.eye(model.n_cells * A).reshape(model.n_cells, A, -1)
        return (lambda s, cell, a: X[cell, a]), X

    def x_of(phi):
        angles = [sum(phi[q] * w[q] for q in range(len(phi))) for w in regression.omega[i].T]
        return np.array([np.cos(t) for t in angles] + [np.sin(t) for t in angles]) / np.sqrt(len(angles))

    def x(s, cell, a):
        return x_of(model.phi(np.asarray(s)[None])[0, a] if model.smooth else np.eye(model.n_cells * A)[cell * A + a])

    anchors = model.space.nodes if model.smooth else np.arange(model.n_cells)
    return x, np.array([[x(s, cell, a) for a in range(A)] for cell, s in enumerate(anchors)])


def reader(agent, s):
    """e(s): the weights with which a function on the points is read at one state."""
    space = agent.problem.model.space
    cell = int(space.cell(np.asarray(s)[None])[0])
    if isinstance(agent.regression, OneHot):
        return np.eye(space.n_cells)[cell]
    e = np.zeros((space.n_cells, space.per_cell))
    e[cell] = space.interpolation(np.asarray(s)[None])[0] if space.per_cell > 1 else 1.0
    return e.ravel()


def regress(agent, episodes, i, h, V):
    """Lambda_h and Lambda_h^-1 sum x (r + V(s')) of seed i; in track K the targets are V(s')."""
    x_of, _ = features(agent, i)
    steps = range(agent.problem.horizon) if agent.parameters.share == "steps" else [h]
    Lambda = agent.parameters.lam[i] * np.eye(agent.regression.D)
    total = np.zeros(agent.regression.D)
    for t in episodes:
        for g in steps:
            x = x_of(t.states[i, g], t.cells[i, g], t.actions[i, g])
            Lambda += np.outer(x, x)
            reward = t.rewards[i, g] if agent.regression.R is None else 0.0
            total += x * (reward + reader(agent, t.next_states[i, g]) @ V)
    return Lambda, np.linalg.solve(Lambda, total)


def plan(agent, episodes, i, value):
    """Q (H, S, A) of seed i with Q_h = value(h, x'w, |x|_{Lambda^-1})."""
    _, X = features(agent, i)
    R = 0.0 if agent.regression.R is None else agent.regression.R
    V, Q = np.zeros(len(X)), []
    for h in reversed(range(agent.problem.horizon)):
        Lambda, w = regress(agent, episodes, i, h, V)
        width = np.sqrt(np.einsum("xad,de,xae->xa", X, np.linalg.inv(Lambda), X))
        Q.insert(0, value(h, R + X @ w, width))
        V = Q[0].max(1)
    return np.array(Q)


def assert_plan_is(agent, plan, Q, i, atol=1e-9):
    """The agent's values are those of Q (H, S, A), and its actions the best of Q on the mean of a cell's points."""
    space = agent.problem.model.space
    V = Q[0].max(1)
    if len(V) < space.n_anchors:
        V = np.repeat(V, space.per_cell)
    assert np.allclose(plan.values[i], V, rtol=0, atol=atol)
    if Q.shape[1] > space.n_cells:
        cells = Q.reshape(len(Q), space.n_cells, space.per_cell, -1)
        Q = np.einsum("hcja,j->hca", cells, space.cell_shares)
    chosen = np.take_along_axis(Q, plan.policy[i][..., None].astype(int), axis=-1)[..., 0]
    assert np.allclose(chosen, Q.max(-1), rtol=0, atol=atol)


def played(algorithm, problem, track="U", seeds=(0, 1), episodes=6, **values):
    """An agent that has played some episodes, its plans, and the trajectories that it has learned from."""
    agent = loop.make_agent(spec(algorithm, problem, track, list(seeds), episodes, **values))
    environment = loop.Environment(problem, ROOT, "test", list(seeds))
    plans, trajectories = [], []
    for k in range(episodes):
        plans.append(agent.plan(k))
        trajectories.append(environment.rollout(agent, plans[-1].policy))
        agent.update(trajectories[-1])
    return agent, plans, trajectories


def spy_on_values(monkeypatch):
    """The Q (n, S, A) of every step that a linear agent plans with, latest first: [h = H - 1, ..., 0]."""
    seen, original = [], LinearAgent.value_iteration

    def value_iteration(agent, value):
        def kept(h, V):
            seen.append(np.array(value(h, V)))
            return seen[-1]

        return original(agent, kept)

    monkeypatch.setattr(LinearAgent, "value_iteration", value_iteration)
    return seen
