"""Certificates: logged at the first state, rounded up, checked by the contract; runs that stop once certified."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from befrl import agents
from befrl.agents import greedy
from befrl.common.errors import ContractError, InputError
from befrl.experiment import agent_contract, certificates, loop, run_file
from befrl.experiment.agent_contract import Case
from befrl.experiment.run_file import COST, LOGGED, TRACED
from befrl.experiment.spec import RunSpec
from helpers import instance, value_of

PROBLEM = instance("dense")
DELTA = {"certificate_delta": 0.05}


def regrets(plan):
    """V*_1 - V^pi_1 on the anchors, (n, N)."""
    return np.stack([PROBLEM.optimum[1][0] - value_of(policy, PROBLEM.R, PROBLEM.P) for policy in plan.policy])


@pytest.fixture
def toy(monkeypatch):
    """Register the greedy agent with certificates(plan, k) under the name "toy"."""

    def register(of_plan, facts=DELTA):
        class Agent(greedy.Agent):
            certifies = True

            def plan(self, k):
                plan = super().plan(k)
                return replace(plan, certificate=of_plan(plan, k))

            def facts(self):
                return facts

        agents.registry.add("toy", SimpleNamespace(Agent=Agent, Parameters=greedy.Parameters), replace=True)

    monkeypatch.setattr(agents.registry, "added", dict(agents.registry.added))
    return register


def spec(episodes=40, **options):
    return RunSpec.of(PROBLEM, "test", "toy", {}, episodes, range(5), **options)


def test_a_certificate_that_is_the_regret_is_logged_as_the_regret_and_stays_a_bound_when_stored(toy):
    toy(lambda plan, k: regrets(plan))
    log = loop.run(spec())
    assert np.allclose(log["certificate"], log["regret"], rtol=0, atol=1e-12) and log["regret"].max() > 0.1
    stored, H = run_file.rounded(log), PROBLEM.horizon
    assert stored["certificate"].dtype == np.float32 and np.all(stored["certificate"] >= log["certificate"])
    assert np.allclose(stored["certificate"], log["certificate"], rtol=2.0**-22, atol=0)
    again = run_file.rounded(stored)["certificate"]
    assert np.array_equal(again, stored["certificate"])
    assert not certificates.broken(log, H).any() and not certificates.broken(stored, H).any()
    nearest = log | {"certificate": log["certificate"].astype(np.float32)}
    assert certificates.broken(nearest, H).any()  # what rounding to nearest would do


WRONG = {
    "below the exact regret, at the default scale and delta": {"of_plan": lambda plan, k: regrets(plan) / 2},
    "certificate has shape .*, not": {"of_plan": lambda plan, k: regrets(plan)[:, 0]},
    "not a finite number": {"of_plan": lambda plan, k: np.where(k < 5, 1.0, np.nan) * regrets(plan)},
    "has no certificate, and certifies = True": {"of_plan": lambda plan, k: None},
    "facts.. must have certificate_delta": {"of_plan": lambda plan, k: regrets(plan), "facts": {}},
}


@pytest.mark.parametrize("words", WRONG)
def test_the_contract_finds_certificates_that_are_false(toy, words):
    toy(**WRONG[words])
    with pytest.raises(ContractError, match=words):
        agent_contract.certificates_hold(Case("toy", PROBLEM))


def test_the_contract_accepts_the_smallest_certificate(toy):
    toy(lambda plan, k: regrets(plan))
    agent_contract.certificates_hold(Case("toy", PROBLEM))


def test_the_contract_does_not_check_certificates_that_promise_nothing(toy):
    toy(lambda plan, k: regrets(plan) / 2, {"certificate_delta": 1.0})
    agent_contract.certificates_hold(Case("toy", PROBLEM))


def prescribed(toy, table):
    """Certificates (n, K) that do not depend on the first state."""
    toy(lambda plan, k: np.repeat(table[:, k : k + 1], plan.values.shape[1], axis=1))


def test_a_run_stops_at_the_first_episode_in_which_all_seeds_are_certified(toy, rng):
    """Not where each has been once; the log is the beginning of that of the whole run."""
    table = rng.random((5, 40))
    table[np.arange(10) % 5, np.arange(10)] = 0.9  # one seed in turn
    prescribed(toy, table)
    whole, run_spec = loop.run(spec()), spec(until_certified=0.6)
    first = int(np.flatnonzero((table <= 0.6).all(0))[0]) + 1
    each = ((table <= 0.6).argmax(1) + 1).tolist()
    assert max(each) < first < 40
    log = loop.run(run_spec)
    for key in (*LOGGED, *TRACED):  # marks are all episodes of so short a run
        assert log[key].shape == (5, first) and log[key].tobytes() == whole[key][:, :first].tobytes()
    assert all(log[key].shape == (first,) for key in COST) and np.isfinite(log["error_p"]).all()
    about = certificates.stopping(run_spec, {"certificate": log["certificate"][None]}, seconds=2.0)
    assert about["episodes"] == first and about["steps_per_second"] == 5 * first * PROBLEM.horizon / 2
    stop = about["until_certified"]
    assert (stop["reached"], stop["first_episodes"], stop["planned_episodes"]) == (True, each, 40)
    assert len(run_spec.groups(2)) == 1  # all seeds together


def test_a_run_that_is_never_certified_says_how_far_it_came(toy, rng):
    table = 1 + rng.random((5, 40))
    table[2, 7] = 0.5
    prescribed(toy, table)
    run_spec = spec(until_certified=0.6)
    log = loop.run(run_spec)
    stop = certificates.stopping(run_spec, {"certificate": log["certificate"][None]}, 1.0)["until_certified"]
    assert log["regret"].shape == (5, 40) and not stop["reached"]
    assert stop["first_episodes"] == [None, None, 8, None, None] and stop["smallest"] == table.max(0).min()


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), True, "0.5"])
def test_thresholds_are_positive_numbers(value):
    with pytest.raises(InputError, match=r"until_certified = .* must be a positive number"):
        RunSpec.of(PROBLEM, "test", "orlc", {}, 5, [0], until_certified=value)


def test_only_one_setting_of_an_agent_with_certificates_can_be_certified():
    with pytest.raises(InputError, match=r"agent 'greedy' gives no certificates; those that do: .*orlc"):
        RunSpec.of(PROBLEM, "test", "greedy", {}, 5, [0], until_certified=1)
    with pytest.raises(InputError, match="one setting of the agent, and there are 2"):
        RunSpec.of(PROBLEM, "test", "orlc", [{}, {"scale": 0.5}], 5, [0], until_certified=1)


def test_smaller_constants_and_misspecified_instances_promise_nothing():
    for values, delta in (({"delta": 0.2}, 0.2), ({"scale": 2.0}, 0.05), ({"scale": 0.5}, 1.0)):
        facts = loop.make_agent(RunSpec.of(PROBLEM, "test", "orlc", values, 5, [0])).facts()
        assert facts["certificate_delta"] == [delta]
    assert certificates.failure_rate(DELTA, "exact") == 0.05 and certificates.failure_rate(DELTA, "misspecified") == 1
