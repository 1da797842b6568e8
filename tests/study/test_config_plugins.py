"""Plug-ins of a config: found beside the file that names them, loaded before names are checked, not in the hash."""

import pytest
import yaml

from befrl import agents, plugins
from befrl.study import config
from befrl.study.config import check, load
from small_study import error_of

pytestmark = pytest.mark.usefixtures("unplugged")

AGENT = "from befrl.agents.greedy import Agent as Greedy, Parameters\nclass Agent(Greedy):\n    pass\n"
STUDY = {
    "instances": {"tiny": {"family": "chain", "set": {"bins": 3}}},
    "agents": {"mine": {"algorithm": "my-agent"}},
    "study": {"tiny": {"episodes": 5, "agents": ["mine"]}},
}


@pytest.fixture
def home(tmp_path, tmp_path_factory, monkeypatch):
    """A folder with configs, also to include, and with a plug-in in a subfolder; the process runs elsewhere."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "my_agent.py").write_text(AGENT)
    (tmp_path / "broken.py").write_text("class Agent\n")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.setattr(config, "included", lambda: tmp_path)
    return tmp_path


def test_plugins_are_found_beside_the_config_and_do_not_count_in_the_hash(home):
    (home / "study.yaml").write_text(yaml.safe_dump(STUDY | {"plugins": ["parts"]}))
    study = load(home / "study.yaml")
    assert study.agent("tiny", "U", "mine")["algorithm"] == "my-agent"
    assert study.plugins == plugins.sources() == [str(home / "parts")]
    # A job that has loaded the plug-ins checks the study without them.
    assert "plugins" not in study.config
    assert check(study.config).hash == study.hash


def test_plugins_of_an_included_file_are_found_beside_it(home):
    (home / "shared.yaml").write_text(yaml.safe_dump({"agents": STUDY["agents"], "plugins": ["parts/my_agent.py"]}))
    study = check(STUDY | {"agents": {}, "include": ["shared.yaml"]})
    assert study.agent("tiny", "U", "mine")["algorithm"] == "my-agent"
    (home / "shared.yaml").write_text(yaml.safe_dump({"agents": {}, "plugins": "parts"}))
    message = error_of(STUDY | {"include": ["shared.yaml"]})
    assert message == "include: shared.yaml: plugins = 'parts' is not allowed: it must be a list of texts"


WRONG = {
    "nowhere": (["nowhere"], "plugins: plugin nowhere: there is no "),
    "no list": ("parts", "plugins = 'parts' is not allowed: it must be a list of different non-empty texts"),
    "no text": ([3], "plugins.0 = 3 is not allowed: it must be a non-empty text"),
    "twice": (["parts", "parts"], "plugins = ['parts', 'parts'] is not allowed: it must be a list of different"),
    "broken": (["broken.py"], "plugins: "),
    "not named": ([], "agents.mine.algorithm: unknown agent 'my-agent': choose one of bef-rlsvi"),
}


@pytest.mark.parametrize(("given", "words"), WRONG.values(), ids=WRONG)
def test_wrong_plugins_are_rejected_with_the_key(home, given, words):
    message = error_of(STUDY | {"plugins": given}, home=home)
    assert message.startswith(words) and ("broken.py" not in given or "broken.py, line 1: " in message)
    assert agents.registry.added.keys() <= {"my-agent"}
