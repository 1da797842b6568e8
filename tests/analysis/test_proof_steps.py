"""The table of steps against the ledger: complete, and every reading that it names exists there and survives."""

import re

import numpy as np
import pytest

from befrl import claims
from befrl.analysis.hypotheses import HYPOTHESES
from befrl.analysis.proof_steps import claims_of, needed, steps
from befrl.claims.toolbox.registry import CLAIMS, number_of, paper
from helpers import PROJECT

THEOREM = "C62"
claims.names()


def rests_on(id):
    """All claims that the printed proof of a claim uses, directly or not."""
    used = set(paper()[id]["uses"])
    return used | {other for each in used for other in rests_on(each)}


def test_every_false_step_that_the_theorem_rests_on_is_in_the_table():
    errata = set(re.findall(r"^## \d+\. (C\d+[a-z]?):", (PROJECT / "docs" / "errata.md").read_text(), re.MULTILINE))
    listed = [step["claim"] for step in steps()]
    assert len(errata) > 60 and len(set(listed)) == len(listed)
    assert rests_on(THEOREM) & errata <= set(listed) <= errata
    assert listed == sorted(listed, key=number_of)


def test_hypotheses_and_steps_belong_together():
    named = {step["hypothesis"] for step in steps()} - {""}
    assert named == set(HYPOTHESES)
    assert all(step["hypothesis"] for step in steps() if step["needed"])
    assert all(step["fails"] and step["reading"] for step in steps())
    assert set(needed()) < named and "C46" in claims_of("one_feature")


@pytest.mark.parametrize("step", steps(), ids=lambda step: step["claim"])
def test_the_reading_exists_in_the_ledger_and_survives_its_attack(step):
    entry = CLAIMS[step["reading_of"]]
    readings = entry.repairs | entry.others | entry.steps
    assert step["reading"] in readings
    rng = np.random.default_rng(np.random.SeedSequence(3, spawn_key=number_of(entry.id)))
    assert entry.attack(rng, 10, **readings[step["reading"]]).violation <= entry.tolerance
