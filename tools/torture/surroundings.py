"""Hostile surroundings: a small study in odd folders, environments and limits, and disturbed while it runs.

Every study runs to its end, in a copy of the project, and its tables and figures have the bytes of an undisturbed one.
"""

import json
import resource
import shutil
import signal
import tempfile
import time
from functools import partial
from pathlib import Path

from kills import SECONDS, Copy, processes, send
from outcomes import Outcomes

STUDY = {
    "output": "build/smoke",
    "seeds": 2,
    "tuning": {"configurations": 2, "refined": 0, "seeds": [1], "kept": []},
    "instances": {"tiny": {"family": "chain", "set": {"bins": 3, "horizon": 4}}},
    "agents": {"bef": {"algorithm": "bef-rlsvi", "tune": {"x": [0.1, 10]}}, "greedy": {"algorithm": "greedy"}},
    "study": {"tiny": {"episodes": 5, "agents": ["bef", "greedy"]}},
    "claims": {"trials": 2, "ids": ["C31"]},
    "statistics": {"coverage": 1},
}
FOLDERS = ["with space", "é", "it's", 'a "b"', "$HOME", "a;b", "a&b|c", "{x}", "[x]*", "-n", "%s#"]
ENVIRONMENTS = [
    {"LC_ALL": "C", "PYTHONUTF8": "0"},
    {"LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu"},
    {"TMPDIR": "/nowhere"},
    {"TMPDIR": "/proc"},  # as if full: nothing can be written there
    {"HOME": "/nowhere", "XDG_CACHE_HOME": "/nowhere"},
    {"PYTHONOPTIMIZE": "2", "PYTHONHASHSEED": "1", "PYTHONWARNINGS": "error::UserWarning"},
    {"OMP_NUM_THREADS": "7", "OPENBLAS_NUM_THREADS": "7", "MPLBACKEND": "nonsense"},
]
LIMITS = {
    "64 files": (resource.RLIMIT_NOFILE, 64),
    "1.5 GB": (resource.RLIMIT_AS, 3 * 2**29),
}


def copy_in(folder, name="project"):
    """A copy of the project with the small study."""
    copy = Copy(folder, name)
    (copy.folder / "config" / "smoke.yaml").write_text(json.dumps(STUDY))
    return copy


def same(copy, usual):
    made = copy.results()
    different = sorted(name for name in {*made, *usual} if made.get(name) != usual.get(name))
    assert not different, f"{len(different)} files differ from those of the undisturbed run: {different[:5]}"


def undisturbed(copy, usual, **options):
    copy.finish(**options)
    same(copy, usual)


def in_folder(folder, name, usual):
    undisturbed(copy_in(folder, name), usual)


def with_environment(copy, changes, usual):
    copy.environment |= changes
    undisturbed(copy, usual)


def with_limit(copy, limit, usual):
    number, value = limit
    undisturbed(copy, usual, preexec_fn=partial(resource.setrlimit, number, (value, value)))


def with_foreign_modules(copy, usual):
    """Files of the current folder that have the names of modules."""
    for name in ("random.py", "json.py", "numpy.py"):
        (copy.folder / name).write_text("raise RuntimeError('the wrong module')\n")
    undisturbed(copy, usual)


def when_job(copy, run, word):
    """Wait until a job runs that has this word in its command line; return the processes of the run, that job first."""
    while run.poll() is None:
        if jobs := processes(copy.folder, word):
            return jobs + processes(copy.folder)
        time.sleep(0.02)
    raise AssertionError(f"no job {word} has run")


def stopped(copy, usual):
    """Everything is stopped for some seconds."""
    run = copy.start()
    alive = when_job(copy, run, "run")
    send(signal.SIGSTOP, alive)
    time.sleep(5)
    send(signal.SIGCONT, alive)
    copy.succeeded(run.wait())
    same(copy, usual)


def killed(copy, usual):
    """The job of the report is killed, and the study is started again."""
    run = copy.start()
    send(signal.SIGKILL, when_job(copy, run, "report")[:1])
    assert run.wait() != 0, "the study has not noticed that a job was killed"
    undisturbed(copy, usual)


def edited(copy, usual):
    """Code is edited while a job runs, and restored: the job fails, and the next start makes its result again."""
    source = copy.folder / "src" / "befrl" / "experiment" / "loop.py"
    content, run = source.read_text(), copy.start()
    when_job(copy, run, "instance")
    source.write_text(content.replace("plan.values - best", "plan.values - 2 * best"))
    when_job(copy, run, "run")
    source.write_text(content)
    run.wait()
    undisturbed(copy, usual)


def inject(number):
    """Outcomes of the first surroundings of each kind."""
    folders, environments, limits, events = (
        Outcomes(f"study {words}", seconds=SECONDS)
        for words in ("in odd folders", "in odd environments", "with limits", "disturbed")
    )
    with tempfile.TemporaryDirectory() as folder:
        first = copy_in(folder)
        first.finish()
        usual = first.results()

        def fresh(function, *arguments):
            with tempfile.TemporaryDirectory() as other:
                function(copy_in(other), *arguments, usual)

        for i, name in enumerate(FOLDERS[:number]):
            place = Path(folder) / str(i)
            place.mkdir()
            folders.count(name, partial(in_folder, place, name, usual))
            shutil.rmtree(place)
        for changes in ENVIRONMENTS[:number]:
            environments.count(changes, partial(fresh, with_environment, changes))
        for name, limit in list(LIMITS.items())[:number]:
            limits.count(name, partial(fresh, with_limit, limit))
        for function in (with_foreign_modules, stopped, killed, edited)[:number]:
            events.count(function.__name__, partial(fresh, function))
    return [folders, environments, limits, events]
