"""Densities of the next state against closed forms, at pairs that were visited, estimated by maximum likelihood."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from befrl.analysis.components import densities
from helpers import ROOT, FineLaws, full, instance, matrices_at, random_episodes, samples

SETTINGS = {"circle": {"knots": 4, "kappa": 3.0}, "chain": {"bins": 4}, "custom-sin": {}, "literal": {"bins": 4}}


def problem(family, **values):
    return instance(family, horizon=8, **SETTINGS.get(family, {}), **values)


def curves(family, transitions=200, **values):
    """(problem, one data frame for each (s, a))."""
    found = problem(family, **values)
    table = pd.DataFrame(densities.study("test", found, ROOT, transitions)["points"])
    return found, [part for _, part in table.groupby("curve")]


@pytest.mark.parametrize("family", [*SETTINGS, "lds", "lds-2d"])
def test_a_density_has_mass_one(family):
    _, parts = curves("lds", dimension=2) if family == "lds-2d" else curves(family)
    assert len(parts) == 3
    # The trapezoid's error is of order h^2, h being 1/240 of the box. In two dimensions what is shown of the box ends
    # 2.7 standard deviations from the outermost mean.
    one = pytest.approx(1.0, abs=4e-3 if family == "lds-2d" else 2e-3)
    for part in parts:
        assert set(part["kind"]) == {"density"}
        for p in (part["true"], part["estimated"]):
            assert np.all(p >= 0) and np.trapezoid(p, part["next"]) == one


@pytest.mark.parametrize("dimension", [1, 2])
def test_the_linear_system_has_normal_densities(dimension):
    """s' = pull x + force(a) + N(0, sigma^2), of which the first coordinate is shown."""
    found, parts = curves("lds", dimension=dimension)
    pull, force, bound, sigma = (found.parameters[key] for key in ("pull", "force", "bound", "sigma"))
    forces = [-force, 0.0, force] if dimension == 1 else [0.0, force, 0.0]
    for part in parts:
        mean = pull * np.clip(part["state"].iloc[0], -bound, bound) + forces[part["action"].iloc[0]]
        assert np.allclose(part["true"], stats.norm.pdf(part["next"], mean, sigma), rtol=1e-9, atol=1e-12)


def test_the_chain_has_truncated_normal_densities_true_and_estimated():
    found, parts = curves("chain", transitions=200)
    _, theta = densities.estimate("test", found, ROOT, 25)
    sigma = found.parameters["sigma"]
    for part in parts:
        state, action = part["state"].iloc[0], part["action"].iloc[0]
        true = state + (-found.parameters["left"], found.parameters["right"])[action]
        # theta = (aim - 1/2)/sigma for one-hot (cell, action).
        for column, aim in (("true", true), ("estimated", 0.5 + sigma * theta[2 * int(4 * state) + action])):
            law = stats.truncnorm((0 - aim) / sigma, (1 - aim) / sigma, loc=aim, scale=sigma)
            assert np.allclose(part[column], law.pdf(part["next"]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("family", ["riverswim", "jao", "factored"])
def test_probabilities_are_those_of_the_kernel(family):
    found, parts = curves(family)
    for part in parts:
        assert set(part["kind"]) == {"probability"} and list(part["next"]) == list(range(found.model.n_cells))
        state, action = int(part["state"].iloc[0]), part["action"].iloc[0]
        assert part["true"].to_numpy() == pytest.approx(found.P[state, action], abs=1e-14)
        assert part["estimated"].sum() == pytest.approx(1.0)
        # The supports are part of the family: what is impossible is known to be so.
        assert np.array_equal(part["estimated"] == 0, found.P[state, action] == 0)


@pytest.mark.parametrize("family", ["chain", "riverswim", "lds", "circle"])
def test_the_estimate_solves_the_likelihood_equation(family):
    """sum over the transitions of random play of U'(psi - E_theta psi) = A theta, by sums over nodes of its own."""
    found, episodes = problem(family), 25
    data, theta = densities.estimate("test", found, ROOT, episodes)
    states, actions, _, following = samples(random_episodes(found, [0], episodes), 0)
    assert data.counts.sum() == pytest.approx(len(states)) and len(states) == episodes * found.horizon
    U, laws = matrices_at(found, states, actions), FineLaws(found)
    cells = found.model.space.cell(states)
    mean = np.stack([laws.moments(u @ theta, c, a)[1] for u, c, a in zip(U, cells, actions, strict=True)])
    score = np.einsum("tpd,tp->d", U, found.model.family.statistic(following) - mean)
    penalty = found.model.features.plus_trace(np.zeros_like(found.model.features.design(data.counts)), 1.0)
    # Where features vary within cells statistics are interpolated between the anchors.
    assert np.allclose(score, full(penalty[0]) @ theta, atol=1e-2 if found.model.smooth else 1e-6)
    assert np.abs(score).max() > 0.1


def test_transitions_are_rounded_up_to_whole_episodes():
    for given, expected in ((8, 8), (9, 16), (1, 8)):
        assert {size for part in curves("riverswim", given)[1] for size in part["transitions"]} == {expected}


def test_the_most_visited_pair_of_each_third_of_the_visited_anchors_is_shown():
    counts = np.zeros((8, 2))
    # Visited anchors 1, 2 | 4, 5 | 6; anchors 0, 3 and 7 are not.
    counts[1], counts[2], counts[4], counts[5], counts[6] = (5, 1), (0, 6), (2, 2), (3, 9), (0.5, 0.25)
    assert densities.places(counts) == [(2, 1), (5, 1), (6, 0)]
    for anchors, shown in ((5, [(1, 0), (2, 1), (4, 0)]), (3, [(1, 0), (2, 1)]), (2, [(1, 0)])):
        assert densities.places(counts[:anchors]) == shown


@pytest.mark.parametrize("family", ["chain", "lds", "riverswim"])
def test_pairs_that_are_shown_were_visited(family):
    found, parts = curves(family)
    states, actions, _, _ = samples(random_episodes(found, [0], 25), 0)
    cells = found.model.space.cell(states)
    for part in parts:
        here = found.model.space.cell(part["state"].iloc[:1].to_numpy().astype(states.dtype))[0]
        visits = ((cells == here) & (actions == part["action"].iloc[0])).sum()
        assert visits > 0
        assert found.model.smooth or part["visits"].iloc[0] == visits
    shown = [part["state"].iloc[0] for part in parts]
    assert shown == sorted(set(shown))
