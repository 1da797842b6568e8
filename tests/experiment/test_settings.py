"""Names of settings: one text for each setting, however it is given, and labels that can be taken apart."""

import dataclasses

from befrl import agents
from befrl.experiment.settings import setting_text, split, variants


def test_only_what_differs_from_the_defaults_is_named_in_the_order_of_declaration():
    names = [field.name for field in dataclasses.fields(agents.parameters("lsvi-ucb", {}))]
    assert names.index("share") < names.index("lam")
    for given in ({"lam": 2, "share": "steps"}, {"share": "steps", "lam": 2.0}):
        assert setting_text("lsvi-ucb", given) == "share=steps lam=2"
    # Defaults have no text, neither when they are left out nor when they are written out, as in a run file.
    for algorithm in agents.registry.names():
        assert setting_text(algorithm, {}) == ""
        assert setting_text(algorithm, dataclasses.asdict(agents.parameters(algorithm, {}))) == ""


def test_variants_are_the_agents_own_those_chosen_by_tuning_and_those_of_the_sweep():
    """Chosen values go over the agent's own; a sweep changes one value of the agent's own."""
    tried = [{"values": {"x": x, "eta": 2.0}} for x in (0.1, 1.0, 10.0)]
    outcome = {"configurations": tried, "chosen": {"tuned": 2, "median": 0, "worst": 1}}
    own = {"eta": 5, "noise": "step"}
    found = variants("b", own, outcome, {"x": [0.3, 3000, 1e-7]})
    chosen = {"b@tuned": own | {"eta": 2.0, "x": 10.0}}
    swept = {"b@x=0.3": own | {"x": 0.3}, "b@x=3000": own | {"x": 3000}, "b@x=1e-07": own | {"x": 1e-7}}
    assert found == {"b": {"eta": 5, "noise": "step"}} | chosen | swept
    assert variants("b", {"eta": 5}) == {"b": {"eta": 5}}
    roles = [("", None), ("tuned", None), *[("sweep", "x")] * 3]
    assert [split(label) for label in found] == [("b", *role) for role in roles]
