"""Names of settings: one text for each setting, however it is given, and labels that can be taken apart."""

import dataclasses

import pytest

from befrl import agents
from befrl.experiment.settings import setting_text, split, variants


def test_only_what_differs_from_the_defaults_is_named_in_the_order_of_declaration():
    names = [field.name for field in dataclasses.fields(agents.parameters("lsvi-ucb", {}))]
    assert names.index("share") < names.index("lam")
    for given in ({"lam": 2, "share": "steps"}, {"share": "steps", "lam": 2.0}):
        assert setting_text("lsvi-ucb", given) == "share=steps lam=2"
    assert setting_text("lsvi-ucb", {}) == ""


@pytest.mark.parametrize("algorithm", agents.catalogue.names())
def test_defaults_have_no_text(algorithm):
    """Neither when they are left out nor when they are written out, as in a run file."""
    assert setting_text(algorithm, dataclasses.asdict(agents.parameters(algorithm, {}))) == ""


OUTCOME = {
    "configurations": [{"values": {"x": 0.1, "eta": 2.0}}, {"values": {"x": 7.0, "eta": 3.0}}, {"values": {"x": 50.0}}],
    "chosen": {"tuned": 1, "median": 0, "worst": 2},
}


def test_an_agent_has_its_own_values_those_chosen_in_tuning_and_those_swept():
    """What is chosen or swept replaces the agent's own value of that parameter alone."""
    own = {"eta": 5.0, "clip": "range"}
    assert variants("mine", own) == {"mine": own}
    assert variants("mine", own, OUTCOME, {"x": [0.3, 3.0]}) == {
        "mine": own,
        "mine@tuned": {"eta": 3.0, "clip": "range", "x": 7.0},
        "mine@median": {"eta": 2.0, "clip": "range", "x": 0.1},
        "mine@worst": {"eta": 5.0, "clip": "range", "x": 50.0},
        "mine@x=0.3": {"eta": 5.0, "clip": "range", "x": 0.3},
        "mine@x=3": {"eta": 5.0, "clip": "range", "x": 3.0},
    }


def test_a_label_is_split_into_the_agent_its_role_and_the_swept_parameter():
    labels = variants("bef-rlsvi", {}, OUTCOME, {"x": [0.3, 3.0]})
    assert [split(label) for label in labels] == [
        ("bef-rlsvi", "", None),
        ("bef-rlsvi", "tuned", None),
        ("bef-rlsvi", "median", None),
        ("bef-rlsvi", "worst", None),
        ("bef-rlsvi", "sweep", "x"),
        ("bef-rlsvi", "sweep", "x"),
    ]
