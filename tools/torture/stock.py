"""A complete tiny study, made by its jobs in this process: the files that faults are injected into."""

import contextlib
import io
import tempfile

from befrl import cli
from befrl.study import config

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
BATCH, FILE = "1000-1001", "results/study.json"


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


def job(kind, **names):
    """The words of a job's command line."""
    return ["job", kind, "--study", FILE, *(word for name, value in names.items() for word in (f"--{name}", value))]


@contextlib.contextmanager
def study_in_a_folder(content=STUDY):
    """A folder with the results of a study, which is the working directory in the block; yields the study."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        study = config.check(content)
        study.write(FILE)
        for name in study["instances"]:
            made(*job("instance", instance=name))
        for instance, track in study.cases():
            case = {"instance": instance, "track": track}
            for agent in study["study"][instance]["agents"]:
                if agent in study.tuned(instance):
                    made(*job("tune", **case, agent=agent))
                made(*job("run", **case, agent=agent, batch=BATCH))
            made(*job("aggregate", **case))
        for component, instance in study.components():
            made(*job("component", component=component, instance=instance))
        for section in study.claim_sections():
            made(*job("claims", section=section))
        for kind in ("ledger", "instances", "table1", "improvement"):
            made(*job(kind))
        for name in study.figures:
            made(*job("figure", figure=name))
        made(*job("report"))
        yield study
