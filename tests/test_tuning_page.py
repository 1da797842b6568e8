"""docs/tuning.md has what the code does and what the committed measurements say."""

import csv
import re

import numpy as np
import yaml

from befrl.analysis import regret_tables, tuning_loss
from befrl.analysis.columns import read_data
from befrl.common.defaults import CONFIGURATIONS, KEPT, REFINED, TUNING_SEEDS
from befrl.common.layout import Layout
from befrl.experiment import tuning
from helpers import PROJECT

PAGE = (PROJECT / "docs/tuning.md").read_text()


def committed(name):
    with open(PROJECT / f"docs/tuning/{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def shown(name):
    """The rows of the page's table."""
    return re.search(rf"<!-- docs/tuning/{name}.csv -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)[1].splitlines()[2:]


def test_the_budget_is_that_of_the_code():
    runs = tuning.steps(tuning.Halving(), 1, 1)
    assert f"That is {runs} runs" in PAGE and f"{CONFIGURATIONS} configurations" in PAGE and f"{REFINED} more" in PAGE
    steps = f"The best {KEPT[0]} continue to {TUNING_SEEDS[1]} seeds and the best {KEPT[1]} to {TUNING_SEEDS[2]}."
    assert steps in PAGE and f"play {TUNING_SEEDS[0]} tuning seeds each" in PAGE


def test_the_comparison_of_procedures_is_the_committed_one():
    names = ("median", "nine_tenths", "97_percent", "largest", "mean")
    expected = [
        f"| {row['procedure']} | {row['runs']} | {' | '.join(f'{float(row[name]):.2f}' for name in names)} |"
        for row in committed("procedures")
    ]
    assert shown("procedures") == expected
    largest = {row["procedure"]: float(row["largest"]) for row in committed("procedures")}
    common, own = (largest[f"two rounds, 10 50 150 seeds, {kind}"] for kind in ("common", "first own"))
    assert f"largest loss falls from {common:.2f} to {own:.2f}" in " ".join(PAGE.split())


def test_the_multiple_of_bef_seed_has_the_smallest_mean_loss():
    expected, means = [], {}
    for multiple in dict.fromkeys(row["multiple"] for row in committed("seed_multiple")):
        rows = [row for row in committed("seed_multiple") if row["multiple"] == multiple]
        losses, broken = np.array([float(row["loss"]) for row in rows]), [int(float(row["broken"])) for row in rows]
        means[float(multiple)] = mean = np.exp(np.log(losses).mean())
        cases = sum(count > 0 for count in broken)
        expected.append(
            f"| {multiple} | {mean:.2f} | {np.median(losses):.2f} | {losses.max():.1f} | {cases} | {sum(broken)} |"
        )
    assert shown("seed_multiple") == expected
    entries = yaml.safe_load((PROJECT / "config/agents.yaml").read_text(encoding="utf-8"))["agents"]
    chosen = entries["bef-seed-universal"]["set"]["scale"]
    assert chosen == min(means, key=means.get) and f"The multiple {chosen} has the smallest geometric mean" in PAGE


def test_the_loss_in_the_study_is_the_committed_one():
    losses = np.array([float(row["loss"]) for row in read_data("tuning_loss.csv")])
    middle, most = np.quantile(losses, (0.5, 0.9))
    said = f"the median loss is {middle:.2f}, nine tenths are at most {most:.2f}, and the largest is {losses.max():.2f}"
    assert f"For {len(losses)} agents on the six cases {said}." in " ".join(PAGE.split())


def test_the_losses_are_those_of_the_study_s_choices_and_the_page_says_them():
    measured = {(row["instance"], row["track"], row["agent"]): row["chosen"] for row in read_data("tuning_loss.csv")}
    for case in sorted({key[:2] for key in measured}):
        table = regret_tables.read(Layout(results=PROJECT / "results/reference"), "summary", *case)
        tuned = table[table["role"] == "tuned"]
        chosen = dict(zip(tuned["agent"], tuned["setting"], strict=True))
        assert {key[2]: text for key, text in measured.items() if key[:2] == case} == chosen
        losses = [float(row["loss"]) for row in read_data("tuning_loss.csv") if (row["instance"], row["track"]) == case]
        said = tuning_loss.sentence(*case, chosen)
        assert f"median of {np.median(losses):.2f} times" in said and f"{max(losses):.2f} times. This" in said
        assert tuning_loss.sentence(*case, dict.fromkeys(chosen, "x=1")) == ""
