"""More seeds and episodes, merged runs and trajectories: the bits of one long run, and contradictions rejected."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import befrl
from befrl.agents.base import BaseAgent, Plan
from befrl.common.parameters import number
from befrl.experiment import run_file


@pytest.fixture(scope="module")
def mdp():
    return befrl.instance("chain", bins=3, horizon=4)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch, unplugged):
    monkeypatch.chdir(tmp_path)


def same(runs, others):
    keys = (*run_file.LOGGED, *run_file.TRACED)
    facts = ("seeds", "episodes", "settings", "facts", "identity", "track")
    return all(runs.log[key].tobytes() == others.log[key].tobytes() for key in keys) and all(
        runs.meta[key] == others.meta[key] for key in facts
    )


@pytest.mark.parametrize("agent", ["bef-rlsvi", "psrl"])
def test_runs_with_more_seeds_are_one_run(mdp, agent):
    """From memory, from a file in any order, and merged; seeds that are there are not played again."""
    options = {"episodes": 15, "track": "K", "root_seed": 5}
    whole, some = (befrl.run(mdp, agent, seeds=seeds, **options) for seeds in ("2-9", [9, 4, 5]))
    extended = some.extend(seeds="2-9", cores=2, lockstep=2)
    assert same(extended, whole) and len(some) == 3 and extended.extend(seeds=[3]) is extended
    some.save("some.npz")
    assert same(befrl.read("some.npz")[agent].extend(seeds="2-9"), whole)
    rest = befrl.run(mdp, agent, seeds=[2, 3, 5, 6, 7, 8], **options)
    assert same(rest.merge(some), whole) and same(some.merge(rest, whole), whole)
    assert rest.merge(some).seconds == pytest.approx(rest.seconds + some.seconds)
    parts = whole[:3], whole[3], whole[-4:]
    assert [each.seeds for each in parts] == [[2, 3, 4], [5], [6, 7, 8, 9]]
    assert same(parts[2].merge(*parts[:2]), whole) and [each.seeds for each in parts[0]] == [[2], [3], [4]]
    compared = befrl.compare(mdp, [agent], seeds=2, **options).extend(seeds=4)
    assert same(compared.runs[agent], befrl.run(mdp, agent, seeds=4, **options)) and len(compared.table()) == 4


class Halfway(BaseAgent):
    """Explores in the first half of the episodes: it uses their number, but no fact says so."""

    @dataclass(frozen=True)
    class Parameters:
        action: float = number(1.0, 0.0, 1.0, "the action after the first half")

    def plan(self, k):
        n, H, model = self.problem.n, self.problem.horizon, self.problem.model
        action = 0 if k < self.problem.episodes // 2 else int(self.parameters.action[0])
        return Plan(np.full((n, H, model.n_cells), action), np.full((n, model.n_anchors), np.nan))


def test_more_episodes_need_an_agent_that_does_not_know_their_number(mdp):
    short = befrl.run(mdp, "psrl", episodes=10, seeds=3)
    assert same(short.extend(episodes=25, seeds=4), befrl.run(mdp, "psrl", episodes=25, seeds=4))
    for agent, message in {
        "ucbvi": "'ucbvi' would have another bonus: ",
        Halfway: "seed 0 of 'Halfway' has different",
    }.items():
        with pytest.raises(befrl.InputError, match=message) as error:
            befrl.run(mdp, agent, episodes=10, seeds=3).extend(episodes=25)
        assert "the agent uses the number of episodes, play 25 anew with befrl.run" in str(error.value)
    with pytest.raises(befrl.InputError, match="episodes = 9 is not allowed: it must be a whole number from 10"):
        short.extend(episodes=9)


def test_contradictions_are_rejected(mdp):
    runs, changed = (befrl.run(mdp, "psrl", episodes=6, seeds=3) for _ in range(2))
    changed.log["regret"] = changed.log["regret"] + 1e-15
    options = {"episodes": 6, "seeds": "3-5"}
    edited = replace(mdp, theta_p=mdp.theta_p * 1.001)
    for other, message in {
        befrl.run(edited, "psrl", **options): "two different instances named 'chain'",
        befrl.run(mdp, "psrl", scale=2, **options): "differ in settings: a label means one setting",
        befrl.run(mdp, "psrl", track="K", **options): "differ in track",
        befrl.run(mdp, "psrl", root_seed=3, **options): "differ in root_seed",
        befrl.run(mdp, "greedy", **options): "differ in algorithm",
        changed: "seed 0 of 'psrl' has different bits in two runs: one of them was made by other code",
        3: "merge takes Runs",
    }.items():
        with pytest.raises(befrl.InputError, match=message):
            runs.merge(other)
    one, two = (befrl.Runs(runs.log, runs.meta | {"code": code}) for code in "ab")
    with pytest.raises(befrl.InputError, match="runs of 'psrl' were made by different code"):
        one.merge(two)
    edited_runs = befrl.run(edited, "psrl", **options)
    edited_runs.save("edited.npz")
    with pytest.raises(befrl.InputError, match=r"cannot be played again here: .* two different instances"):
        befrl.read("edited.npz")["psrl"].extend(seeds=9)
    assert len(edited_runs.extend(seeds=9)) == 9  # the instance is still known
    with pytest.raises(befrl.InputError, match="runs of 'psrl' and 'greedy' differ in episodes"):
        befrl.compare(mdp, ["greedy", runs], episodes=7, seeds=3)
    mine = befrl.run(mdp, Halfway, episodes=6, seeds=2)

    class Other(Halfway):
        def plan(self, k):
            return super().plan(k + 1)

    befrl.run(mdp, Other, label="Halfway", episodes=6, seeds=2)
    with pytest.raises(befrl.InputError, match="the code or the processor is not that of these runs"):
        mine.extend(seeds=3)


def test_trajectories_are_those_of_the_runs(mdp):
    """Rewards are drawn at the states, next states follow, and the policies have the regret that was logged."""
    runs = befrl.run(mdp, "psrl", episodes=5, seeds=4)
    found = runs[1:3].trajectories()
    assert {key: value.shape for key, value in found.items()} == {
        "states": (2, 5, 4), "actions": (2, 5, 4), "rewards": (2, 5, 4), "policies": (2, 5, 4, 3)
    }  # fmt: skip
    cells = mdp.model.space.cell(found["states"])
    assert np.array_equal(np.take_along_axis(found["policies"], cells[..., None], 3)[..., 0], found["actions"])
    steps, start = np.arange(3), cells[:, :, 0]
    for i, k in np.ndindex(2, 5):
        value = np.zeros(3)
        for h in reversed(range(4)):
            action = found["policies"][i, k, h]
            value = mdp.R[steps, action] + mdp.P[steps, action] @ value
        assert mdp.optimum[1][0][start[i, k]] - value[start[i, k]] == pytest.approx(runs.regret[1 + i, k], abs=1e-12)
    random = befrl.run(mdp, "random", episodes=2, seeds=2).trajectories()
    assert random["policies"].shape == (2, 2, 4, 3, 2) and np.allclose(random["policies"], 0.5)
    assert np.array_equal(
        random["states"][:, 0, 0], befrl.run(mdp, "oracle", episodes=2, seeds=2).trajectories()["states"][:, 0, 0]
    )
    smooth = befrl.run("lds", "greedy", episodes=2, seeds=2).trajectories()
    assert smooth["states"].dtype == float and smooth["states"].shape[:2] == (2, 2)


def test_runs_that_ended_when_certified_are_played_again_but_not_extended():
    """The agent is told the planned number of episodes, not the one at which the run ended."""
    mdp = befrl.instance("riverswim", states=3, horizon=3)
    befrl.run(mdp, "orlc", episodes=3000, seeds=4, until_certified=2.5).save("orlc.npz")
    runs = befrl.read("orlc.npz")["orlc"]
    found, plain = runs.trajectories(), befrl.run(mdp, "orlc", episodes=runs.meta["episodes"], seeds="4-5")
    assert found["states"].shape[:2] == runs.regret.shape and runs.regret.shape[1] < 3000
    assert same(runs[:], runs) and runs[:].meta == runs.meta
    other = "might have ended later with others: play them anew with befrl.run"
    left_out = "'orlc' cannot be played again here: they ended when other seeds were certified, too"
    for call, message in {
        lambda: runs.extend(seeds=6): other,
        lambda: runs.extend(episodes=3000): other,
        lambda: runs[:2].merge(runs[2:]): other,
        lambda: plain.merge(runs): other,
        runs[:2].trajectories: left_out,
    }.items():
        with pytest.raises(befrl.InputError, match=message):
            call()


def test_a_file_names_the_code_that_played_the_runs(mdp, monkeypatch):
    """And not the code that saves them; runs of two versions of the code have none in common."""
    runs = befrl.run(mdp, "psrl", episodes=4, seeds=2)
    monkeypatch.setattr("befrl.study.provenance.code_hash", lambda *modules: "later")
    runs.save("runs.npz")
    bare = {key: value for key, value in runs.meta.items() if key not in ("code", "versions")}
    befrl.Runs(runs.log, bare).save("bare.npz")
    read = [befrl.read(f"{name}.npz")["psrl"].meta for name in ("runs", "bare")]
    assert len(read[0]["code"]) == 16 and read[0]["versions"] == runs.meta["versions"]
    assert not read[1].keys() & {"code", "versions"}
    extended = runs.extend(seeds=3)
    assert len(extended) == 3 and "code" not in extended.meta and runs.extend(episodes=5).meta["code"] == "later"
