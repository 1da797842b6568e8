"""Names of settings: one text for each setting, however it is given, and labels that can be taken apart."""

import dataclasses

import pytest

from befrl import agents
from befrl.experiment.settings import label, setting_text, split


def test_only_what_differs_from_the_defaults_is_named_in_the_order_of_declaration():
    names = [field.name for field in dataclasses.fields(agents.parameters("lsvi-ucb", {}))]
    assert names.index("share") < names.index("lam")
    for given in ({"lam": 2, "share": "steps"}, {"share": "steps", "lam": 2.0}):
        assert setting_text("lsvi-ucb", given) == "share=steps lam=2.0"
    assert setting_text("lsvi-ucb", {}) == ""


@pytest.mark.parametrize("algorithm", agents.catalogue.names())
def test_defaults_have_no_text(algorithm):
    """Neither when they are left out nor when they are written out, as in a run file."""
    assert setting_text(algorithm, dataclasses.asdict(agents.parameters(algorithm, {}))) == ""


def test_the_varied_parameter_is_left_out():
    assert setting_text("lsvi-ucb", {"share": "steps", "lam": 2}, varied="lam") == "share=steps"


def test_a_label_is_split_into_the_agent_and_the_parameter_of_its_grid():
    assert label("bef-rlsvi", "x", 3) == "bef-rlsvi@x=3"
    assert split(label("bef-rlsvi", "x", 0.3)) == ("bef-rlsvi", "x")
    assert split("bef-rlsvi") == ("bef-rlsvi", None)
