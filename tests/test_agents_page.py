"""docs/agents.md has every algorithm once, with its constants and its tests, and explains all variants."""

import dataclasses
import re

import pytest
import yaml

from befrl import agents
from befrl.analysis import published
from befrl.common import defaults
from helpers import PROJECT

PAGE = (PROJECT / "docs/agents.md").read_text(encoding="utf-8")
ENTRIES = yaml.safe_load((PROJECT / "config/agents.yaml").read_text(encoding="utf-8"))["agents"]
ALGORITHMS = agents.registry.own()


def section(title):
    """The text under a heading of the second level."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)[1]


def table(title):
    """The rows of the only table of a section, without its heading, as lists of cells."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert {len(row) for row in rows} == {len(rows[0])}
    assert all(all(row) for row in rows)
    return rows[2:]


def test_every_algorithm_has_exactly_one_row_and_no_other_name_has_one():
    assert sorted(row[0] for row in table("Algorithms")) == ALGORITHMS


def test_knowledge_of_every_algorithm_is_stated_once():
    """Rows of the second table have several names, and a remark in parentheses."""
    rows = table("What each agent knows of the truth")
    assert sorted(name for row in rows for name in re.sub(r" \(.*\)", "", row[0]).split(", ")) == ALGORITHMS


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_constants_are_those_of_the_code(algorithm):
    module = agents.registry.module(algorithm)
    scaled = "scale" in {field.name for field in dataclasses.fields(module.Parameters)}
    expected = "surrogate" if module.Agent.surrogate else "theory" if scaled else "none"
    assert {row[0]: row[4] for row in table("Algorithms")}[algorithm] == expected
    assert agents.constants(algorithm, agents.parameters(algorithm, {})) == expected


def test_tests_and_published_sources_exist():
    compared = set()
    for *_, verified in table("Algorithms"):
        files = re.findall(r"`(test_\w+\.py)`", verified)
        assert files
        assert all(list((PROJECT / "tests").rglob(file)) for file in files)
        compared |= set(re.findall(r"published (?:numbers|setting): (\w+)", verified))
    assert compared == set(published.registry.own())


def test_every_shared_variant_is_explained():
    (explained,) = re.findall(r"^- \*\*`-shared`\*\*.*?(?=^- )", section("Variants"), re.DOTALL | re.MULTILINE)
    shared = {name for name in ENTRIES if name.endswith("-shared")}
    assert shared == set(re.findall(r"[\w-]+-shared\b", explained.replace("`-shared`", "")))
    assert all(ENTRIES[name]["set"] == {"share": "steps"} for name in shared)


def test_every_other_variant_has_its_line():
    """A variant is an entry with another name than its algorithm's, or with values of its own."""
    variants = {name for name, entry in ENTRIES.items() if name != entry["algorithm"] or "set" in entry}
    bold = set(re.findall(r"\*\*([\w-]+)\*\*", section("Variants")))
    assert bold == {name for name in variants if not name.endswith("-shared")}


def test_budget_of_tuning_is_the_default():
    *first, last = map(str, defaults.TUNING_SEEDS)
    text = " ".join(section("Fairness").split())
    assert f"{defaults.CONFIGURATIONS} configurations over the ranges, {defaults.REFINED} more" in text
    assert f"over {', '.join(first)} and {last} tuning seeds" in text
    idle = {name for algorithm in ALGORITHMS for name in agents.idle(algorithm)}
    assert f"has no effect if the reward is known (`{'`, `'.join(sorted(idle))}`)" in text
