"""A run ends with a sentence if a plan cannot be played, in any episode; a file with negative regret is not read."""

import numpy as np
import pytest

from befrl import instances
from befrl.agents.base import Plan
from befrl.agents.random import Agent
from befrl.common.errors import ContractError, InputError
from befrl.experiment import loop, run_file, runs
from befrl.experiment.spec import RunSpec

SPEC = RunSpec.of(instances.build("chain", {"bins": 3, "horizon": 4}), "tiny", "random", {}, 3, (0, 1))


def probabilities(n, H, C, A, each):
    return np.full((n, H, C, A), each)


def actions(n, H, C, A, each):
    table = np.zeros((n, H, C), dtype=int)
    table[-1, -1, -1] = each
    return table


@pytest.mark.parametrize(
    ("policy", "each", "sentence"),
    [
        (probabilities, 0.9, "probabilities do not sum to one"),
        (probabilities, np.nan, "negative probabilities"),
        (actions, -1, "actions that are not from 0 to 1"),
        (actions, 7, "actions that are not from 0 to 1"),
        (lambda *sizes: actions(*sizes) + 0.0, 1, "whole numbers"),
        (lambda *sizes: actions(*sizes)[:, 1:], 1, "has shape"),
    ],
)
def test_a_plan_that_cannot_be_played_ends_the_run_in_any_episode(monkeypatch, policy, each, sentence):
    model, sound = SPEC.instance.model, Agent.plan

    def plan(self, k):
        right = sound(self, k)
        wrong = policy(SPEC.rows, SPEC.instance.horizon, model.n_cells, model.n_actions, each)
        return right if k < 2 else Plan(wrong, right.values)

    monkeypatch.setattr(Agent, "plan", plan)
    with pytest.raises(ContractError, match=sentence):
        loop.run(SPEC)


def test_negative_regret_is_rejected_by_the_loop_and_by_the_reader(monkeypatch, tmp_path):
    log, seconds = runs.run_rows(SPEC, 10)
    meta = runs.describe(SPEC, ["random"], seconds)
    path = tmp_path / "run.npz"
    run_file.save(path, log, meta)
    run_file.load(path)
    log["regret"][0, 1, 2] = -1e-6
    run_file.save(path, log, meta)
    with pytest.raises(InputError, match=r"a regret is -1e-06, and none can be negative"):
        run_file.load(path)
    monkeypatch.setattr(loop.Regret, "flush", lambda self: self.values.fill(-1e-6))
    with pytest.raises(ContractError, match="none can be negative"):
        loop.run(SPEC)
