"""A study: its cases, agents, batches of seeds and figures.

A *case* is an (instance, track). An agent has a *variant* with the config's values (by default, the theoretical
constants), and more if it is tuned or swept (`experiment/settings.py`). Seeds from `tuning.EVALUATION` on are
evaluation seeds, those before are for tuning. A *batch* is a range of seeds that one job runs, such as `1000-1199`.
"""

import shlex
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from pathlib import PurePath

from befrl import figures
from befrl.common import storage
from befrl.common.errors import InputError, unknown
from befrl.common.layout import Layout
from befrl.experiment import seeds
from befrl.experiment.tuning import EVALUATION, Halving
from befrl.study.provenance import short_hash

# The keys of `jobs` that divide the work; the others are resources that a job requests from a cluster.
DIVISION = ("seeds_per_job", "lockstep", "threads")


@dataclass(frozen=True)
class Study:
    """A checked config with all defaults filled in (`config.check`), its plug-ins, and the files that it came from.

    The Snakefile is named if it is not that of the current folder.
    """

    config: dict
    plugins: list[str] = field(default_factory=list)
    configfiles: list[str] = field(default_factory=list)
    snakefile: str = ""

    def __getitem__(self, key):
        return self.config[key]

    def write(self, path):
        """Write the study for its jobs."""
        content = asdict(self)
        storage.write_json(path, content | {"hash": short_hash(content)})

    def within(self, folder) -> "Study":
        """The same study with its results in a folder of this one."""
        return replace(self, config=self.config | {"output": (PurePath(folder) / self["output"]).as_posix()})

    @classmethod
    def read(cls, path) -> "Study":
        """The study that `write` has written."""
        content = storage.read_json(path)
        storage.require(path, content, "a study", {"hash": str})
        if content.pop("hash") != short_hash(content):
            raise InputError(f"{path}: damaged, or edited by hand: edit the config and run the workflow again")
        return cls(**content)

    def command(self, target: str) -> str:
        """The command that makes a file of the study."""
        if self.snakefile and len(self.configfiles) == 1:
            return shlex.join(["befrl", "study", *self.configfiles, target])
        words = [*"snakemake --cores all".split(), *(["--snakefile", self.snakefile] if self.snakefile else []), target]
        return shlex.join([*words, *(["--configfile", *self.configfiles] if self.configfiles else [])])

    @property
    def layout(self) -> Layout:
        return Layout(self["output"])

    @property
    def hash(self) -> str:
        """Hash of everything that decides the results; the order of the agents and the `jobs` do not count."""
        content = {key: value for key, value in self.config.items() if key != "jobs"}
        content["study"] = {name: entry | {"agents": sorted(entry["agents"])} for name, entry in self["study"].items()}
        return short_hash(content)

    def cases(self) -> list[tuple[str, str]]:
        return [(instance, track) for instance, entry in self["study"].items() for track in entry["tracks"]]

    def case(self, instance: str, track: str) -> dict:
        """The entry of a case."""
        if instance not in self["study"]:
            raise unknown("instance", instance, self["study"])
        if track not in self["study"][instance]["tracks"]:
            raise unknown("track", track, self["study"][instance]["tracks"])
        return self["study"][instance]

    def instance(self, name: str) -> dict:
        """The entry of an instance."""
        if name not in self["instances"]:
            raise unknown("instance", name, self["instances"])
        return self["instances"][name]

    def agent(self, instance: str, track: str, name: str) -> dict:
        """The entry of an agent that plays a case."""
        if name not in self.case(instance, track)["agents"]:
            raise unknown("agent", name, self["study"][instance]["agents"])
        return self["agents"][name]

    def tuned(self, instance: str) -> list[str]:
        """The agents that are tuned on an instance."""
        return [agent for agent in self["study"][instance]["agents"] if "tune" in self["agents"][agent]]

    def halving(self, instance: str) -> Halving:
        """How agents are tuned on an instance: its own procedure, or the study's."""
        chosen = self["study"][instance].get("tuning", self["tuning"])
        return Halving(chosen["configurations"], chosen["refined"], tuple(chosen["seeds"]), tuple(chosen["kept"]))

    def batches(self, instance: str):
        """The batches of evaluation seeds."""
        return _batches(self["study"][instance].get("seeds", self["seeds"]), self["jobs"]["seeds_per_job"]).keys()

    def resources(self) -> dict:
        """The resources that a job requests from a cluster."""
        return {key: value for key, value in self["jobs"].items() if key not in DIVISION}

    def component(self, kind: str) -> dict[str, dict]:
        """The settings of a component study, by instance."""
        if kind not in self["components"]:
            raise unknown("component study", kind, self["components"])
        settings = dict(self["components"][kind])
        if kind == "exploration":
            episodes = settings.pop("episodes")
            return {name: {"episodes": count, **settings} for name, count in episodes.items()}
        named = settings.pop("instances")
        return {name: settings | (named[name] if isinstance(named, dict) else {}) for name in named}

    def components(self) -> list[tuple[str, str]]:
        """The (kind, instance) of every component study."""
        return [(kind, name) for kind in self["components"] for name in self.component(kind)]

    def longest(self) -> dict:
        """The largest number of episodes that is played on each instance, in a case or for a component; or None."""
        found = {name: [entry["episodes"]] for name, entry in self["study"].items()}
        for kind, name in self.components():
            if kind != "theorem":  # its episodes are those of a formula
                found.setdefault(name, []).append(self.component(kind)[name].get("episodes", 0))
        return {name: max(found.get(name, [0])) or None for name in self["instances"]}

    def compared_cases(self) -> list[tuple[str, str]]:
        """The cases of the study's own comparison: those that repeat no published experiment."""
        repeated = {case for source in self["published"] for case in self.repeated(source)}
        return [case for case in self.cases() if case not in repeated]

    def certified_cases(self) -> list[tuple[str, str]]:
        """The compared cases in which an agent gives certificates."""
        from befrl import agents

        able = {name for name, algorithm in self.algorithms().items() if agents.certifies(algorithm)}
        return [case for case in self.compared_cases() if able & {*self.case(*case)["agents"]}]

    def repeated(self, source: str) -> list[tuple[str, str]]:
        """The cases in which the experiments of a published source are repeated."""
        if source not in self["published"]:
            raise unknown("published source", source, self["published"])
        from befrl.analysis import published  # here and below: most jobs need neither pandas nor all claims

        track = published.registry.module(source).TRACK
        return [(instance, track) for names in self["published"][source].values() for instance in names]

    @cached_property
    def figures(self) -> dict:
        """Every figure by name, as in `figures.wanted`."""
        from befrl.analysis import published

        drawn = [source for source in self["published"] if published.drawn(source)]
        return figures.wanted(self.compared_cases(), self.components(), drawn, self.certified_cases())

    def figure(self, name: str) -> tuple[str, list]:
        """The kind of a figure and what it shows."""
        if name not in self.figures:
            raise unknown("figure", name, self.figures)
        return self.figures[name]

    def algorithms(self) -> dict[str, str]:
        """The algorithm of every agent."""
        return {name: entry["algorithm"] for name, entry in self["agents"].items()}

    def styles(self, kind: str, shown: list) -> dict:
        """The styles that a figure assigns to agents without one of their own."""
        if figures.scope(kind) not in ("case", "certified", "study"):
            return {}
        from befrl.figures.support import style

        cases = [thing for thing in shown if not isinstance(thing, figures.Beside)]
        drawn = {agent for instance, _ in cases for agent in self["study"][instance]["agents"]}
        return {name: look for name, look in style.assigned(self.algorithms()).items() if name in drawn}

    def claim_ids(self) -> list[str]:
        from befrl import claims

        return self["claims"]["ids"] or claims.names()

    def claim_section(self, name: str) -> list[str]:
        """The study's claims of one section."""
        sections = self.claim_sections()
        if name not in sections:
            raise unknown("section of claims", name, sections)
        return sections[name]

    def claim_sections(self) -> dict[str, list[str]]:
        """The study's claims by the section of the paper, a module of `befrl.claims.sections`."""
        from befrl import claims

        wanted = set(self.claim_ids())
        chosen = {section: [id for id in ids if id in wanted] for section, ids in claims.by_section().items()}
        return {section: ids for section, ids in chosen.items() if ids}


@cache
def _batches(total: int, size: int) -> dict:
    """The batches of evaluation seeds, as a dictionary for fast look-up: each job finds its own among thousands."""
    cuts = [*range(EVALUATION, EVALUATION + total, size), EVALUATION + total]
    return dict.fromkeys(seeds.batch(range(a, b)) for a, b in pairwise(cuts))
