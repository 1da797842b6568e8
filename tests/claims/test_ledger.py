"""The ledger's form: ids, readings, the judge's rule, records, the table, and modules that are found by themselves."""

import csv
import inspect
import json
import re
import sys
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from befrl import claims
from befrl.claims import contest, ledger, render
from befrl.claims.errata import errata
from befrl.claims.judge import function_of, judge, verdict_of
from befrl.claims.pages import CLASSES, GROUPS, MADE, UNTRIED, number_of, pages, parsed
from befrl.claims.toolbox.calculus import directional_derivatives
from befrl.claims.toolbox.chances import lower_limit, upper_limit
from befrl.claims.toolbox.evidence import Evidence
from befrl.claims.toolbox.search import Worst, contested, search
from befrl.common.errors import InputError
from befrl.report.wording import mathematics
from helpers import PROJECT

TRIALS = 10


@pytest.fixture(scope="module")
def records():
    return {id: claims.evaluate(id, TRIALS, seed=3) for id in claims.names()}


PAGE = """---
part: Concentration
where: nowhere
section: invented
test: check
meaning: excess
SECOND
---

# C31. A number is at most the limit

## Our reading

$`x\\le1`$.

## Derivation

It is so.

## Test

Random numbers.

ADJUDICATION

## Readings

```yaml
READINGS
```
"""


@pytest.fixture
def invented(monkeypatch):
    """The record of a claim C31 of our own: a number of [0, 1] is at most the limit, with readings."""

    def enter(limit=1.0, readings=None, second="", adjudication="", undecided=""):
        def check(rng, trials, limit=limit):
            x = rng.random(trials).max()
            return Evidence(float(x - limit), {"x": float(x)}, number=trials, undecided=undecided)

        monkeypatch.setitem(sys.modules, "befrl.claims.sections.invented", SimpleNamespace(check=check))
        text = PAGE.replace("READINGS", json.dumps(readings or {})).replace("SECOND", second and f"second: {second}")
        page = parsed(text.replace("ADJUDICATION", adjudication and f"## Adjudication\n\n{adjudication}"), "C31.md")
        monkeypatch.setitem(pages(), "C31", page)
        return judge(page, 50, 0)

    return enter


def read(words, limit, **more):
    return {"words": words, "given": {"limit": limit}} | more


def test_ids_are_sorted_and_known_to_the_pages():
    assert sorted(["S01", "C46", "C5", "C45b", "C45"], key=number_of) == ["C5", "C45", "C45b", "C46", "S01"]
    assert claims.names() == sorted(claims.names(), key=number_of)
    assert [page.kind != "ours" for page in pages().values()].count(True) == 85
    assert all(set(page.uses) <= set(pages()) for page in pages().values())
    inherited = {
        reading.inherits for page in pages().values() for reading in page.repairs if reading.takes == "inherits"
    }
    assert inherited <= set(pages())
    paper = [page for page in pages().values() if page.kind != "ours"]
    assert not [page.id for page in paper if any(used[0] == "S" for used in page.uses)]


def test_what_a_proof_uses_has_no_circle():
    seen = {}

    def depth(id, above=()):
        assert id not in above, f"{id} rests on itself by {above}"
        if id not in seen:
            seen[id] = 1 + max((depth(used, (*above, id)) for used in pages()[id].uses), default=0)
        return seen[id]

    assert max(map(depth, pages())) > 3


@pytest.mark.parametrize("id", claims.names())
def test_a_record_is_complete_and_the_test_judges_every_reading_as_it_must(id, records):
    """Mutants and lighter corrections are refuted, true statements are not: the test could have come out otherwise."""
    record = records[id]
    assert record["weak"] == []
    own = record["kind"] == "ours"
    assert record["derivation"] and record["grade"] and bool(record["quote"]) != own
    assert own or record["second"] is not None or record["verdict"] == "holds"
    assert bool(record["adjudication"]) or not ledger.adjudicated(record)
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    if record["grade"] == "argument":
        return
    assert record["mutants"] and all(mutant["distance"] for mutant in record["mutants"])
    assert record["attack"] and record["meaning"]
    corrected = record["verdict"] in (*CLASSES, "inherits")
    assert bool(record["correction"]) == corrected
    assert not corrected or (record["class"]["why"] and record["corrected"])
    assert (record["verdict"] == "inherits") == bool(record["inherits"])
    assert bool(record["counterexample"]) == (record["survives"] is False)


@pytest.mark.parametrize("id", claims.names())
def test_repairs_are_ordered_from_light_to_heavy(id):
    weights = [contest.WEIGHT[repair.takes] for repair in pages()[id].repairs]
    assert weights == sorted(weights)


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
    texts = [reading[key] for name in GROUPS for reading in record[name] for key in ("words", "why", "distance")]
    keys = ("quote", "statement", "corrected", "counterexample", "derivation", "correction_derivation", "attack")
    texts += [record[key] for key in (*keys, "adjudication", "objections", "answer", "stands")]
    for which in filter(None, (record["second"], record["third"])):
        texts += [which["argument"], which["correction"]]
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


def test_tests_of_claims_are_short():
    """The median test takes at most 30 lines, and no file of the ledger more than 400."""
    tests = [function_of(page) for page in pages().values() if page.test]
    assert max(len(inspect.getsource(sys.modules[test.__module__]).splitlines()) for test in tests) <= 400
    assert np.median([len(inspect.getsourcelines(test)[0]) for test in tests]) <= 30


def test_the_verdict_follows_from_the_violations(invented):
    assert invented(limit=1.0)["verdict"] == "holds"
    repairs = [
        read("no", 0.6, takes="misprint"),
        read("yes", 1.0, takes="constant", why="w"),
        read("also", 2.0, takes="hypothesis"),
    ]
    false = invented(limit=0.5, readings={"repairs": repairs})
    assert (false["verdict"], false["correction"], false["class"]["by"]) == ("constant", "yes", "a person")
    lighter = [read("half", 0.5, distance="half")]
    assert invented(0.5, {"repairs": repairs, "lighter": lighter})["class"]["by"] == "computation"
    heir = invented(0.5, {"repairs": [read("granted", 1.0, takes="inherits", inherits="C12")]})
    assert (heir["verdict"], heir["inherits"]) == ("inherits", "C12")
    assert invented(limit=0.5, readings={"repairs": repairs[:1]})["verdict"] == "fails"
    assert invented(limit=0.5, undecided="nobody knows")["verdict"] == "open"


def test_derivations_that_disagree_leave_a_claim_open_unless_it_is_adjudicated(invented):
    assert invented(limit=1.0, second="fails")["verdict"] == "open"
    assert invented(limit=0.5, second="holds")["verdict"] == "open"
    assert invented(limit=0.5, second="corrected")["verdict"] == "fails"
    settled = invented(limit=1.0, second="fails", adjudication="The second misreads x.")
    assert settled["verdict"] == "holds" and ledger.adjudicated(settled)
    assert not ledger.adjudicated(invented(limit=1.0, second="holds"))
    assert verdict_of(True, None, "", True) == "holds"


def test_a_weak_test_is_named(invented):
    readings = {"mutants": [read("larger", 2.0)], "lighter": [read("light", 3.0)], "others": [read("small", 0.1)]}
    assert invented(1.0, readings)["weak"] == [
        "false, but not refuted: larger",
        "false, but not refuted: light",
        "true, but refuted: small",
    ]


def test_all_readings_meet_the_same_random_numbers(invented):
    made = invented(0.5, {"repairs": [read("r", 2.0, takes="misprint")], "mutants": [read("m", 0.1)]})
    assert made["instance"] == made["repairs"][0]["instance"] == made["mutants"][0]["instance"]


def test_unknown_claims_and_senseless_trials_are_refused():
    with pytest.raises(InputError, match=r"unknown claim 'C999': choose one of .*C31"):
        claims.evaluate("C999", 1, 0)
    with pytest.raises(InputError, match="trials = 0"):
        claims.evaluate("C31", 0, 0)
    with pytest.raises(ValueError, match="grade 'guess' is not one of"):
        Evidence(0.0, {}, grade="guess")
    with pytest.raises(ValueError, match="not a finite number"):
        Evidence(float("nan"), {})


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("---\npart", "part", "starts with front matter"),
        ("# C31.", "# 31.", "'31' is not a claim id"),
        ("meaning: excess", "opinion: none", "'opinion' is not a key of a page"),
        ("meaning: excess", "argued: fails", "either a test or an argued verdict"),
        ("meaning: excess", "kind: ours", "kind 'ours' is not one of claim, remark"),
        ("## Test", "## Exam", "'Exam' is not a section"),
        ("## Our reading", "## Test", "'Our reading' and 'Derivation' are needed"),
        ("READINGS", '{"repairs": [{"words": "w"}]}', "a reading has the keys words and given"),
        ("READINGS", '{"repairs": [{"words": "w", "given": {}, "takes": "luck"}]}', "takes 'luck' is not one of"),
        ("```yaml", "```", "one block ```yaml"),
    ],
)
def test_a_wrong_page_is_refused(old, new, message):
    text = PAGE.replace("SECOND\n", "").replace("ADJUDICATION", "").replace(old, new).replace("READINGS", "{}")
    with pytest.raises(InputError, match=re.escape(message)):
        parsed(text, "C31.md")


def test_fractions_and_lists_of_a_reading_reach_the_test():
    made = parsed(
        PAGE.replace("SECOND\n", "")
        .replace("ADJUDICATION", "")
        .replace("READINGS", '{"mutants": [{"words": "w", "given": {"a": "1/2", "b": ["x", "3/4"]}}]}'),
        "C31.md",
    )
    assert made.mutants[0].given == {"a": Fraction(1, 2), "b": ("x", Fraction(3, 4))}
    assert made.texts["statement"] == r"$x\le1$."


def test_the_table_has_every_claim_of_the_paper(records):
    lines = ledger.table(reversed(records.values())).splitlines()
    rows = list(csv.DictReader(lines))
    assert list(rows[0]) == list(ledger.COLUMNS)
    assert [row["id"] for row in rows] == claims.names()
    for row in rows:
        if row["id"] in records:
            record = records[row["id"]]
            assert json.loads(row["instance"]) == record["instance"]
            assert (float(row["worst_case"]) if row["worst_case"] else None) == record["worst_case"]
            assert row["verdict"] == record["verdict"]
        else:
            assert row["verdict"] == UNTRIED and row["worst_case"] == ""


def test_counts_are_those_of_the_table_and_inherited_faults_and_remarks_are_not_counted():
    base = {"part": "a", "adjudicated": "0"}
    verdicts = ["holds", "misprint", "misprint", "constant", "hypothesis", "fails", "inherits"]
    table = [base | {"id": f"C{n}", "kind": "claim", "verdict": verdict} for n, verdict in enumerate(verdicts, start=1)]
    table += [base | {"id": "C9", "kind": "remark", "verdict": "fails"}]
    table[0] |= {"adjudicated": "1"}
    table += [base | {"id": "S1", "kind": "ours", "part": "o", "verdict": "holds"}]
    table += [base | {"id": "S2", "kind": "ours", "part": "o", "verdict": "fails"}]
    text = ledger.headline(table)
    assert text.startswith(
        "Of 6 separate statements of the paper 1 hold as printed, 2 once a misprint is corrected, 1 with"
    )
    assert "1 fails, and 0 are open; 1 more, not counted here, are false only because" in text and "In 1 cases" in text
    lines = ledger.counts(table).splitlines()
    assert lines[0] == "| part | holds | misprint | constant | hypothesis | inherits | fails | remark (not counted) |"
    assert lines[2] == "| a | 1 | 2 | 1 | 1 | 1 | 1 | 1 |"
    assert lines[3].startswith("| all | 1 | 2 |") and lines[4] == "| o | 1 | 0 | 0 | 0 | 0 | 1 | 0 |"
    assert ledger.ours(table).endswith("1 holds as stated, 0 after a correction, 1 fails, and 0 are open: S2 fails.")
    assert ledger.ours(table) in ledger.summary(table) and ledger.ours(table[:-2]) == ""


def test_the_letter_has_every_claim_that_does_not_hold_once(records):
    text = errata(reversed(records.values()))
    for record in records.values():
        entry = f"### [{record['id']}]("
        wanted = record["kind"] == "claim" and record["verdict"] in ("fails", "hypothesis", "constant", "open")
        assert text.count(entry) == int(wanted)
        rows = re.findall(rf"(?m)^\| \[{record['id']}\]", text)
        assert len(rows) == int(record["kind"] == "claim" and record["verdict"] == "misprint")
    assert (
        text.index("## What holds") < text.index("## Theorem 1") < text.index("### [C62]") < text.index("## Misprints")
    )
    assert "{" not in re.sub(r"\$`[^`]*`\$", "", text), "JSON or a formula outside of dollar signs"


def test_what_does_not_hold_is_named_where_a_proof_rests_on_it():
    verdicts = {"C41": "holds", "C45": "constant"}
    assert ledger.standing("C43", verdicts) == {"C45": "constant"}
    assert ledger.standing("C42", {}) == {"C41": UNTRIED} and ledger.standing("C42", verdicts) == {}


@pytest.mark.parametrize("id", claims.names())
def test_the_made_parts_of_a_page_are_those_of_the_committed_study(id):
    """Verdict and worst case on the page are those of the table that is committed."""
    text = (PROJECT / f"docs/claims/{id}.md").read_text(encoding="utf-8")
    made = dict(zip(("verdict", "outcome"), [found[0] for found in MADE.finditer(text)], strict=True))
    with open(PROJECT / "results/reference/claims.csv", newline="", encoding="utf-8") as file:
        row = next(row for row in csv.DictReader(file) if row["id"] == id)
    assert f"**Verdict: {row['verdict']}" in made["verdict"] and row["grade"] in made["verdict"]
    if row["worst_case"]:
        number = re.escape(f"{float(row['worst_case']):.3g}")
        assert re.search(rf"(?m)^\| (printed|stated) \|.*\| {number} \|  \|$", made["outcome"])


def test_the_made_parts_are_put_in_once(records):
    text = MADE.sub("", (PROJECT / "docs/claims/C46.md").read_text(encoding="utf-8"))
    once = render.written(text, records["C46"])
    assert once.count("<!-- made:") == 2 and render.written(once, records["C46"]) == once
    assert parsed(once, "C46.md") == pages()["C46"]


def test_quotations_are_verbatim():
    """The paper is not part of this repository: where its source lies beside it, every quotation is compared."""
    import check_quotes

    source = check_quotes.expanded(r"\newcommand{\tp}{\theta^{p}} We \textbf{find} $x \le \tp$ and % no" + "\n more.")
    found = check_quotes.missing(
        "## The paper\n\n> We find $`x\\le\\theta^{p}`$ [...] more.\n\n## Our reading", check_quotes.bare(source)
    )
    assert found == []
    assert check_quotes.missing("## The paper\n\n> We lost it.\n\n## Test", check_quotes.bare(source)) == [
        "We lost it."
    ]
    paper = PROJECT.parent / "shared/paper/bef-rlsvi.tex"
    if paper.exists():
        assert check_quotes.main(paper) == 0


def test_a_contest_changes_a_verdict_only_by_what_the_judge_computes(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        'CLAIM = "C21"\n'
        'REPAIRS = [{"words": "both", "given": {"matrices": True, "x": True}, "takes": "hypothesis", "why": "w"},\n'
        '           {"words": "one", "given": {"x": True}, "takes": "misprint", "why": "w"}]\n'
    )
    before, after = contest.outcome(contest.read(file), TRIALS, 3)
    assert (before["verdict"], after["verdict"], after["correction"]) == ("fails", "hypothesis", "both")
    rows = {row["statement"]: row for row in contest.changes(before, after)}
    assert (rows["both"]["before"], rows["both"]["after"]) == ("new", "survives")
    assert rows["one"]["after"] == "refuted"
    # A test of one's own counts where it finds more: C04 holds, until somebody shows a violation.
    file.write_text(
        "from befrl.claims.toolbox.evidence import Evidence\n"
        'CLAIM = "C04"\n'
        "def test(rng, trials, **given):\n"
        "    return Evidence(1.0, {})\n"
    )
    before, after = contest.outcome(contest.read(file), TRIALS, 3)
    assert (before["verdict"], after["verdict"]) == ("holds", "open")  # the second derivation says that it holds


def test_a_contested_search_sees_the_given_instances_and_only_allowed_ones():
    def run():
        return search(np.random.default_rng(0), 9, lambda rng: {"x": float(rng.random())}, lambda case: case["x"])

    with contested([{"x": "5/2"}], lambda case: case["x"] != 0) as consulted:
        assert run().violation == Fraction(5, 2) and consulted
    with contested([], lambda case: case["x"] < 0.5):
        assert 0 < run().violation < 0.5
    with pytest.raises(InputError, match="none of the 9 instances of the test is allowed"):
        with contested([], lambda case: False):
            run()
    assert run().violation > 0.5


@pytest.mark.parametrize(
    "text, message",
    [
        ("CLAIM = 'C46'", "it contests nothing"),
        ("INSTANCES = [1]", "unknown CLAIM of"),
        ("CLAIM = 'C46'\nREPAIRS = [{'words': 'w', 'given': {}}]", "must say what it takes"),
        ("CLAIM = 'C46'\nREPAIRS = [{'words': 'w', 'given': {'y': 1}, 'takes': 'misprint'}]", "'y' is not a keyword"),
        ("CLAIM = 'C46'\nINSTANCES = [{'x': 1}]", "does not fit its test"),
        ("CLAIM = 'C62'\nINSTANCES = [{'x': 1}]", "takes no instances"),
        ("1/0", "ZeroDivisionError"),
    ],
)
def test_a_contest_that_makes_no_sense_is_refused(tmp_path, text, message):
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)):
        contest.outcome(contest.read(file), 2, 0)


def test_a_search_finds_the_worst_and_keeps_an_exact_counterexample():
    def distance(case):
        return -abs(case["x"] - 3) if isinstance(case["x"], Fraction) else -abs(float(case["x"]) - 3.0)

    found = search(np.random.default_rng(0), 300, lambda rng: {"x": float(rng.normal())}, distance)
    assert abs(found.instance["x"] - 3) < 1e-3 and found.number == 600
    edges = [{"x": Fraction(1, 2)}]
    exact = search(np.random.default_rng(0), 20, lambda rng: {"x": 3.5}, lambda case: case["x"], edges=edges)
    assert exact.violation == Fraction(1, 2) and exact.instance == {"x": "1/2"}
    assert (
        exact.known_by(0.0) == "counterexample in exact arithmetic"
        and exact.known_by(1.0) == "search over 41 instances"
    )


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
