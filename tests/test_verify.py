"""`make verify`: what another machine may change in the results of a study, and what it may not."""

import json
import shutil

import pytest

import verify as program
from befrl.analysis import components
from helpers import PROJECT

STUDY, SMOKE = PROJECT / "results" / "reference", PROJECT / "tests" / "reference" / "smoke"

TABLES = {
    "regret/a_U/summary.csv": """\
instance,variant,setting,role,seeds,mean,low,high,q90,failed,failed_low,failed_high,slope,plans,tuning_mean
a,x@tuned,scale=2,tuned,100,50,40,60,80,0.03,0.006,0.085,0.5,1,52
a,oracle,,baseline,100,0,0,0,0,0,0,0.036,,0,
""",
    # y and z are tied; z and w are not
    "regret/a_U/order.csv": """instance,track,family,place,agent,variant,group,better,gap,gap_low,gap_high,p
a,U,tuned,1,x,x@tuned,a,,,,,
a,U,tuned,2,y,y@tuned,b,x@tuned,0.5,0.4,0.6,0.001
a,U,tuned,3,z,z@tuned,b,y@tuned,0.1,-0.1,0.3,0.6
a,U,tuned,4,w,w@tuned,c,z@tuned,0.5,0.4,0.6,0.001
""",
    "regret/a_U/tuning.csv": """agent,configuration,setting,rung,seeds,mean,first_mean,rank,chosen
x,1,scale=2,2,20,50,40,1,tuned
x,2,scale=9,1,5,41,41,2,median
""",
    "instances.csv": """name,horizon,alpha,seeds,greedy,low,high,matters
a,40,0.25,20,100,10,30,True
b,20,0.125,,,,,
""",
    "claims.csv": """id,statement,verdict,worst_case,instance
C1,a bound,fails,2.0,"{""theta"": 1.0}"
C2,an identity,holds,1e-9,"{""theta"": 2.0}"
""",
}
FIGURE = {
    "title": "Regret", "measured": False,
    "plotted": {
        "texts": ["a, 100 seeds"], "legends": [],
        "axes": [{
            "title": "panel", "legend": ["x", "y", "z"], "texts": ["3 %"],
            "x": {"label": "episode", "scale": "linear", "limits": "0 1000", "names": []},
            "y": {"label": "regret", "scale": "log", "limits": "1 100", "names": []},
            "artists": [{"kind": "line", "label": "x", "points": 200, "x": "0 500 1000", "y": "0 10 40"}],
        }],
    },
}  # fmt: skip


@pytest.fixture
def folders(tmp_path):
    """The results, figures and references of a small study, all alike."""
    for top in ("results", "reference"):
        for name, text in TABLES.items():
            path = tmp_path / top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for top in ("figures", "reference/figures"):
        (tmp_path / top).mkdir()
        (tmp_path / top / "regret.json").write_text(json.dumps(FIGURE))
    return tmp_path / "results", tmp_path / "reference", tmp_path / "figures"


@pytest.fixture
def verify(folders, capsys):
    """Compares folders after texts were replaced in a result: verify(name, old, new, ...) -> (exit code, lines)."""

    def call(name=None, *replaced, rounding=False, folders=folders):
        if name:
            path = folders[2 if name.endswith(".json") else 0] / name
            for old, new in zip(replaced[::2], replaced[1::2], strict=True):
                assert path.read_text().count(old) == 1, old
                path.write_text(path.read_text().replace(old, new))
        results, reference, *figures = map(str, folders)
        code = program.main([results, reference, *(["--rounding"] if rounding else ["--figures", *figures])])
        return code, capsys.readouterr().out.splitlines()

    return call


SUMMARY, ORDER, TUNING = (f"regret/a_U/{name}.csv" for name in ("summary", "order", "tuning"))
WITHIN = {
    "a mean, by a fifth of its interval": (SUMMARY, ",50,40,60,80,", ",54,40,60,80,"),
    "the ends and the quantiles": (SUMMARY, ",50,40,60,80,", ",50,44,64,76,"),
    "one more seed failed": (SUMMARY, "0.03,0.006,0.085", "0.04,0.011,0.099"),
    "a slope": (SUMMARY, ",0.5,1,52", ",0.54,1,52"),
    "a tuning mean": (SUMMARY, ",0.5,1,52", ",0.5,1,55"),
    "places of agents that are tied": (ORDER, "2,y,y@tuned,b,x@tuned,0.5,0.4", "3,y,y@tuned,b,z@tuned,0.1,-0.1",
                                       "3,z,z@tuned,b,y@tuned,0.1,-0.1", "2,z,z@tuned,b,x@tuned,0.5,0.4",
                                       "c,z@tuned", "c,y@tuned"),
    "ranks of configurations": (TUNING, "2,20,50,40,1", "1,5,41,41,2", "1,5,41,41,2,median", "2,20,44,40,1,median"),
    "a constant, by rounding": ("instances.csv", "0.25", "0.2500000001"),
    "where a search ended": ("claims.csv", '""theta"": 1.0', '""theta"": 3.0', "2.0,", "2.05,"),
    "a residual": ("claims.csv", "1e-9", "4e-8"),
    "a point, by less than an eye sees": ("regret.json", "0 10 40", "0 10.5 41"),
    "neighbours on a figure": ("regret.json", '"x", "y", "z"', '"y", "x", "z"'),
    "a per cent on the figure": ("regret.json", "3 %", "4 %"),
}  # fmt: skip
BEYOND = {
    "a mean, by a third of its interval": (SUMMARY, ",50,40,60,80,", ",57,40,60,80,", "mean in row 1 (a x@tuned"),
    "a mean that is exact": (SUMMARY, "100,0,0,0,0,0,", "100,0.1,0,0,0,0,", "mean in row 2"),
    "five more seeds failed": (SUMMARY, "0.03,0.006,0.085", "0.08,0.03,0.15", "failed in row 1"),
    "another number of seeds": (SUMMARY, "tuned,100,", "tuned,99,", "seeds in row 1"),
    "another setting chosen": (SUMMARY, "scale=2", "scale=3", "setting in row 1"),
    "another role": (SUMMARY, "baseline", "set", "role in row 2"),
    "places of agents that are apart": (ORDER, "1,x,", "2,x,", "2,y,", "1,y,", "place in row"),
    "another choice of tuning": (TUNING, "median", "worst", "chosen in row 2"),
    "a constant, in the fifth digit": ("instances.csv", "0.25", "0.25001", "alpha in row 1"),
    "an answer": ("instances.csv", "True", "False", "matters in row 1"),
    "a verdict": ("claims.csv", "fails", "holds", "verdict in row 1"),
    "a worst case": ("claims.csv", "2.0,", "3.0,", "worst_case in row 1"),
    "an identity": ("claims.csv", "1e-9", "1e-5", "worst_case in row 2"),
    "a row less": (TUNING, "x,2,scale=9,1,5,41,41,2,median\n", "", "1 rows of"),
    "a point": ("regret.json", "0 10 40", "0 14 40", "panel 1 'panel': line 'x': y of point 2: 14"),
    "no point": ("regret.json", "0 10 40", "0 nan 40", "y of point 2: nan"),
    "a name in a legend": ("regret.json", '"x", "y", "z"', '"x", "y", "w"', "legend"),
    "another order on a figure": ("regret.json", '"x", "y", "z"', '"z", "y", "x"', "legend"),
    "another scale": ("regret.json", '"log"', '"linear"', "y axis: scale"),
    "a curve with fewer points": ("regret.json", "200", "100", "other lines"),
}  # fmt: skip
ROUNDED = [
    ("instances.csv", "0.25", "0.2500001", ""),
    ("instances.csv", "0.25", "0.25001", "alpha in row 1 (a): 0.25001, the reference has 0.25"),
    (SUMMARY, "100,0,0,0,0,0,", "100,1e-10,0,0,0,0,", ""),
    (SUMMARY, "100,0,0,0,0,0,", "100,1e-5,0,0,0,0,", "mean in row 2 (a oracle baseline): 1e-05, the reference has 0"),
    (SUMMARY, ",50,40,60,80,", ",,40,60,80,", "mean in row 1 (a x@tuned scale=2 tuned): nan, the reference has 50"),
    (SUMMARY, "oracle,,", "oracle,x,", "setting in row 2 (a oracle baseline): x, the reference has nan"),
    (TUNING, "median", "worst", "chosen in row 2 (x scale=9 median): worst, the reference has median"),
    (TUNING, "rank", "order", "'order'"),
    (TUNING, "x,2,scale=9,1,5,41,41,2,median\n", "", "1 rows of"),
]


@pytest.mark.parametrize("change", WITHIN)
def test_differences_within_tolerance_are_accepted(verify, change):
    code, lines = verify(*WITHIN[change])
    assert code == 0, lines
    assert lines[0].startswith("5 of 5 tables agree") and lines[1].startswith("1 of 1 figures agree")
    assert ("4 are" in lines[0]) + ("0 are" in lines[1]) == 1


@pytest.mark.parametrize("change", BEYOND)
def test_larger_differences_are_listed(verify, change):
    *planted, words = BEYOND[change]
    code, lines = verify(*planted)
    assert code == 1
    assert any(words in line and planted[0] in line for line in lines)
    assert sum(line.startswith(("4 of 5 tables", "0 of 1 figures")) for line in lines) == 1


@pytest.mark.parametrize("case", ROUNDED)
def test_with_rounding_all_numbers_agree_to_one_part_in_a_million(verify, folders, case):
    *planted, words = case
    code, lines = verify(*planted, rounding=True)
    assert (code, len(lines)) == ((1, 2) if words else (0, 1))
    assert not words or (words in lines[0] and lines[0].startswith(str(folders[0] / planted[0])))


def test_five_differences_of_a_file_are_listed_and_the_others_counted(verify, folders):
    header, row, _ = TABLES[SUMMARY].splitlines()
    for top, mean in zip(folders, (100, 50), strict=False):
        (top / SUMMARY).write_text("\n".join([header, *[row.replace(",50,", f",{mean},")] * 9]) + "\n")
    code, lines = verify()
    assert code == 1 and len([line for line in lines if "summary.csv" in line]) == 6
    assert lines[0].endswith("100, the reference has 50 (it may differ by 5)")
    assert lines[5].endswith("and 4 more")


def test_missing_files_are_listed_and_exit_code_is_2_if_all_are_missing(verify, folders):
    results, _, figures = folders
    (results / "claims.csv").rename(results / "more.csv")
    (figures / "regret.json").unlink()
    code, lines = verify()
    assert code == 1 and lines[0].endswith("claims.csv: not made") and lines[2].endswith("regret.json: not made")
    for folder in folders[:2]:
        shutil.rmtree(folder)
        assert verify() == (2, [])


def test_committed_references_agree_with_themselves_and_cover_every_stage(verify):
    code, lines = verify(folders=(STUDY, STUDY, STUDY / "figures"))
    tables = {path.relative_to(STUDY).parts[0] for path in STUDY.rglob("*.csv")}
    assert code == 0
    for line, pattern in zip(lines, ("**/*.csv", "figures/*.json"), strict=False):
        assert line.endswith(f" {len(list(STUDY.glob(pattern)))} are the same to the byte")
    assert {"regret", "published", "instances.csv", "table1.csv", "claims.csv"} <= tables
    assert "timings" not in tables and not list(STUDY.rglob("curves.csv"))
    count = len(list(SMOKE.rglob("*.csv")))
    code, lines = verify(folders=(SMOKE, SMOKE), rounding=True)
    assert (code, lines) == (0, [f"{count} of {count} tables agree with {SMOKE}: {count} are the same to the byte"])
    assert {path.relative_to(SMOKE).parts[0] for path in SMOKE.rglob("*.csv")} == {
        *("regret", "components", "published", "coverage.csv", "instances.csv", "table1.csv", "columns.csv"),
        *("improvement.csv", "significance.csv"),
    }
    assert {path.parents[1].name for path in (SMOKE / "components").rglob("*.csv")} == set(components.registry.names())
