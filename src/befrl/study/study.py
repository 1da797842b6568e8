"""A study: its cases, agents, batches of seeds and figures.

A *case* is an (instance, track). An agent has a *variant* at the values that the config gives it (by default, the
theory's), and more if it is tuned or swept (`experiment/settings.py`). Seeds from `tuning.EVALUATION` on give the
results that are shown, those before them serve to tune. A *batch* is a range of seeds that one job runs, named like
`1000-1199`.
"""

import hashlib
import json
from dataclasses import dataclass
from itertools import pairwise

from befrl import claims, figures
from befrl.analysis import published
from befrl.common.errors import unknown
from befrl.common.layout import Layout
from befrl.experiment import seeds
from befrl.experiment.tuning import EVALUATION, Halving

# The keys of `jobs` that divide the work; no result depends on them.
CUTS = ("seeds_per_job", "lockstep", "threads")


@dataclass(frozen=True)
class Study:
    """A checked config with all defaults filled in (`config.check`)."""

    config: dict

    def __getitem__(self, key):
        return self.config[key]

    @property
    def layout(self) -> Layout:
        return Layout(self["output"])

    @property
    def hash(self) -> str:
        """Hash of everything that decides the results; the order of the agents and the `jobs` do not count."""
        content = {key: value for key, value in self.config.items() if key != "jobs"}
        content["study"] = {name: entry | {"agents": sorted(entry["agents"])} for name, entry in self["study"].items()}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def cases(self) -> list[tuple[str, str]]:
        return [(instance, track) for instance, entry in self["study"].items() for track in entry["tracks"]]

    def check_case(self, instance, track):
        if instance not in self["study"]:
            raise unknown("instance", instance, self["study"])
        if track not in self["study"][instance]["tracks"]:
            raise unknown("track", track, self["study"][instance]["tracks"])

    def agent(self, instance: str, name: str) -> dict:
        """The entry of an agent that plays on an instance."""
        if name not in self["study"][instance]["agents"]:
            raise unknown("agent", name, self["study"][instance]["agents"])
        return self["agents"][name]

    def halving(self, instance: str) -> Halving:
        """How agents are tuned on an instance: its own procedure, or the study's."""
        chosen = self["study"][instance].get("tuning", self["tuning"])
        return Halving(chosen["configurations"], tuple(chosen["seeds"]), tuple(chosen["kept"]))

    def batches(self, instance: str) -> list[str]:
        """The batches of evaluation seeds."""
        total, size = self["study"][instance].get("seeds", self["seeds"]), self["jobs"]["seeds_per_job"]
        cuts = [*range(EVALUATION, EVALUATION + total, size), EVALUATION + total]
        return [seeds.batch(range(a, b)) for a, b in pairwise(cuts)]

    def resources(self) -> dict:
        """The resources that a job requests from a cluster: all keys of `jobs` except `CUTS`."""
        return {key: value for key, value in self["jobs"].items() if key not in CUTS}

    def component(self, kind: str) -> dict[str, dict]:
        """The settings of a component study, by instance."""
        if kind not in self["components"]:
            raise unknown("component study", kind, self["components"])
        settings = dict(self["components"][kind])
        if kind == "exploration":
            episodes = settings.pop("episodes")
            return {name: {"episodes": count, **settings} for name, count in episodes.items()}
        return {name: settings for name in settings.pop("instances")}

    def components(self) -> list[tuple[str, str]]:
        """The (kind, instance) of every component study."""
        return [(kind, name) for kind in self["components"] for name in self.component(kind)]

    def compared_cases(self) -> list[tuple[str, str]]:
        """The cases of the study's own comparison: those that repeat no published experiment."""
        repeated = {
            (instance, published.registry.module(source).TRACK)
            for source in self["published"]
            for instance in self.repeated(source)
        }
        return [case for case in self.cases() if case not in repeated]

    def repeated(self, source: str) -> list[str]:
        """The instances on which the experiments of a published source are repeated."""
        if source not in self["published"]:
            raise unknown("published source", source, self["published"])
        return [instance for names in self["published"][source].values() for instance in names]

    def figures(self) -> dict:
        """Every figure by name, as in `figures.wanted`."""
        return figures.wanted(self.compared_cases(), self.components(), self["published"])

    def algorithms(self) -> dict[str, str]:
        """The algorithm of each agent, from which figures assign styles to new agents."""
        return {name: entry["algorithm"] for name, entry in self["agents"].items()}

    def claim_ids(self) -> list[str]:
        return self["claims"]["ids"] or claims.names()

    def claim_sections(self) -> dict[str, list[str]]:
        """The study's claims by the module that attacks them."""
        wanted = set(self.claim_ids())
        chosen = {module: [id for id in ids if id in wanted] for module, ids in claims.sections().items()}
        return {module: ids for module, ids in chosen.items() if ids}
