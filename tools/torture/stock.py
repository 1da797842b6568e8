"""A complete tiny study in a folder, made by the command line itself: the files that attacks start from."""

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path

from befrl import cli, figures
from befrl.common.layout import Layout
from befrl.study import config
from befrl.study.yaml_file import read_yaml

STUDY = {
    "seeds": 2,
    "tuning": {"configurations": 2, "seeds": [1], "kept": []},
    "instances": {
        "tiny": {"family": "chain", "set": {"bins": 3, "horizon": 3}},
        "small": {"family": "riverswim", "set": {"states": 3, "horizon": 3}},
    },
    "agents": {
        "bef-rlsvi": {"algorithm": "bef-rlsvi", "tune": {"x": [0.1, 10]}},
        "eps": {"algorithm": "eps-greedy", "tune": {"eta": [0.1, 10]}},
        "greedy": {"algorithm": "greedy"},
        "random": {"algorithm": "random"},
    },
    "study": {
        "tiny": {"tracks": ["U", "K"], "episodes": 5, "agents": ["bef-rlsvi", "eps", "greedy", "random"]},
        "small": {"episodes": 5, "agents": ["greedy", "random"]},
    },
    "components": {"exploration": {"episodes": {"tiny": 3}, "tuning": 2, "evaluation": 2}},
    "claims": {"trials": 2, "ids": ["C31", "C39"]},
}
BATCH = "1000-1001"


def befrl(*words):
    """Run a command line in this process: exit code, and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main([str(word) for word in words])
        except SystemExit as error:
            code = error.code
    return code, out.getvalue(), err.getvalue()


def made(*words):
    code, _, err = befrl(*words)
    if code:
        raise RuntimeError(f"befrl {' '.join(map(str, words))}: {err}")


@contextlib.contextmanager
def made_in_a_folder():
    """A folder with the study, which is the working directory in the block; yields its config and layout."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield make()
        finally:
            os.chdir(before)


def make():
    """Make the study in the working directory; return its config and layout."""
    study, layout = config.check(STUDY, read_yaml(config.SCHEMA)), Layout()
    Path("study.json").write_text(json.dumps(STUDY))
    for name, entry in study["instances"].items():
        values = [f"{key}={value}" for key, value in entry["set"].items()]
        made("instance", entry["family"], "--set", *values, "--name", name, "--out", layout.instance(name))
    for instance, track in study.cases():
        _runs(study, layout, instance, track)
    for claim in study.claim_ids():
        made("claim", claim, "--trials", 2, "--out", layout.claim(claim))
    made("ledger", *map(layout.claim, study.claim_ids()), "--out", layout.ledger(), "--errata", layout.errata())
    explored = study.component("exploration")
    for name, settings in explored.items():
        words = [f"{key}={json.dumps(value)}" for key, value in settings.items()]
        out = Path(layout.component("exploration", "points", name)).parent
        timings = layout.component_timings("exploration", name)
        instance = layout.instance(name)
        made(
            *("components", "exploration", "--instance", instance, "--set", *words),
            *("--out", out, "--timings", timings),
        )
    made("instances", "--names", *study["instances"], "--explored", *explored, "--out", layout.instances())
    cases = [f"{instance}_{track}" for instance, track in study.compared_cases()]
    made("table1", "--cases", *cases, "--out", layout.table1(), "--timings", layout.table1_timings())
    for name, (kind, things) in study.figures().items():
        paths = figures.tables(layout, kind, things)
        made("figure", kind, "--tables", *paths, "--out", Path(layout.figures) / name)
    made("report", "--study", "study.json", "--out", layout.report())
    return study, layout


def _runs(study, layout, instance, track):
    """Tune and run the agents of a case, and make its tables."""
    entry = study["study"][instance]
    play = ["--instance", layout.instance(instance), "--track", track, "--episodes", entry["episodes"], "--quiet"]
    tuned = []
    for agent in entry["agents"]:
        about = study["agents"][agent]
        words = [*play, "--agent", about["algorithm"]]
        more = ["--label", agent, "--seeds", BATCH, "--out", layout.run(instance, track, agent, BATCH)]
        if "tune" in about:
            tuned.append(agent)
            out = layout.tuned(instance, track, agent)
            ranges = [f"{key}={json.dumps(value)}" for key, value in about["tune"].items()]
            made("tune", *words, "--tune", *ranges, "--configurations", 2, "--seeds", 1, "--kept", "--out", out)
            more += ["--tuned", out]
        made("run", *words, *more)
    out = Path(layout.regret("summary", instance, track)).parent
    words = ["--runs", layout.runs(instance, track), "--agents", *entry["agents"], "--tuned", *tuned]
    made("aggregate", *words, "--batches", BATCH, "--out", out, "--timings", layout.regret_timings(instance, track))
