"""Tuning from Python and the command line: the study's choices, to the bit, and tuned settings in comparisons."""

import json
import shutil

import pandas as pd
import pytest

import befrl
from befrl import cli
from befrl.agents.bef_rlsvi import Agent as BefRlsvi
from helpers import PROJECT

SMOKE = PROJECT / "tests" / "reference" / "smoke"
CASE = SMOKE / "regret" / "chain-3_U"
# The case of config/smoke.yaml.
RANGES = {"x": [0.1, 10], "eta": [0.1, 10]}
PROCEDURE = {"configurations": 4, "refined": 3, "seeds": [2, 4], "kept": [3]}


@pytest.fixture(scope="module")
def mdp():
    return befrl.instance("chain", name="chain-3", bins=3, horizon=6)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch, unplugged):
    monkeypatch.chdir(tmp_path)


def test_tuning_chooses_what_the_study_chose(mdp):
    """Every number of the committed table of tuning, for the agent by name and for a class, on any number of cores."""
    table = befrl.read(CASE / "tuning.csv")
    theirs = table[table["agent"] == "bef-rlsvi"].fillna("").set_index("configuration")
    for agent, cores in (("bef-rlsvi", 1), (type("Mine", (BefRlsvi,), {}), 2)):
        options = {"episodes": 40, "procedure": PROCEDURE, "cores": cores, "lockstep": 5}
        found = befrl.tune(mdp, agent, RANGES, **options)
        assert found.values == {"x": 0.464, "eta": 0.464} and found.at_edge == "" and found.agent is agent
        ours = found.table.set_index("configuration")
        assert (
            ours[["setting", "rung", "seeds", "rank", "chosen"]]
            == theirs.drop(columns=["mean", "first_mean"])[["setting", "rung", "seeds", "rank", "chosen"]]
        ).all(axis=None)
        assert ours[["mean", "first_mean"]].to_numpy() == pytest.approx(theirs[["mean", "first_mean"]].to_numpy())
        assert set(found.table.attrs["meanings"]) == set(found.table.columns)
    assert found.label == "Mine" and repr(found) == "Tuned 'Mine': x=0.464 eta=0.464, the best of 7 configurations"


def test_tuned_settings_of_a_study_play_as_in_the_study(mdp):
    """The study's mean regret on its evaluation seeds; the instance is found by its values, whatever its name."""
    summary = befrl.read(CASE / "summary.csv").set_index("variant")
    options = {"episodes": 40, "seeds": "1000-1003", "results": SMOKE}
    compared = befrl.compare(mdp, ["bef-rlsvi@tuned", "lsvi-ucb-shared@tuned", "bef-rlsvi"], **options)
    table = compared.table().set_index("agent")
    for label in ("bef-rlsvi@tuned", "lsvi-ucb-shared@tuned", "bef-rlsvi", "greedy"):
        assert table["mean"][label] == pytest.approx(summary["mean"][label], rel=1e-9)
    assert table["setting"]["lsvi-ucb-shared@tuned"] == summary["setting"]["lsvi-ucb-shared@tuned"]
    found = befrl.tuned(befrl.instance("chain", bins=3, horizon=6), results=SMOKE)
    assert set(found) == {"bef-rlsvi", "lsvi-ucb-shared"} and len(found["bef-rlsvi"].table) == 7
    with pytest.raises(befrl.InputError, match="tuning may have used those below 1000"):
        compared.extend(seeds=30)
    again = befrl.compare(mdp, {"a": found["bef-rlsvi"], "b": ("bef-rlsvi@tuned", {"x": 5})}, **options)
    assert again.runs["a"].regret.tobytes() == compared.runs["bef-rlsvi@tuned"].regret.tobytes()
    assert again.runs["b"].meta["settings"][0]["x"] == 5 and again.runs["b"].meta["settings"][0]["eta"] == 0.464


def test_a_tuned_setting_can_be_that_of_the_defaults(mdp, tmp_path):
    """Its cell in the table is empty, and so is that of the parameters at an edge."""
    results = shutil.copytree(SMOKE, tmp_path / "results")
    path = results / "regret" / "chain-3_U" / "summary.csv"
    pd.read_csv(path).assign(setting="", at_edge="").to_csv(path, index=False)
    found = befrl.tuned(mdp, results=results)["bef-rlsvi"]
    assert (found.values, found.at_edge) == ({}, "") and repr(found).startswith("Tuned 'bef-rlsvi': the defaults, the")


def test_befrl_has_tuned_settings_of_its_own_study():
    found = befrl.tuned("jao", "K")
    assert {"bef-rlsvi", "exp-psrl", "greedy"} <= set(found) and len(found["psrl"].table) == 36


def test_the_verb_prints_the_same_choice_and_how_to_use_it(capsys):
    words = "tune chain --set bins=3 horizon=6 --agent bef-rlsvi:clip=range --ranges x=[0.1,10] eta=[0.1,10]"
    words += " --episodes 12 --procedure configurations=4 refined=0 seeds=[2,4] kept=[2]"
    assert cli.main([*words.split(), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    mdp, procedure = befrl.instance("chain", bins=3, horizon=6), PROCEDURE | {"refined": 0, "kept": [2]}
    found = befrl.tune(mdp, "bef-rlsvi", RANGES, clip="range", episodes=12, procedure=procedure)
    assert printed["values"] == found.values and printed["at_edge"] == found.at_edge
    assert printed["configurations"] == found.table.to_dict("records")
    assert cli.main(words.split()) == 0
    use = capsys.readouterr().out.splitlines()[-1].split("compare with")[1]
    assert cli.main(["compare", "chain", "--set", "bins=3", "horizon=6", *use.split(), "--episodes", "2"]) == 0
    assert "clip=range" in capsys.readouterr().out


REJECTED = {
    "chain --agent bef-rlsvi --ranges x=3": "ranges of agent 'bef-rlsvi': give at least one range",
    "chain --agent bef-rlsvi --ranges x=[3,1]": "x = [3, 1] is not allowed: it must be [low, high] with 0 < low < high",
    "chain --agent bef-rlsvi --ranges z=[1,3]": "unknown parameter 'z'",
    "chain --agent bef-rlsvi --ranges 3": "--ranges 3: write name=value",
    "chain --agent bef-rlsvi:track=K --ranges x=[1,3]": "unknown parameter 'track'",
    "chain --agent ucrl-vtr --ranges reward_scale=[0.1,1] --track K": "none of them has an effect in track K",
    "chain --agent bef-rlsvi --ranges x=[1,3] --procedure config=3": "unknown entry of procedure 'config'",
    "chain --agent bef-rlsvi --ranges x=[1,3] --procedure seeds=[5,3]": "tuning.seeds = [5, 3] is not allowed",
    "chain --agent bef-rlsvi --ranges x=[1,3] --procedure configurations=1": "procedure: configurations = 1",
    "lds --agent rrl-mnl --ranges lam=[1,3]": "rrl-mnl",
}


def test_wrong_tuning_is_rejected_before_the_first_run(monkeypatch, capsys, mdp):
    monkeypatch.setattr("befrl.experiment.loop.run", lambda *_: pytest.fail("an agent has run"))
    for words, message in REJECTED.items():
        assert cli.main(["tune", *words.split()]) == 2
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1
    for words, message in {
        "--agents bef-rlsvi@tuned --seeds 3": "some of them: choose seeds from 1000 on, such as '1000-1002'",
        "--agents bef@tuned": "unknown tuned agent 'bef'",
        "--agents bef-rlsvi@tuned --set bins=5": "no tuned settings for instance 'chain' with these parameters",
        "--agents bef-rlsvi@tuned --results .": "has no instances.csv: name a folder with a study's results",
        "--agents bef-rlsvi --form word": "unknown form 'word'",
    }.items():
        assert cli.main(["compare", "chain", "--seeds", "1000-1001", *words.split()]) == 2
        assert message in capsys.readouterr().err
    monkeypatch.setattr("befrl.api.tuned.home", lambda: PROJECT / "src")
    with pytest.raises(befrl.InputError, match="installed without the study's tables: name a folder"):
        befrl.tuned(mdp)
    for ranges, procedure in ((3, None), (RANGES, 3)):
        with pytest.raises(befrl.InputError, match="it must be a dictionary"):
            befrl.tune(mdp, "bef-rlsvi", ranges, procedure=procedure)
