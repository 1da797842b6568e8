"""Bad rounds: probabilities against a sum over all trajectories, and the penalty above which there are none."""

import itertools

import numpy as np
import pytest

from befrl.experiment import bad_rounds
from befrl.experiment.episodes import play
from befrl.experiment.spec import RunSpec
from helpers import instance


def episodes(problem, **setting):
    return play(RunSpec.of(problem, "tiny", "bef-rlsvi", [setting], 3, range(4), root_seed=1))


def over_all_paths(kernel, policy, bad, KL, start):
    """P(some (s_h, a_h) is bad) and E sum_h KL, by a sum over all paths from `start` in one row."""
    chance = divergence = 0.0
    H, N = policy.shape
    for rest in itertools.product(range(N), repeat=H):
        path = (start, *rest)
        actions = [policy[h, path[h]] for h in range(H)]
        p = np.prod([kernel[path[h], actions[h], path[h + 1]] for h in range(H)])
        chance += p * any(bad[path[h], actions[h]] for h in range(H))
        divergence += p * sum(KL[path[h], actions[h]] for h in range(H))
    return chance, divergence


@pytest.mark.parametrize(("family", "values"), [("riverswim", {"states": 3, "horizon": 3}), ("dense", {"horizon": 3})])
def test_chances_and_divergences_are_those_of_all_trajectories(family, values):
    problem, seen = instance(family, **values), set()
    for agent, plan, trajectory in episodes(problem, eta=0.3 * bad_rounds.harmless_eta(problem)):
        bad = bad_rounds.squared_norms(problem, agent.learner) >= 1.0
        played, imagined, divergence = bad_rounds.chances(problem, agent.learner, plan.policy, bad)
        model = problem.model.kernel(agent.learner.theta_p)
        for row, start in enumerate(trajectory.cells[:, 0]):
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = problem.P * np.log(problem.P / model[row])
            KL, policy = np.where(problem.P > 0, ratio, 0.0).sum(-1), plan.policy[row].astype(int)
            expected = over_all_paths(problem.P, policy, bad[row], KL, start)
            assert (played[row, start], divergence[row, start]) == pytest.approx(expected, rel=1e-9, abs=1e-12)
            expected = over_all_paths(model[row], policy, bad[row], KL, start)[0]
            assert imagined[row, start] == pytest.approx(expected, rel=1e-9, abs=1e-12)
            seen.add(round(expected, 6))
    assert len(seen) > 1 and max(seen) > 0


@pytest.mark.parametrize("family", ["chain", "dense"])
def test_above_a_certain_penalty_no_round_is_bad(family):
    problem = instance(family, horizon=4)
    for share, expected in ((1.001, False), (0.999, True)):
        agent, _, _ = next(episodes(problem, eta=share * bad_rounds.harmless_eta(problem)))
        assert (bad_rounds.squared_norms(problem, agent.learner) >= 1.0).any() == expected


def test_the_squared_norms_are_the_traces_of_the_definition():
    problem = instance("dense", horizon=4)
    features, eta = problem.model.features, 0.7
    for agent, _, _ in episodes(problem, eta=eta):
        counts, U = agent.learner.data.counts, features.U
        for row, squares in enumerate(bad_rounds.squared_norms(problem, agent.learner)):
            prior = features.trace[0] * eta / problem.constants["alpha_r"]
            G = prior + np.einsum("xa,xapi,xapj->ij", counts[row], U, U)
            expected = np.einsum("xapi,ij,xapj->xa", U, np.linalg.inv(G), U)
            np.testing.assert_allclose(squares, expected, rtol=1e-9)
