"""Bad command lines: exit code 2, one line on stderr, nothing on stdout, and no file made or changed."""

import shutil

import numpy as np
import pytest

from befrl import instances
from befrl.common import storage
from befrl.experiment import run_file, runs
from befrl.experiment.spec import RunSpec
from befrl.study.config import check
from small_study import BASE

CHAIN = "--instance chain --instance-set bins=3 horizon=4"
OUT = "--seeds 2 --out new.npz"
RUN = f"run {CHAIN} --episodes 6 --agent greedy"
AGGREGATE = "aggregate --runs runs --batches 0-2 --out new --timings new.csv"
JOB = "--study study.json"
CASE = f"{JOB} --instance small --track U"
# numpy leaves a bad zip file open until it is collected.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    """Good and bad files to name on a command line."""
    folder = tmp_path_factory.mktemp("stock")
    instance = instances.build("chain", {"bins": 3, "horizon": 4})
    instances.save(folder / "good.npz", "chain", instance, {})
    spec = RunSpec.of(instance, "chain", "greedy", {}, 6, [0, 1, 2])
    log, seconds = runs.run_rows(spec, width=3)
    run_file.save(folder / "runs/greedy/0-2.npz", log, runs.describe(spec, ["greedy"], seconds))
    (folder / "text.npz").write_text("no zip file")
    (folder / "folder").mkdir()
    for name, text in (("list", "[1]"), ("empty", "{}"), ("half", '{"id": ')):
        storage.write_text(folder / f"{name}.json", text)
    check(BASE | {"components": {"planners": {"instances": ["small"]}}}).write(folder / "study.json")
    storage.write_text(folder / "edited.json", (folder / "study.json").read_text().replace('"eta": 2', '"eta": 3'))
    storage.write_text(folder / "claims.csv", "a,b\n1,2\n")
    return folder


@pytest.fixture
def files(stock, tmp_path):
    shutil.copytree(stock, tmp_path, dirs_exist_ok=True)
    return tmp_path


def state(folder):
    """Content and time of every file."""
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


BAD = {
    "walk": "'walk': choose one of aggregate",
    "rnu": "'rnu' (did you mean 'run'?): choose one of aggregate",
    "list agent": "'agent' (did you mean 'agents'?): choose one of instances",
    "list agents bef-rlsv": "unknown agent 'bef-rlsv' (did you mean 'bef-rlsvi'?): choose one of bef-rlsvi",
    "list agents --names --json": "--json",
    f"{RUN} --seeds 2 --out new.txt": "--out new.txt: the name of the file must end in .npz",
    "instance ring --out new.npz": "unknown instance 'ring': choose one of chain",
    f"instance {'a' * 100000} --out new.npz": "choose one of chain",
    "instance chain --set bin=3 --out new.npz": "'bin' (did you mean 'bins'?): allowed are bins",
    f"instance chain --set bins=1{'0' * 400} --out new.npz": "from 2 to 1000",
    "instance riverswim --set kernel=mine --out new.npz": "one of osband, cho, ayoub",
    "instance chain --set bins --out new.npz": "write name=value",
    "instance chain --set bins=3 bins=4 --out new.npz": "bins is given twice",
    "instance chain --out good.npz/new.npz": "good.npz",
    f"run --instance ring --agent greedy {OUT}": "unknown instance 'ring'",
    f"run {CHAIN} --agent dqn {OUT}": "unknown agent 'dqn': choose one of bef-rlsvi",
    f"{RUN} --set x=3 {OUT}": "unknown parameter 'x': allowed are planner, features, eta",
    f"{RUN} --set estimator=guess {OUT}": "'guess' is not allowed: it must be one of ais",
    f"{RUN} --set estimator=gaussian {OUT}": "'gaussian' cannot work with the family Trunc",
    f"run {CHAIN} --agent exp-psrl --set planner=jacobi-anger {OUT}": "'jacobi-anger' cannot plan in the family Trunc",
    f"run {CHAIN} --agent bef-rlsvi --set x=1 scale=2 {OUT}": "either x or scale",
    f"{RUN} --track V {OUT}": "choose one of U, K",
    f"{RUN} --ties last {OUT}": "choose one of random, first",
    f"{RUN} --seeds {'9' * 5000} --out new.npz": "1000000 at most",
    f"{RUN} --seeds 2 --out {'a' * 5000}.npz": "cannot be written",
    f"{RUN} --seeds 2 --out folder": "folder",
    f"{RUN} --episodes 0 {OUT}": "--episodes: '0' is not allowed: it must be a whole number from 1 to 10000000",
    f"{RUN} --lockstep -1 {OUT}": "--lockstep",
    f"{RUN} --root-seed {'9' * 5000} {OUT}": "a whole number from 0 to 18446744073709551615",
    f"run --agent greedy {OUT}": "--instance",
    f"run --instance none.npz --agent greedy {OUT}": "none.npz: there is no such file",
    f"run --instance text.npz --agent greedy {OUT}": "text.npz: truncated, or not a befrl instance file",
    f"run --instance runs/greedy/0-2.npz --agent greedy {OUT}": "not a befrl instance file",
    f"run --instance good.npz --instance-set bins=3 --agent greedy {OUT}": "--instance-set",
    f"{RUN} --sweep eta=3 {OUT}": "--sweep: write NAME=[VALUE,VALUE,...], with numbers",
    f"{RUN} --sweep eta=[[1],2] {OUT}": "--sweep: write NAME=[VALUE,VALUE,...], with numbers",
    f"{RUN} --sweep estimator=[mle,ais] {OUT}": "--sweep: write NAME=[VALUE,VALUE,...], with numbers",
    f"{RUN} --sweep eta=[1,-1] {OUT}": "eta = -1 is not allowed",
    f"{AGGREGATE} --agents greedy oracle": "oracle/0-2.npz: there is no such file",
    f"{AGGREGATE} --agents greedy --level 2": "level",
    f"{AGGREGATE}": "--agents",
    "aggregate --runs runs --agents greedy --batches 0-2 --out good.npz --timings new.csv": "good.npz is not a folder",
    "aggregate --runs runs --agents greedy --batches 0-2 --out new --timings folder": "folder",
    "claim C999 --out new.json": "unknown claim 'C999': choose one of C01",
    "claim C31 --out new.txt": "--out new.txt: the name of the file must end in .json",
    "bench --out new.txt": "--out new.txt: the name of the file must end in .csv",
    "claim": "name a claim, such as C39, or a file with --contest",
    "claim --contest none.py": "--contest none.py: No such file or directory",
    "claim C31 C37 --trials 5 --out new.json": "one claim at a time",
    "findings": "one of the arguments --cases --answers --ledger --theorem --certified --published --coverage",
    "findings --ledger --coverage": "not allowed with argument",
    "findings --ledger --variants greedy": "--variants needs --cases",
    "findings --results none --ledger": "none/claims.csv: there is no such file",
    "findings --results none --theorem": "none/components/theorem: there is no facts.csv of an instance",
    "findings --results none --certified": "none/components/certified: there is no regrets.csv of an instance",
    "findings --results none --published": "none/published: there is no values.csv of a source",
    "findings --results . --ledger": "./claims.csv: not a befrl table, the column 'id' is missing",
    "findings --cases chain-8": "--cases chain-8 is not allowed: write INSTANCE_U or INSTANCE_K",
    "findings --results none --cases chain-8_U": "none/regret/chain-8_U/summary.csv: there is no such file",
    "job columns": "--study",
    f"job walk {JOB}": "unknown job 'walk': choose one of aggregate, case-figures",
    f"job columns {JOB} --instance small": "befrl job columns takes --study, and no other name",
    f"job instance {JOB}": "befrl job instance takes --study, --instance, and no other name",
    f"job instance {CASE}": "befrl job instance takes --study, --instance, and no other name",
    f"job run {CASE} --agent ours": "takes --study, --instance, --track, --agent, --batch, and no other name",
    f"job instance {JOB} --instance large": "unknown instance 'large': choose one of small",
    f"job aggregate {JOB} --instance small --track K": "unknown track 'K': choose one of U",
    f"job case-figures {JOB} --instance small --track K": "unknown case 'small_K' (did you mean 'small_U'?): choose",
    f"job tune {CASE} --agent theirs": "unknown agent 'theirs': choose one of ours, greedy",
    f"job tune {CASE} --agent greedy": "agent 'greedy' is not tuned: give agents.greedy.tune ranges",
    f"job run {CASE} --agent greedy --batch 0-2": "unknown batch of seeds '0-2': choose one of 1000-1002",
    f"job component {JOB} --component pies --instance small": "unknown component study 'pies': choose one of",
    f"job component {JOB} --component proof --instance small": "unknown instance 'small': choose one of",
    f"job claims {JOB} --section poems": "unknown section of claims 'poems': choose one of",
    f"job published {JOB} --source li": "unknown published source 'li'",
    f"job figure {JOB} --figure pie": "unknown figure 'pie'",
    "job columns --study none.json": "none.json: there is no such file",
    "job columns --study half.json": "half.json: cannot be read as JSON",
    "job columns --study list.json": "list.json: not a study, it has no keys",
    "job columns --study empty.json": "empty.json: not a study, its 'hash' is missing or damaged",
    "job columns --study edited.json": "edited.json: damaged, or edited by hand: edit the config and run the workflow",
    f"job tune {CASE} --agent ours": "results/instances/small.npz: there is no such file",
    f"job aggregate {CASE}": "results/runs/small/U/ours/1000-1002.npz: there is no such file",
    f"job instances {JOB}": "results/instances/small.npz: there is no such file",
    f"job table1 {JOB}": "results/regret/small_U/summary.csv: there is no such file",
    f"job ledger {JOB}": "results/claims/C31.json: there is no such file",
    f"job case-figures {CASE}": "there is no such file",
    f"job report {JOB}": "there is no such file",
}


@pytest.mark.parametrize("line", BAD, ids=lambda line: line[:10] + " " + line[-50:])
def test_bad_command_is_one_sentence_and_changes_nothing(befrl, files, line):
    before = state(files)
    code, out, err = befrl(line)
    assert (code, out) == (2, "")
    assert err.startswith("befrl") and err.endswith("\n") and err.count("\n") == 1 and len(err) < 1100
    assert BAD[line] in err
    assert state(files) == before


@pytest.mark.parametrize(
    ("key", "change"),
    [("theta_p", lambda theta: theta + 1e-6), ("theta_r", lambda theta: theta * np.nan), ("theta_p", lambda t: t[:-1])],
)
def test_stored_instance_that_differs_from_its_code_is_rejected(befrl, files, key, change):
    arrays, meta = storage.read_arrays("good.npz", "instance")
    storage.write_arrays("old.npz", "instance", arrays | {key: change(arrays[key])}, meta)
    code, _, err = befrl(f"run --instance old.npz --agent greedy {OUT}")
    assert code == 2 and f"{key} differs from that of the present family 'chain'" in err
