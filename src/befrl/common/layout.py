"""The paths of all result files of a study, defined here and nowhere else.

Arguments default to Snakemake's wildcards: `layout.run()` is the pattern of all run files. Measured times are stored
below `timings/`, apart from the results that code and config determine.
"""

from pathlib import PurePath

REGRET_TABLES = ("summary", "curves", "paired", "order", "tuning", "certificates", "certificate_curves")
PUBLISHED_TABLES = ("values", "curves")
RUNS = "{results}/runs/{instance}/{track}"  # the folder of a case


def _file(pattern, *names):
    """A method with the arguments `names` that returns the path of a file."""

    def path(self, *values):
        values = [*values, *(f"{{{name}}}" for name in names[len(values) :])]
        return pattern.format(results=self.results, figures=self.figures, **dict(zip(names, values, strict=True)))

    return path


class Layout:
    """The files of a study, in the folders `results/` and `figures/` of `output`; `results` may be another folder."""

    def __init__(self, output=".", results=None):
        self.results = (PurePath(output) / "results" if results is None else PurePath(results)).as_posix()
        self.figures = (PurePath(output) / "figures").as_posix()

    study = _file("{results}/study.json")
    instance = _file("{results}/instances/{instance}.npz", "instance")
    instances = _file("{results}/instances.csv")
    runs = _file(RUNS, "instance", "track")
    run = _file(RUNS + "/{agent}/{batch}.npz", "instance", "track", "agent", "batch")
    tuned = _file(RUNS + "/{agent}/tuning.json", "instance", "track", "agent")
    regret = _file("{results}/regret/{instance}_{track}/{table}.csv", "table", "instance", "track")
    component = _file("{results}/components/{kind}/{instance}/{table}.csv", "kind", "table", "instance")
    published = _file("{results}/published/{source}/{table}.csv", "table", "source")
    columns = _file("{results}/columns.csv")
    table1 = _file("{results}/table1.csv")
    improvement = _file("{results}/improvement.csv")
    significance = _file("{results}/significance.csv")
    coverage = _file("{results}/coverage.csv")
    claim = _file("{results}/claims/{claim}.json", "claim")
    ledger = _file("{results}/claims.csv")
    errata = _file("{results}/errata.md")
    regret_timings = _file("{results}/timings/regret/{instance}_{track}.csv", "instance", "track")
    component_timings = _file("{results}/timings/components/{kind}/{instance}.csv", "kind", "instance")
    published_timings = _file("{results}/timings/published/{source}.csv", "source")
    table1_timings = _file("{results}/timings/table1.csv")
    bench = _file("{results}/timings/bench.csv")
    figure = _file("{figures}/{figure}.{ending}", "ending", "figure")
    report = _file("{results}/report.html")
    log = _file("{results}/logs/{name}.log", "name")
    benchmark = _file("{results}/benchmarks/{name}.tsv", "name")
