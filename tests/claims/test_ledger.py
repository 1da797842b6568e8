"""The ledger's form: ids, readings, the judge's rule, records, the table, and modules that are found by themselves."""

import csv
import inspect
import json
import re
import sys
from fractions import Fraction

import numpy as np
import pytest

from befrl import claims
from befrl.claims import second
from befrl.claims.toolbox import ledger
from befrl.claims.toolbox.calculus import directional_derivatives
from befrl.claims.toolbox.chances import lower_limit, upper_limit
from befrl.claims.toolbox.errata import errata
from befrl.claims.toolbox.judge import judge, verdict_of
from befrl.claims.toolbox.registry import CLAIMS, UNTRIED, Evidence, claim, number_of, paper
from befrl.claims.toolbox.search import Worst, search
from befrl.common.errors import InputError
from befrl.report.wording import mathematics
from helpers import PROJECT

TRIALS = 10


@pytest.fixture(scope="module")
def records():
    return {id: claims.evaluate(id, TRIALS, seed=3) for id in claims.names()}


@pytest.fixture
def invented(monkeypatch):
    """A claim C31 of our own: |x| <= limit on [0, 1], with readings."""

    def enter(limit=1.0, repairs=None, mutants=None, others=None, second_verdict=None, undecided=""):
        def attack(rng, trials, limit=limit):
            """It is so.

            Correction: It would be so.

            Attack: Random numbers.
            """
            x = rng.random(trials).max()
            return Evidence(float(x - limit), {"x": float(x)}, number=trials, undecided=undecided)

        monkeypatch.delitem(CLAIMS, "C31")
        found = {"C31": {"verdict": second_verdict, "argument": "", "correction": ""}} if second_verdict else {}
        monkeypatch.setattr(second, "derivations", lambda: found)
        claim("C31", statement="s", meaning="m", repairs=repairs, mutants=mutants, others=others)(attack)
        return judge("C31", 50, 0)

    claims.names()
    return enter


def test_ids_are_sorted_and_every_one_is_a_statement_of_the_paper():
    assert sorted(["C46", "C5", "C45b", "C45", "C45c"], key=number_of) == ["C5", "C45", "C45b", "C45c", "C46"]
    assert claims.names() == sorted(claims.names(), key=number_of)
    assert set(claims.names()) <= set(paper())
    assert len(paper()) == 85 and all(set(place["uses"]) <= set(paper()) for place in paper().values())


def test_what_a_proof_uses_has_no_circle():
    seen = {}

    def depth(id, above=()):
        assert id not in above, f"{id} rests on itself by {above}"
        if id not in seen:
            seen[id] = 1 + max((depth(used, (*above, id)) for used in paper()[id]["uses"]), default=0)
        return seen[id]

    assert max(map(depth, paper())) > 3


@pytest.mark.parametrize("id", claims.names())
def test_a_record_is_complete_and_the_attack_judges_every_reading_as_it_must(id, records):
    """Mutants are refuted, true statements are not: the attack could have come out otherwise."""
    record = records[id]
    assert record["weak"] == []
    assert record["mutants"], "no false statement nearby"
    false = record["verdict"] in ("corrected", "fails")
    assert not false or any(reading["survives"] for reading in record["repairs"] + record["others"])
    assert bool(record["correction"]) == (record["verdict"] == "corrected")
    assert record["derivation"] and record["attack"] and record["meaning"] and record["grade"]
    assert record["verdict"] == "holds" or record["second"] is not None
    assert json.loads(json.dumps(record, allow_nan=False)) == record


def test_verdicts_are_those_that_are_committed(records):
    """An error in what the attacks compute with turns a verdict, though every mutant is still refuted."""
    with open(PROJECT / "results/reference/claims.csv", newline="", encoding="utf-8") as file:
        committed = {row["id"]: row["verdict"] for row in csv.DictReader(file)}
    assert {id: record["verdict"] for id, record in records.items()} == {id: committed[id] for id in records}


def test_derivatives_by_cauchy_are_mean_and_variance(rng):
    T, log_weights, theta, directions = (rng.normal(size=shape) for shape in ((7, 3), 7, 3, (5, 3)))
    mass = np.exp(T @ theta + log_weights)
    mass /= mass.sum()
    along = T @ directions.T
    first, second = directional_derivatives(T, log_weights, theta, directions)
    assert first == pytest.approx(mass @ along, rel=1e-10)
    assert second == pytest.approx(mass @ (along - mass @ along) ** 2, rel=1e-10)


@pytest.mark.parametrize("id", claims.names())
def test_formulas_of_a_record_can_be_shown(id, records):
    record = records[id]
    readings = [reading["words"] for name in ("repairs", "steps", "others", "mutants") for reading in record[name]]
    texts = [*readings, *(record[key] for key in ("statement", "derivation", "correction_derivation", "attack"))]
    if record["second"]:
        texts += [record["second"]["argument"], record["second"]["correction"]]
    for text in texts:
        assert text.count("$") % 2 == 0, text
        assert "$" not in mathematics(text) and "\\" not in mathematics(text), text


@pytest.mark.parametrize("id", claims.names())
def test_the_same_seed_gives_the_same_record(id, records):
    again = claims.evaluate(id, TRIALS, seed=3)
    assert {**again, "seconds": 0} == {**records[id], "seconds": 0}


@pytest.mark.slow
@pytest.mark.parametrize("trials", [10, 100, 200, 400])
@pytest.mark.parametrize("id", claims.names())
def test_verdicts_do_not_depend_on_the_seed_nor_on_the_trials(id, trials, records):
    for seed in range(1, 6):
        record = claims.evaluate(id, trials, seed)
        assert (record["verdict"], record["weak"]) == (records[id]["verdict"], [])


def test_claims_are_short():
    """The median claim takes at most 40 lines, and no file of the ledger more than 400."""
    files = {sys.modules[module] for module in claims.sections()}
    assert max(len(inspect.getsource(file).splitlines()) for file in files) <= 400
    assert np.median([len(inspect.getsourcelines(CLAIMS[id].attack)[0]) for id in claims.names()]) <= 40


def test_the_verdict_follows_from_the_violations(invented):
    assert invented(limit=1.0)["verdict"] == "holds"
    false = invented(limit=0.5, repairs={"no": {"limit": 0.6}, "yes": {"limit": 1.0}, "also": {"limit": 2.0}})
    assert (false["verdict"], false["correction"]) == ("corrected", "yes")
    assert invented(limit=0.5, repairs={"no": {"limit": 0.6}})["verdict"] == "fails"
    assert invented(limit=0.5, undecided="nobody knows")["verdict"] == "open"
    assert invented(limit=1.0)["derivation"] == "It is so." and invented()["attack"] == "Random numbers."


def test_two_derivations_that_disagree_leave_a_claim_open(invented):
    assert invented(limit=1.0, second_verdict="fails")["verdict"] == "open"
    assert invented(limit=0.5, second_verdict="holds")["verdict"] == "open"
    assert invented(limit=0.5, second_verdict="corrected")["verdict"] == "fails"
    assert verdict_of(True, [], "", "holds") == "holds"


def test_a_weak_attack_is_named(invented):
    made = invented(limit=1.0, mutants={"larger": {"limit": 2.0}}, others={"small": {"limit": 0.1}})
    assert made["weak"] == ["false, but not refuted: larger", "true, but refuted: small"]


def test_all_readings_meet_the_same_random_numbers(invented):
    made = invented(limit=0.5, repairs={"r": {"limit": 2.0}}, mutants={"m": {"limit": 0.1}})
    assert made["instance"] == made["repairs"][0]["instance"] == made["mutants"][0]["instance"]


def test_unknown_claims_readings_and_senseless_trials_are_refused(monkeypatch):
    with pytest.raises(InputError, match=r"unknown claim 'C999': choose one of .*C31"):
        claims.evaluate("C999", 1, 0)
    with pytest.raises(InputError, match="trials = 0"):
        claims.evaluate("C31", 0, 0)
    with pytest.raises(ValueError, match="not a claim id"):
        claim("31", statement="", meaning="")
    monkeypatch.delitem(CLAIMS, "C47")
    with pytest.raises(ValueError, match="reading 'r': its keywords must be some of"):
        claim("C47", statement="", meaning="", repairs={"r": {"x": 1}})(lambda rng, trials, y=0: None)
    with pytest.raises(ValueError, match="C31 is defined twice"):
        claim("C31", statement="", meaning="")(lambda rng, trials: None)
    with pytest.raises(ValueError, match="grade 'guess' is not one of"):
        Evidence(0.0, {}, grade="guess")
    with pytest.raises(ValueError, match="not a finite number"):
        Evidence(float("nan"), {})


def test_the_table_has_every_claim_of_the_paper(records):
    lines = ledger.table(reversed(records.values())).splitlines()
    rows = list(csv.DictReader(lines))
    assert list(rows[0]) == list(ledger.COLUMNS)
    assert [row["id"] for row in rows] == sorted(paper(), key=number_of)
    for row in rows:
        if row["id"] in records:
            record = records[row["id"]]
            assert json.loads(row["instance"]) == record["instance"]
            assert float(row["worst_case"]) == record["worst_case"] and row["verdict"] == record["verdict"]
        else:
            assert row["verdict"] == UNTRIED and row["worst_case"] == ""


def test_the_errata_are_the_statements_that_do_not_hold(records):
    text = errata(reversed(records.values()))
    wrong = [record for record in records.values() if record["verdict"] != "holds"]
    assert re.findall(r"^## (\d+)\. (\w+):", text, re.MULTILINE) == [
        (str(number), record["id"]) for number, record in enumerate(wrong, start=1)
    ]
    for record in wrong:
        assert " ".join(record["statement"].split()) in text and record["where"] in text
        assert " ".join(record["correction"].split()) in text


def test_what_does_not_hold_is_named_where_a_proof_rests_on_it():
    verdicts = {"C41": "holds", "C45": "corrected"}
    assert ledger.standing("C43", verdicts) == {"C45": "corrected"}
    assert ledger.standing("C42", {}) == {"C41": UNTRIED} and ledger.standing("C42", verdicts) == {}


def test_a_new_module_is_found_by_itself(tmp_path, monkeypatch):
    (tmp_path / "newcomer.py").write_text(
        "from befrl.claims.toolbox.registry import Evidence, claim\n"
        "@claim('C81', statement='s', meaning='m')\n"
        "def check(rng, trials):\n"
        "    'So.'\n"
        "    return Evidence(-float(trials), {})\n"
    )
    monkeypatch.delitem(CLAIMS, "C81")
    monkeypatch.setattr(claims, "__path__", [*claims.__path__, str(tmp_path)])
    monkeypatch.setattr(claims.registry, "path", claims.__path__)
    claims._load.cache_clear()
    try:
        assert "C81" in claims.names()
        assert claims.describe("C81")["module"] == "befrl.claims.newcomer"
        assert claims.evaluate("C81", 7, 0)["worst_case"] == -7.0
    finally:
        CLAIMS.pop("C81", None)
        sys.modules.pop("befrl.claims.newcomer", None)


def test_a_search_finds_the_worst_and_keeps_an_exact_counterexample():
    def distance(case):
        return -abs(case["x"] - 3) if isinstance(case["x"], Fraction) else -abs(float(case["x"]) - 3.0)

    found = search(np.random.default_rng(0), 300, lambda rng: {"x": float(rng.normal())}, distance)
    assert abs(found.instance["x"] - 3) < 1e-3 and found.number == 600
    edges = [{"x": Fraction(1, 2)}]
    exact = search(np.random.default_rng(0), 20, lambda rng: {"x": 3.5}, lambda case: case["x"], edges=edges)
    assert exact.violation == Fraction(1, 2) and exact.instance == {"x": "1/2"}
    assert exact.known_by(0.0) == "exact counterexample" and exact.known_by(1.0) == "search over 41 instances"


def test_the_worst_keeps_the_first_of_equals():
    worst = Worst()
    assert worst.see(0.5, {"first": 1})
    assert not worst.see(0.5 + 1e-14, {"second": 2})
    assert worst.see(0.6, {"third": 3}) and worst.instance == {"third": 3}


def test_binomial_limits_have_their_level():
    """At the lower limit, as many hits or more have the probability `level`; at the upper one, as many or fewer."""
    from scipy.stats import binom

    for hits, runs, level in ((3, 20, 0.01), (1, 1, 0.2), (19, 20, 1e-6)):
        assert binom.sf(hits - 1, runs, lower_limit(hits, runs, level)) == pytest.approx(level)
        assert hits == runs or binom.cdf(hits, runs, upper_limit(hits, runs, level)) == pytest.approx(level)
    assert lower_limit(0, 5) == 0.0 and upper_limit(5, 5) == 1.0
