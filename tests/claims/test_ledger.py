"""The ledger's form: ids, records, seeds, the table, and modules that are found by themselves."""

import csv
import json
import sys

import numpy as np
import pytest

from befrl import claims
from befrl.claims.toolbox.registry import CLAIMS, Finding, Worst, claim, decide, number_of
from befrl.common.errors import InputError

KEYS = "id section where statement verdict worst_case meaning instance correction rule trials seed".split()
KEYS += ["seconds", "details"]


@pytest.fixture(scope="module")
def records():
    return {id: claims.evaluate(id, trials=6, seed=3) for id in claims.names()}


def test_ids_are_sorted_by_number_and_letter():
    assert sorted(["C46", "C5", "C45b", "C45", "C45c"], key=number_of) == ["C5", "C45", "C45b", "C45c", "C46"]
    assert claims.names() == sorted(claims.names(), key=number_of)
    assert {"C31", "C37", "C39", "C46"} <= set(claims.names())


@pytest.mark.parametrize("id", claims.names())
def test_a_record_has_all_keys_and_is_json(id, records):
    record = records[id]
    assert list(record) == KEYS
    assert record["verdict"] in ("holds", "corrected", "fails", "open")
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["meaning"] and record["rule"] and record["instance"]
    if record["verdict"] in ("holds", "corrected"):
        assert bool(record["correction"]) == (record["verdict"] == "corrected")
    described = claims.describe(id)
    assert all(described[key] == record[key] for key in ("id", "section", "where", "statement"))
    assert described["module"].startswith("befrl.claims.")


@pytest.mark.parametrize("id", claims.names())
def test_the_same_seed_gives_the_same_record(id, records):
    again = claims.evaluate(id, trials=6, seed=3)
    assert {**again, "seconds": 0} == {**records[id], "seconds": 0}


def test_claims_have_their_own_random_numbers():
    """Seed and number of the claim decide, not the order of evaluation; C45b has a stream apart from C45."""
    drawn = {}

    def check(rng, trials):
        value = rng.random()
        return Finding("holds", value, "a draw", {"value": value}, "none")

    for id in ("C901", "C901b", "C902"):
        claim(id, section="s", where="w", statement="t")(check)
        drawn[id] = claims.evaluate(id, 1, seed=5)["worst_case"]
        CLAIMS.pop(id)
    expected = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(902,))).random()
    assert drawn["C902"] == expected
    assert len(set(drawn.values())) == 3


def test_unknown_claims_and_senseless_trials_are_refused():
    with pytest.raises(InputError, match=r"unknown claim 'C999': choose one of .*C31"):
        claims.evaluate("C999", 1, 0)
    with pytest.raises(InputError, match="trials = 0"):
        claims.evaluate("C31", 0, 0)
    with pytest.raises(ValueError, match="not a claim id"):
        claim("31", section="", where="", statement="")


def test_the_table_documents_its_columns(records):
    lines = claims.table(reversed(records.values())).splitlines()
    comments = [line for line in lines if line.startswith("# ")]
    rows = list(csv.DictReader(lines[len(comments) :]))
    assert lines[: len(comments)] == comments
    assert list(rows[0]) == "id section statement verdict worst_case instance correction".split()
    assert [line[2:].split(":")[0] for line in comments] == list(rows[0])
    assert [row["id"] for row in rows] == claims.names()
    for row in rows:
        assert json.loads(row["instance"]) == records[row["id"]]["instance"]
        assert float(row["worst_case"]) == records[row["id"]]["worst_case"]


def test_a_new_module_is_found_by_itself(tmp_path, monkeypatch):
    (tmp_path / "newcomer.py").write_text(
        "from befrl.claims.toolbox.registry import Finding, claim\n"
        "@claim('C903', section='s', where='w', statement='t')\n"
        "def check(rng, trials):\n"
        "    return Finding('open', float(trials), 'trials', {}, 'none')\n"
    )
    monkeypatch.setattr(claims, "__path__", [*claims.__path__, str(tmp_path)])
    monkeypatch.setattr(claims.catalogue, "path", claims.__path__)
    claims._load.cache_clear()
    try:
        assert "C903" in claims.names()
        assert claims.describe("C903")["module"] == "befrl.claims.newcomer"
        assert claims.evaluate("C903", 7, 0)["worst_case"] == 7.0
    finally:
        CLAIMS.pop("C903", None)
        sys.modules.pop("befrl.claims.newcomer", None)


def test_the_verdict_follows_from_the_violations():
    assert decide(1e-12, tolerance=1e-9) == "holds"
    assert decide(-3.0, 5.0, tolerance=0.0) == "holds"
    assert decide(0.1, 1e-12, tolerance=1e-9) == "corrected"
    assert decide(0.1, 0.1, tolerance=1e-9) == "fails"
    assert decide(0.1, tolerance=1e-9) == "fails"


def test_a_finding_is_checked_when_it_is_made():
    with pytest.raises(ValueError, match="'true' is not one of"):
        Finding("true", 0.0, "", {}, "")
    with pytest.raises(ValueError, match="not a finite number"):
        Finding("holds", float("nan"), "", {}, "")


def test_a_claim_cannot_be_defined_twice():
    with pytest.raises(ValueError, match="C31 is defined twice"):
        claims.names()
        claim("C31", section="", where="", statement="")(lambda rng, trials: None)


def test_the_worst_keeps_the_first_of_equals():
    worst = Worst()
    assert worst.see(0.5, {"first": 1})
    assert not worst.see(0.5 + 1e-14, {"second": 2})
    assert worst.see(0.6, {"third": 3}) and worst.instance == {"third": 3}
