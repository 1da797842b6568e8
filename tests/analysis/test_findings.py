"""The findings of a study, on tables written by hand."""

import pandas as pd
import pytest

from befrl.analysis import findings, regret_columns
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.common.layout import Layout

MEANS = {"bef-rlsvi": 900.0, "bef-rlsvi@tuned": 20.0, "bef-rlsvi@median": 100.0, "greedy": 400.0}
MEANS |= {"greedy@tuned": 300.0, "greedy@median": 330.0, "ucbvi": 800.0, "ucbvi@tuned": 15.04, "ucbvi@median": 600.0}
MEANS |= {"random": 1000.0}


def test_winners_failures_and_tuning(tmp_path):
    rows = []
    for variant, mean in MEANS.items():
        agent = variant.split("@")[0]
        failed = 0.35 if agent == "greedy" else 0.0
        numbers = {"mean": mean, "low": 0.9 * mean, "high": 1.1 * mean, "failed": failed}
        numbers |= {"failed_low": max(failed - 0.1, 0), "failed_high": failed + 0.1, "seeds": 200, "episodes": 500}
        rows.append({"instance": "chain-8", "track": "K", "agent": agent, "variant": variant} | numbers)
    order = [
        {"family": "tuned", "place": 1, "agent": "ucbvi", "variant": "ucbvi@tuned", "group": "a"},
        {"family": "tuned", "place": 2, "agent": "bef-rlsvi", "variant": "bef-rlsvi@tuned", "group": "ab"},
        {"family": "tuned", "place": 3, "agent": "greedy", "variant": "greedy@tuned", "group": "b"},
        {"family": "tuned", "place": 4, "agent": "random", "variant": "random", "group": "c"},
    ]
    order = [{"instance": "chain-8", "track": "K"} | row for row in order]
    layout = Layout(tmp_path)
    for name, table, columns in (("summary", rows, regret_columns.SUMMARY), ("order", order, regret_columns.ORDER)):
        path = tmp_path / "results/regret/chain-8_K" / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(tidy.text(pd.DataFrame(table), columns))
    first, second = findings.markdown(layout, [("chain-8", "K")]).split("\n\n")
    cells = [cell.strip() for cell in first.splitlines()[2].strip("|").split("|")]
    assert cells == [
        "chain-8, reward known; K = 500, 200 seeds",
        "ucbvi 15.0 [13.5, 16.5]; bef-rlsvi 20.0 [18.0, 22.0]",
        "20.0 [18.0, 22.0] (place 2 of 4)",
        "300 [270, 330], failed 35% [25%, 45%]",
        "900 [810, 990]",
        "1000 [900, 1100]",
    ]
    with pytest.raises(InputError, match="the case 'chain-8_K' has no findings: it needs one row of 'greedy@tuned'"):
        path = layout.regret("summary", "chain-8", "K")
        storage.write_text(path, storage.read_text(path).replace("greedy@tuned", "greedy@turned"))
        findings.markdown(layout, [("chain-8", "K")])
    # Median over best: greedy 1.1, bef-rlsvi 5, ucbvi 39.9.
    assert "| greedy 1.10, bef-rlsvi 5.00, ucbvi 39.9 | ucbvi 39.9, bef-rlsvi 5.00, greedy 1.10 |" in second
