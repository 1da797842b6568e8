"""A complete tiny study, made by the command line itself in this process: the files that faults are injected into."""

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
def study_in_a_folder(study=STUDY):
    """A folder with the study, which is the working directory in the block; yields its config and layout."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("study.json").write_text(json.dumps(study))
        yield make(config.check(study, read_yaml(config.SCHEMA)), Layout())


def settings(values):
    return [f"{key}={json.dumps(value)}" for key, value in values.items()]


def make(study, layout):
    """Make the study in the working directory; return its config and layout."""
    for name, entry in study["instances"].items():
        words = ["--set", *settings(entry["set"]), "--name", name, "--out", layout.instance(name)]
        made("instance", entry["family"], *words)
    for case in study.cases():
        make_case(study, layout, *case)
    for claim in study.claim_ids():
        made("claim", claim, "--trials", 2, "--out", layout.claim(claim))
    made("ledger", *map(layout.claim, study.claim_ids()), "--out", layout.ledger(), "--errata", layout.errata())
    explored = study.component("exploration")
    for name, values in explored.items():
        words = ["--instance", layout.instance(name), "--set", *settings(values)]
        words += ["--out", os.path.dirname(layout.component("exploration", "points", name))]
        made("components", "exploration", *words, "--timings", layout.component_timings("exploration", name))
    made("instances", "--names", *study["instances"], "--explored", *explored, "--out", layout.instances())
    cases = ["_".join(case) for case in study.compared_cases()]
    made("table1", "--cases", *cases, "--out", layout.table1(), "--timings", layout.table1_timings())
    for name, (kind, things) in study.figures().items():
        made("figure", kind, "--tables", *figures.tables(layout, kind, things), "--out", f"{layout.figures}/{name}")
    made("report", "--study", "study.json", "--out", layout.report())
    return study, layout


def make_case(study, layout, instance, track):
    """Tune and run the agents of a case, and make its tables."""
    entry, case, tuned = study["study"][instance], (instance, track), []
    play = ["--instance", layout.instance(instance), "--track", track, "--episodes", entry["episodes"], "--quiet"]
    for agent in entry["agents"]:
        words = [*play, "--agent", study["agents"][agent]["algorithm"]]
        more = ["--label", agent, "--seeds", BATCH, "--out", layout.run(*case, agent, BATCH)]
        if ranges := study["agents"][agent].get("tune"):
            tuned.append(agent)
            out = layout.tuned(*case, agent)
            tune = ["--tune", *settings(ranges), "--configurations", 2, "--seeds", 1, "--kept", "--out", out]
            made("tune", *words, *tune)
            more += ["--tuned", out]
        made("run", *words, *more)
    words = ["--runs", layout.runs(*case), "--agents", *entry["agents"], "--tuned", *tuned, "--batches", BATCH]
    out = os.path.dirname(layout.regret("summary", *case))
    made("aggregate", *words, "--out", out, "--timings", layout.regret_timings(*case))
