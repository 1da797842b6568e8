"""Plug-ins of a config: relative to the file that names them, loaded before names are checked, no part of the study."""

import pytest
import yaml

from befrl import agents, plugins
from befrl.common.errors import InputError
from befrl.study.config import SCHEMA, check, load, read_yaml

pytestmark = pytest.mark.usefixtures("unplugged")

AGENT = "from befrl.agents.greedy import Agent as Greedy, Parameters\nclass Agent(Greedy):\n    pass\n"
STUDY = {
    "instances": {"tiny": {"family": "chain", "set": {"bins": 3}}},
    "agents": {"mine": {"algorithm": "my-agent"}},
    "study": {"tiny": {"episodes": 5, "agents": ["mine"]}},
}


@pytest.fixture
def home(tmp_path):
    """A folder with a config and, in a subfolder, a plug-in."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "my_agent.py").write_text(AGENT)
    return tmp_path


def written(path, content):
    path.write_text(yaml.safe_dump(content))
    return path


def test_plugins_are_looked_up_beside_the_config(home, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    study = load(written(home / "study.yaml", STUDY | {"plugins": ["parts"]}), SCHEMA)
    assert study.agent("tiny", "mine")["algorithm"] == "my-agent"
    assert plugins.sources() == [str(home / "parts")]
    # Where the plug-ins are stored decides nothing: a job that has loaded them checks the study without them.
    assert "plugins" not in study.config
    assert check(study.config, read_yaml(SCHEMA)).hash == study.hash


def test_an_included_file_names_its_own_plugins_relative_to_itself(home, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    written(home / "shared.yaml", {"agents": STUDY["agents"], "plugins": ["parts/my_agent.py"]})
    config = {key: value for key, value in STUDY.items() if key != "agents"} | {"include": ["shared.yaml"]}
    study = check(config | {"agents": {}}, read_yaml(SCHEMA), folder=home, home=elsewhere)
    assert study.agent("tiny", "mine")["algorithm"] == "my-agent"


def test_without_the_plugin_its_name_is_unknown():
    with pytest.raises(InputError, match=r"agents\.mine\.algorithm: unknown agent 'my-agent': choose one of bef-rlsvi"):
        check(STUDY, read_yaml(SCHEMA))
    assert agents.registry.added == {}


WRONG = {
    "not there": (["nowhere"], r"plugins: plugin nowhere: there is no .*nowhere, and no installed package"),
    "no list": ("parts", r"plugins = 'parts' is not allowed: it must have type array"),
    "no text": ([3], r"plugins.0 = 3 is not allowed: it must have type string"),
    "twice": (["parts", "parts"], "plugins = .* is not allowed: it must have .*uniqueItems"),
    "broken": (["broken.py"], r"plugins: .*broken\.py, line 1: "),
}


@pytest.mark.parametrize(("given", "words"), WRONG.values(), ids=WRONG)
def test_wrong_plugins_are_refused_with_the_key(home, given, words):
    (home / "broken.py").write_text("class Agent\n")
    with pytest.raises(InputError, match=words):
        check(STUDY | {"plugins": given}, read_yaml(SCHEMA), home=home)


def test_wrong_plugins_of_an_included_file_are_refused_with_its_name(home):
    written(home / "shared.yaml", {"agents": {}, "plugins": "parts"})
    with pytest.raises(InputError, match=r"include: shared.yaml: plugins = 'parts' is not allowed"):
        check(STUDY | {"include": ["shared.yaml"]}, read_yaml(SCHEMA), folder=home)
