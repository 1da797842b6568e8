"""The crate of `make artifact` describes each of its files."""

import hashlib

import yaml

import crate
from helpers import PROJECT


def test_graph_has_the_workflow_and_a_checksum_of_every_file(tmp_path):
    (tmp_path / "results").mkdir()
    for name in ("Snakefile", "README.md", "results/table.csv"):
        (tmp_path / name).write_text(name)
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text())
    graph = {each["@id"]: each for each in crate.entities(tmp_path, citation, "2026-01-01")}
    assert "ComputationalWorkflow" in graph[graph["./"]["mainEntity"]["@id"]]["@type"]
    assert [part["@id"] for part in graph["./"]["hasPart"]] == ["README.md", "Snakefile", "results/table.csv"]
    assert graph["results/table.csv"]["sha256"] == hashlib.sha256(b"results/table.csv").hexdigest()
    linked = {link["@id"] for each in graph.values() for link in each.values() if isinstance(link, dict)}
    assert linked - {crate.BIOSCHEMAS, "https://snakemake.github.io"} <= set(graph)
