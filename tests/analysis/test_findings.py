"""The findings of a study, on tables written by hand."""

import pytest

from befrl.analysis import finding_tables, findings, regret_columns
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.common.layout import Layout
from helpers import PROJECT

MEANS = {"bef-rlsvi": 900.0, "bef-rlsvi@tuned": 20.0, "greedy": 400.0, "greedy@tuned": 300.0, "ucbvi": 800.0}
MEANS |= {"ucbvi@tuned": 15.04, "random": 1000.0}
TUNING = {"bef-rlsvi": (20.0, 100.0), "greedy": (300.0, 330.0), "ucbvi": (15.04, 600.0)}  # chosen and median


def a_row(variant, **values):
    return {"instance": "chain-8", "track": "K", "agent": variant.split("@")[0], "variant": variant} | values


def test_findings_name_winners_failures_and_the_need_of_tuning(tmp_path):
    rows = []
    for variant, mean in MEANS.items():
        failed = {"greedy": 0.35, "greedy@tuned": 0.65, "bef-rlsvi": 1.0}.get(variant, 0.0)
        numbers = {"mean": mean, "low": 0.9 * mean, "high": 1.1 * mean, "seeds": 200, "episodes": 500}
        shares = {"failed": failed, "failed_low": max(failed - 0.1, 0), "failed_high": failed + 0.1}
        role = "tuned" if "@" in variant else "baseline" if variant in ("greedy", "random") else "theory"
        rows.append(a_row(variant, role=role, **numbers, **shares))
    places = [("ucbvi@tuned", "a"), ("bef-rlsvi@tuned", "ab"), ("greedy@tuned", "b"), ("random", "c")]
    order = [a_row(name, family="tuned", place=i, group=group) for i, (name, group) in enumerate(places, start=1)]
    layout = Layout(tmp_path)
    tuning = [
        {"instance": "chain-8", "track": "K", "agent": agent, "chosen": role, "mean": mean, "first_mean": mean}
        for agent, means in TUNING.items()
        for role, mean in zip(("tuned", "median"), means, strict=True)
    ]
    pairs = [("ucbvi@tuned", "greedy@tuned", -285.0, 0.2), ("bef-rlsvi@tuned", "greedy@tuned", -280.0, 0.01)]
    paired = [
        {"instance": "chain-8", "track": "K", "family": "tuned", "first": a, "second": b, "difference": gap, "p": p}
        for a, b, gap, p in pairs
    ]
    for name, table in {"summary": rows, "order": order, "tuning": tuning, "paired": paired}.items():
        text = tidy.text(table, getattr(regret_columns, name.upper()))
        storage.write_text(layout.regret(name, "chain-8", "K"), text)
    said, first, second = findings.markdown(layout, [("chain-8", "K")]).split("\n\n")
    assert said.splitlines() == [
        "- Tuned, BEF-RLSVI has significantly less regret than tuned greedy in 1 of 1 cases. Its places among the "
        "tuned agents are 2 of 4.",
        "- With the x_k of Theorem 1 it fails in 1 of 1 cases.",
        "- Most often not significantly different from the best, in 1 of 1 cases: bef-rlsvi, ucbvi.",
        "- Learn in all cases with theoretical constants, or surrogates of them: ucbvi.",
        "- Tuned agents that fail: chain-8, reward known: greedy.",
    ]
    cells = [cell.strip() for cell in first.splitlines()[2].strip("|").split("|")]
    assert cells == [
        "chain-8, reward known; K = 500, 200 seeds",
        "ucbvi 15.0 [13.5, 16.5]; bef-rlsvi 20.0 [18.0, 22.0]",
        "20.0 [18.0, 22.0] (place 2 of 4)",
        "300 [270, 330], failed 65 % [55 %, 75 %]",
        "900 [810, 990]",
        "1000 [900, 1100]",
    ]
    with pytest.raises(InputError, match="the case 'chain-8_K' has no findings: it needs one row of 'greedy@tuned'"):
        path = layout.regret("summary", "chain-8", "K")
        storage.write_text(path, storage.read_text(path).replace("greedy@tuned", "greedy@turned"))
        findings.markdown(layout, [("chain-8", "K")])
    assert "| greedy 1.10, bef-rlsvi 5.00, ucbvi 39.9 | ucbvi 39.9, bef-rlsvi 5.00, greedy 1.10 |" in second


def test_an_unknown_rival_is_named():
    case, layout = ("jao", "K"), Layout(results=PROJECT / "results" / "reference")
    assert finding_tables.untuned(layout, [case], ["psrl"]).count("\n") == 3
    with pytest.raises(InputError, match="the case 'jao_K' does not have the variant 'prsl@tuned'"):
        finding_tables.untuned(layout, [case], ["psrl", "prsl"])


def test_paired_differences_from_bef_seed_are_counted_by_rival():
    layout = Layout(results=PROJECT / "tests" / "reference" / "smoke")
    rows = []
    for instance in ("chain-3", "circle-4"):
        table = tidy.read(layout.component("certified", "regrets", instance))
        rows += [row for row in table.itertuples() if (row.agent, row.role) == ("exp-psrl", "tuned")]
    less, more = sum(row.difference_low > 0 for row in rows), sum(row.difference_high < 0 for row in rows)
    line = next(line for line in finding_tables.certified(layout).splitlines() if "tuned exp-psrl" in line)
    assert f"less regret in {less} of 4 cases, significantly more in {more}, and neither in {4 - less - more} " in line
