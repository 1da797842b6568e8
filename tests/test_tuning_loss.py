"""The tool that measures what tuning lost: its means are those of the configurations on fresh seeds."""

import numpy as np
import pytest

import tuning_loss
from befrl import instances
from befrl.common import storage
from befrl.experiment import loop, tuning
from befrl.experiment.spec import RunSpec
from befrl.study.config import check

CONFIG = {
    "seeds": 2,
    "tuning": {"configurations": 3, "refined": 0, "seeds": [2], "kept": []},
    "instances": {"tiny": {"family": "chain", "set": {"bins": 3, "horizon": 3}}},
    "agents": {"ours": {"algorithm": "bef-rlsvi", "tune": {"x": [0.1, 100]}}},
    "study": {"tiny": {"tracks": ["U"], "episodes": 4, "agents": ["ours"]}},
}


def test_the_loss_is_that_of_the_chosen_configuration_against_the_best_on_the_same_seeds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = check(CONFIG, configfiles=["mine.yaml"])
    built = instances.build("chain", {"bins": 3, "horizon": 3})
    instances.save(study.layout.instance("tiny"), "tiny", built, {})
    spec = RunSpec.of(built, "tiny", "bef-rlsvi", {}, 4, (0,), root_seed=study["root_seed"], ties=study["ties"])
    outcome = tuning.halve(spec, {}, {"x": [0.1, 100]}, study.halving("tiny"), 100)
    storage.write_json(study.layout.tuned("tiny", "U", "ours"), outcome)
    row = tuning_loss.measured(study, ("tiny", "U"), "ours", 90)
    means = []
    for each in outcome["configurations"]:
        seeds = range(tuning_loss.FIRST, tuning_loss.FIRST + 90)
        own = RunSpec.of(
            built, "tiny", "bef-rlsvi", each["values"], 4, seeds, root_seed=study["root_seed"], ties="random"
        )
        means.append(np.mean(loop.run(own)["regret"].sum(1)))
    assert row["mean"] == pytest.approx(means[outcome["chosen"]["tuned"]], rel=1e-12)
    assert row["best_mean"] == pytest.approx(min(means), rel=1e-12)
    floor = row["random"] / 1000
    assert row["loss"] == pytest.approx((row["mean"] + floor) / (row["best_mean"] + floor))
