"""docs/tuning.md has what the code does and what the committed measurements say."""

import csv
import re

import numpy as np

from befrl.analysis import regret_tables, tuning_loss
from befrl.analysis.columns import read_data
from befrl.common.defaults import CONFIGURATIONS, KEPT, REFINED, TUNING_SEEDS
from befrl.common.layout import Layout
from befrl.experiment import tuning
from helpers import PROJECT

PAGE = (PROJECT / "docs/tuning.md").read_text()


def procedures():
    with open(PROJECT / "docs/tuning/procedures.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_the_budget_is_that_of_the_code():
    runs = tuning.steps(tuning.Halving(), 1, 1)
    assert f"That is {runs} runs" in PAGE and f"{CONFIGURATIONS} configurations" in PAGE and f"{REFINED} more" in PAGE
    steps = f"The best {KEPT[0]} continue to {TUNING_SEEDS[1]} seeds and the best {KEPT[1]} to {TUNING_SEEDS[2]}."
    assert steps in PAGE and f"play {TUNING_SEEDS[0]} tuning seeds each" in PAGE


def test_the_comparison_of_procedures_is_the_committed_one():
    shown = re.search(r"<!-- docs/tuning/procedures.csv -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)[1].splitlines()[2:]
    names = ("median", "nine_tenths", "97_percent", "largest", "mean")
    expected = [
        f"| {row['procedure']} | {row['runs']} | {' | '.join(f'{float(row[name]):.2f}' for name in names)} |"
        for row in procedures()
    ]
    assert shown == expected
    largest = {row["procedure"]: float(row["largest"]) for row in procedures()}
    common, own = (largest[f"two rounds, 10 50 150 seeds, {kind}"] for kind in ("common", "first own"))
    assert f"largest loss falls from {common:.2f} to {own:.2f}" in " ".join(PAGE.split())


def test_the_loss_in_the_study_is_the_committed_one():
    losses = np.array([float(row["loss"]) for row in read_data("tuning_loss.csv")])
    middle, most = np.quantile(losses, (0.5, 0.9))
    assert f"the median loss is {middle:.2f}, nine tenths are at most {most:.2f}, and the largest is" in PAGE
    assert f"the largest is {losses.max():.2f}" in PAGE and f"{len(losses)} agents" in PAGE


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
