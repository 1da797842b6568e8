"""The config: what is accepted, what a study makes of it, and the error message for everything else."""

import copy
import functools
import json
import re
from dataclasses import asdict

import pytest
import yaml

from befrl.analysis import components
from befrl.common.errors import InputError
from befrl.experiment.tuning import Halving
from befrl.study.config import check, load, of_workflow
from befrl.study.study import Study
from helpers import PROJECT
from small_study import BASE, changed, error_of

FOLDER = PROJECT / "config"
CONFIGS = sorted(set(FOLDER.glob("*.yaml")) - {FOLDER / "agents.yaml", FOLDER / "published.yaml"})


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_config_of_the_project_is_accepted(path):
    study = load(path)
    assert study.cases() and study.claim_ids()
    assert {path.stem for path in CONFIGS} >= {"config", "smoke", "full"}


@pytest.mark.parametrize("content", [None, b"\x86\x00\xff", b"a: [1,", b"just text", b"", b"[1]", b"3"])
def test_file_that_is_no_config_is_rejected(tmp_path, content):
    path = tmp_path / "study.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"cannot be read|the config must be a mapping with the keys output"):
        load(path)


# Bad configs, one in a line: path of the entry = value | other value -> message, where ... stands for any text.
# Ranges, types, lengths and unknown keys are tested for all keys in test_schema.py.
BAD = """
sedes = {} -> config: unknown key 'sedes' (did you mean 'seeds'?): allowed are output, toy, root_seed
instances.small.set = {bin: 3} -> instances.small.set: unknown parameter 'bin' (did you mean 'bins'?): allowed are bins,
agents.ours.set = {y: 3} -> agents.ours.set: unknown parameter 'y': allowed are planner ... scale, x
agents.ours.tune = {y: [1, 2]} -> agents.ours.tune: unknown parameter 'y': allowed are planner ... scale, x
agents.ours.sweep = {y: [1, 2]} -> agents.ours.sweep: unknown parameter 'y': allowed are planner ... scale, x
study.small = {episode: 5, agents: [ours]} -> study.small: unknown key 'episode' (did you mean 'episodes'?): allowed are
study.small.tuning = {configurations: 4} -> study.small.tuning: the key 'seeds' is missing: required are configurations,
instances.small.family = ring -> instances.small.family: unknown instance 'ring': choose one of chain, circle
instances.small.set = {reward: cauchy} -> instances.small.set: reward = 'cauchy' ... it must be one of bernoulli
agents.ours.algorithm = dqn -> agents.ours.algorithm: unknown agent 'dqn': choose one of bef-rlsvi
agents.greedy.set = {estimator: guess} -> agents.greedy.set: estimator = 'guess' ... one of ais ... shah
study.small.agents = [ours, theirs] -> study.small.agents: unknown agent 'theirs': choose one of ours, greedy
study.large = {episodes: 5, agents: [ours]} -> study.large: unknown instance 'large': choose one of small
claims.ids = [C31, C999] -> claims.ids: unknown claim 'C999': choose one of C01, C02
components.exploration = {episodes: {large: 5}} -> components.exploration: unknown instance 'large': choose one of small
published = {nobody: {a: [small]}} -> published: unknown published source 'nobody': choose one of ayoub, cho, lee, li
published = {cho: {a: [small]}} -> published.cho: unknown experiment 'a': choose one of returns, runtime
published = {li: {reward: [large]}} -> published.li.reward: unknown instance 'large': choose one of small
published = {li: {reward: [small]}} -> published.li.reward: study.small.tracks has no K, which the source uses
published = {li: {reward: []}} -> published.li.reward = [] ... it must be a list of one or more different texts
include = [../agents.yaml] -> include = '../agents.yaml' is not allowed: name a file of the folder config/
include = [nothing.yaml] -> include: nothing.yaml: config ... nothing.yaml cannot be read: there is no such file
include = [smoke.yaml] -> include: smoke.yaml: config: unknown key 'output': allowed are agents, groups, plugins
groups = {ours: [greedy]} -> groups.ours has the name of an agent: choose another
groups = {all: []} -> groups.all = [] is not allowed: it must be a list of one or more different texts
agents.greedy.algorithm = ucrl-mnl -> study.small.agents: agent 'greedy': ... needs a finite state space
agents.greedy.set = {estimator: gaussian} -> study.small.agents: agent 'greedy': ... 'gaussian' ... as in instance 'lds'
agents.ours.set = {planner: jacobi-anger} -> study.small.agents: agent 'ours': ... 'jacobi-anger' ... instance 'circle'
agents.greedy = {algorithm: bef-rlsvi, set: {x: 1, scale: 2}} -> agents.greedy: ... set either x or scale, not both
instances.small = {family: jao, set: {eps: 0.4, rate: 0.99}} -> instances.small: instance 'jao': rate + eps =
output = "" -> output = '' is not allowed: it must be a non-empty text
output = "a{b}" | -rf | .git | src | src/befrl | .. | ../out | /tmp/out | a/../../b | a b -> OUTPUT
output = $HOME | "a\\n" | größe | config/README.md | results | a//.b | LONGLONGLONG -> OUTPUT
seeds = 1.0e+308 | null -> seeds = ... is not allowed: it must be a whole number from 2 to 1000000
components.certified = {instances: {large: {}}} -> components.certified: unknown instance 'large': choose one of small
components.certified.instances = {small: {seed: 3}} -> components.certified.instances.small: unknown key 'seed' (did
components.exploration.episodes = {small: 0} -> components.exploration.episodes.small = 0 ... from 1 to 1000000
statistics.level = 0.0 | 1 | HUGE -> statistics.level = ... is not allowed: it must be a number above 0 and below 1
statistics.level = .nan | .inf -> statistics.level = ... is not allowed: it must be a finite number
toy = 2026-01-01 | !!set {a} -> toy = ... is not allowed: it must be a text, a number, a list or a mapping
ties = last -> ties = 'last' is not allowed: choose random or first
study.small.tracks = [U, V] -> study.small.tracks.1 = 'V' is not allowed: choose U or K
jobs.slurm_account = a b -> jobs.slurm_account = 'a b' ... it must be a text of letters, digits and the signs _ , . -
instances.small.set = {bins: 1} | {bins: HUGE} -> instances.small.set: bins = 1 ... a whole number from 2 to 1000
tuning.seeds = [4, 2] -> tuning.seeds = [4, 2] is not allowed: it must be increasing numbers from 1 to 1000
tuning.kept = [4] | [] -> tuning.kept = [ ... it must be decreasing numbers from 1 to 3, one fewer than tuning.seeds
study.small.tuning = {configurations: 4, seeds: [1, 2], kept: [9]} -> study.small.tuning.kept = [9] ... from 1 to 3
agents.ours.tune = {x: [3, 1]} -> agents.ours.tune: x = [3, 1] ... it must be [low, high] with 0 < low < high
agents.ours.tune = {x: [0, 1]} | {x: [a, b]} | {x: [1, 2, 3]} | {x: '1'} | {x: true} -> RANGE
agents.ours.tune = {x: [1, HUGE]} | {x: [1, 1.0e+13]} -> agents.ours.tune: x = 1000 ... a number from 0 to 1e+12
agents.ours.tune = {x: [1, 2], eta: [1, 1.0e+9]} -> agents.ours.tune: eta = 1000000000 ... a number from 1e-06 to 1e+06
agents.ours.tune = {x: 3} -> agents.ours.tune: give at least one range, such as x=[0.01,100]
agents.ours.tune = {features: [10, 100]} -> agents.ours.tune: features = ... it must be a whole number from 1 to
agents.ours.tune = {} -> agents.ours.tune = {} is not allowed: it must be a mapping with one or more entries
agents.ours.tune = {x: [1, 2], scale: [1, 2]} -> agents.ours: agent 'bef-rlsvi': set either x or scale, not both
agents.ours.sweep = {x: [1, -1]} -> agents.ours.sweep: x = -1 is not allowed: it must be a number from 0 to 1e+12
agents.ours.sweep = {x: [1]} | {x: [1, 1.0]} -> agents.ours.sweep.x = [1 ... a list of 2 or more different numbers
agents.ours.sweep = {x: [1, 2], eta: [1, 2]} -> agents.ours.sweep = ... it must be a mapping with one entry
agents.ours.sweep = {x: [1, '1']} | {x: [1, null]} | {x: [1, true]} -> agents.ours.sweep.x.1 = ... it must be a number
instances = {a_b: {family: chain}} | {-a: {family: chain}} | {LONG: {family: chain}} -> instances: NAME
agents = {a/b: {algorithm: greedy}} | {"a\\n": {algorithm: greedy}} -> agents: NAME
instances = {} -> instances = {} is not allowed: it must be a mapping with one or more entries
"""
WORDS = {
    "OUTPUT": "output = ... it must be . or a folder of its own in the project, such as build/mine, named with",
    "RANGE": "agents.ours.tune.x = ... is not allowed: it must be a number or a list of 2 numbers above 0",
    "NAME": "the name ... it must be at most 100 letters, digits, . and -, the first a letter or a digit",
    "HUGE": "1" + "0" * 399,
    "LONG": "x" * 101,
}


def bad_configs():
    """The (path, value, parts of the message) of each value in the table."""
    for line in filter(None, functools.reduce(lambda text, word: text.replace(*word), WORDS.items(), BAD).splitlines()):
        left, _, message = line.partition(" -> ")
        path, _, values = left.partition(" = ")
        yield from ((path, yaml.safe_load(value), message.split("...")) for value in values.split(" | "))
    for kind in sorted({*components.registry.names()} - {"certified", "exploration"}):
        yield f"components.{kind}.instances", ["large"], [f"components.{kind}: unknown instance 'large': choose one of"]


@pytest.mark.parametrize(("path", "value", "words"), bad_configs(), ids=lambda part: f"{part!s:.30}")
def test_bad_entry_is_answered_with_the_key_and_what_is_allowed(path, value, words):
    assert re.match(".+".join(re.escape(word.strip()) for word in words), error_of(changed(path, value)))


def test_config_without_a_required_part_or_of_wrong_type_is_rejected():
    """YAML has keys that are numbers, dates or nothing."""
    for key in ("instances", "agents", "study"):
        message = error_of({name: value for name, value in BASE.items() if name != key})
        assert message == f"config: the key '{key}' is missing: required are instances, agents, study"
    for value in (None, [], "text", 3, True):
        assert error_of(value).startswith("the config must be a mapping with the keys output, toy")
    assert "config: unknown key '1'" in error_of({**BASE, 1: 2, None: 3, "more": 4})
    assert error_of({**BASE, "groups": {1: ["greedy"], "1": ["ours"]}}).startswith("groups: the key '1' is given twice")


def test_names_are_texts_and_whole_numbers_whole_however_they_are_written():
    """`1: {family: chain}` has a number as name; in a range or a sweep 3.0 is 3, too."""
    config = {**BASE, "instances": {1: {"family": "chain"}}, "study": {1: BASE["study"]["small"]}}
    assert check(config).cases() == [("1", "U")]
    more = {"jobs": {"seeds_per_job": 2}, "components": {"exploration": {"episodes": {"small": 5}}}}
    with_points = re.sub(r"(?<=[ \[])(\d+)\b(?!\.)", r"\1.0", json.dumps(BASE | more))
    assert "3.0" in with_points and with_points.count(".0") > 10
    study, written = check(BASE | more), check(json.loads(with_points))
    assert json.dumps(asdict(written)) == json.dumps(asdict(study))


def test_component_settings_are_given_by_instance():
    given = {
        "certified": {"instances": {"small": {"seeds": 7}}, "episodes": 9},
        "exploration": {"episodes": {"small": 7}, "tuning": 3},
        "planners": {"instances": ["small"], "features": [4, 8]},
    }
    study = check(BASE | {"components": given})
    (settings,) = study.component("certified").values()
    assert (settings["seeds"], settings["episodes"], settings["configurations"]) == (7, 9, 12)
    assert study.component("exploration") == {"small": {"episodes": 7, "tuning": 3, "evaluation": 20}}
    assert study.component("planners") == {"small": {"features": [4, 8], "repetitions": 30}}
    assert study.component("densities") == study.component("estimators") == {}
    assert study.components() == [(kind, "small") for kind in ("exploration", "certified", "planners")]
    assert check(BASE).components() == []


def test_groups_stand_for_their_agents_and_unused_agents_are_left_out():
    config = BASE | {"include": ["agents.yaml"], "groups": {"mine": ["greedy", "psrl"]}}
    config["study"] = {"small": {"episodes": 5, "agents": ["ours", "mine"]}}
    study = check(config)
    assert study["study"]["small"]["agents"] == ["ours", "greedy", "psrl"]
    assert set(study["agents"]) == {"ours", "greedy", "psrl"}
    # The config's own agent takes precedence over the included one of its name.
    own = config | {"agents": BASE["agents"] | {"psrl": {"algorithm": "psrl", "set": {"tau": 2}}}}
    assert check(own)["agents"]["psrl"]["set"] == {"tau": 2}
    config["study"]["small"]["agents"] = ["greedy", "mine"]
    assert "agent 'greedy' is named twice" in error_of(config)


def test_a_case_needs_an_agent_besides_the_oracle():
    config = changed("study.small.agents", ["best"]) | {"agents": {"best": {"algorithm": "oracle"}}}
    assert error_of(config).startswith("study.small.agents: there is only the oracle")


def test_commands_name_the_snakefile_of_another_folder():
    there = of_workflow(BASE, [], [], "there/Snakefile").command("figures/a b.svg")
    assert there == "snakemake --cores all --snakefile there/Snakefile 'figures/a b.svg'"
    assert check(BASE).command("a.svg") == "snakemake --cores all a.svg"


def test_published_cases_are_left_out_of_the_comparison():
    config = changed("study.small.tracks", ["U", "K"]) | {"published": {"ayoub": {"code": ["small"]}}}
    study = check(config)
    assert study.cases() == [("small", "U"), ("small", "K")]
    assert study.compared_cases() == [("small", "U")]
    assert study.repeated("ayoub") == [("small", "K")]
    assert {"regret_small_U", "ordering_small_U", "published_ayoub", "who-wins"} <= set(study.figures)
    assert "regret_small_K" not in study.figures


def test_instance_may_have_its_own_seeds_and_tuning():
    config = copy.deepcopy(BASE)
    config["instances"]["other"] = config["instances"]["small"]
    own = {"seeds": 7, "tuning": {"configurations": 9, "seeds": [1, 5, 9], "kept": [4, 3]}}
    config["study"]["other"] = config["study"]["small"] | own
    study = check(config)
    assert study.halving("small") == Halving(4, 0, (2, 4), (2,))
    assert study.halving("other") == Halving(9, 0, (1, 5, 9), (4, 3))
    assert (list(study.batches("small")), list(study.batches("other"))) == (["1000-1002"], ["1000-1006"])
    assert study.tuned("small") == ["ours"] and study.agent("small", "U", "ours")["tune"] == {"x": [1, 30], "eta": 2}


def test_study_file_is_read_back_equal_and_damage_is_noticed(tmp_path):
    path = tmp_path / "study.json"
    study = check(changed("statistics.level", 0.1 + 0.2), configfiles=["a.yaml", "b.yaml"])
    study.write(path)
    assert Study.read(path) == study
    text = path.read_text()
    assert '"episodes": 5' in text
    for damaged in (text[:-30], text.replace('"episodes": 5', '"episodes": 6', 1), "{}", "[1]", "", '{"hash": "0"}'):
        path.write_text(damaged)
        with pytest.raises(InputError, match=r"study\.json: (cannot be read as JSON|damaged|not a study)"):
            Study.read(path)
