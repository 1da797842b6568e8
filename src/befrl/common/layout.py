"""The paths of all result files of a study, defined here and nowhere else.

Every method returns the path of one file. Its arguments default to Snakemake's wildcards, so that `layout.run()` is the
pattern of all run files and `layout.run("chain-8", "U", "greedy", "1000-1199")` is one of them. Measured times are
stored below `timings/`, apart from the results that code and config determine.
"""

from pathlib import PurePath

REGRET_TABLES = ("summary", "curves", "paired", "order", "tuning")
PUBLISHED_TABLES = ("values", "curves")


class Layout:
    """The files of a study, in the folders `results/` and `figures/` of `output`; the tables' folder may be another."""

    def __init__(self, output=".", results=None):
        self.results = (PurePath(output) / "results" if results is None else PurePath(results)).as_posix()
        self.figures = (PurePath(output) / "figures").as_posix()

    def study(self):
        """The checked study, which every job reads."""
        return f"{self.results}/study.json"

    def instance(self, instance="{instance}"):
        return f"{self.results}/instances/{instance}.npz"

    def instances(self):
        return f"{self.results}/instances.csv"

    def runs(self, instance="{instance}", track="{track}"):
        """The folder of a case's run files and of the outcomes of its tuning."""
        return f"{self.results}/runs/{instance}/{track}"

    def run(self, instance="{instance}", track="{track}", agent="{agent}", batch="{batch}"):
        return run_below(self.runs(instance, track), agent, batch)

    def tuned(self, instance="{instance}", track="{track}", agent="{agent}"):
        return tuned_below(self.runs(instance, track), agent)

    def regret(self, table, instance="{instance}", track="{track}"):
        return f"{self.results}/regret/{instance}_{track}/{table}.csv"

    def component(self, kind, table, instance="{instance}"):
        return f"{self.results}/components/{kind}/{instance}/{table}.csv"

    def published(self, table, source="{source}"):
        return f"{self.results}/published/{source}/{table}.csv"

    def columns(self):
        return f"{self.results}/columns.csv"

    def table1(self):
        return f"{self.results}/table1.csv"

    def coverage(self):
        return f"{self.results}/coverage.csv"

    def claim(self, claim="{claim}"):
        return f"{self.results}/claims/{claim}.json"

    def ledger(self):
        return f"{self.results}/claims.csv"

    def errata(self):
        return f"{self.results}/errata.md"

    def regret_timings(self, instance="{instance}", track="{track}"):
        return f"{self.results}/timings/regret/{instance}_{track}.csv"

    def component_timings(self, kind, instance="{instance}"):
        return f"{self.results}/timings/components/{kind}/{instance}.csv"

    def published_timings(self, source="{source}"):
        return f"{self.results}/timings/published/{source}.csv"

    def table1_timings(self):
        return f"{self.results}/timings/table1.csv"

    def bench(self):
        return f"{self.results}/timings/bench.csv"

    def figure(self, ending, figure="{figure}"):
        return f"{self.figures}/{figure}.{ending}"

    def report(self):
        return f"{self.results}/report.html"

    def log(self, name):
        return f"{self.results}/logs/{name}.log"

    def benchmark(self, name):
        """The seconds and memory of a job, measured by Snakemake."""
        return f"{self.results}/benchmarks/{name}.tsv"


def run_below(folder, agent, batch):
    """The run file of an agent and batch in the folder of a case."""
    return f"{folder}/{agent}/{batch}.npz"


def tuned_below(folder, agent):
    """The outcome of tuning an agent in the folder of a case."""
    return f"{folder}/{agent}/tuning.json"


def folder(path):
    """The folder that contains a file."""
    return PurePath(path).parent.as_posix()
