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


def test_a_plan_is_checked_in_every_episode(monkeypatch):
    sound = Agent.plan

    def plan(self, k):
        right = sound(self, k)
        return right if k < 2 else Plan(right.policy * 0.9, right.values)

    monkeypatch.setattr(Agent, "plan", plan)
    with pytest.raises(ContractError, match="probabilities do not sum to one"):
        loop.run(SPEC)


def test_policies_and_trajectories_cannot_be_changed_later(monkeypatch):
    """Regret is computed many episodes later from the policies and the first states."""
    sound, seen = Agent.plan, []

    def plan(self, k):
        table = sound(self, k).policy
        seen.append(table[:])  # a view of another array
        return Plan(seen[-1], np.full((SPEC.rows, SPEC.instance.model.n_anchors), np.nan))

    monkeypatch.setattr(Agent, "plan", plan)
    monkeypatch.setattr(Agent, "update", lambda self, trajectory: seen.extend(vars(trajectory).values()))
    loop.run(SPEC)
    assert len(seen) == 3 * 6
    for array in (*seen, seen[0].base):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


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
