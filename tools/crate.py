"""Pack sources, lock, results, figures, page and checksums as a Workflow RO-Crate: python tools/crate.py FOLDER

The sources are those of the last commit; results and figures those of `make reproduce`. FOLDER gets `befrl-VERSION/`
with `ro-crate-metadata.json` and `SHA256SUMS`, and `befrl-VERSION.zip`.
"""

import hashlib
import json
import mimetypes
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
METADATA = "ro-crate-metadata.json"
WORKFLOW = "Snakefile"
LANGUAGE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
SHA256 = "https://w3id.org/ro/terms/workflow-run#sha256"  # not a word of RO-Crate 1.1
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
PROFILES = ("https://w3id.org/ro/crate/1.1", "https://w3id.org/workflowhub/workflow-ro-crate/1.0")


def entities(folder, citation, date) -> list[dict]:
    """The graph of a crate: its descriptor, the root, what these two name, and all other files."""
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    paper, license = citation["references"][0], f"https://spdx.org/licenses/{citation['license']}"
    root = {"@type": "Dataset", "name": citation["title"], "description": citation["abstract"]}
    root |= {"version": citation["version"], "datePublished": date, "license": _id(license)}
    root |= {"mainEntity": _id(WORKFLOW), "hasPart": [_id(name) for name in files]}
    root |= {
        "author": _id("#authors"),
        "publisher": _id("#authors"),
        "citation": _id(f"https://doi.org/{paper['doi']}"),
    }
    workflow = {"@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"], "name": citation["title"]}
    workflow |= {"programmingLanguage": _id(LANGUAGE), "license": _id(license), "conformsTo": _id(BIOSCHEMAS)}
    special = {WORKFLOW: workflow, "README.md": {"about": _id("./")}}
    return [
        _id(METADATA) | {"@type": "CreativeWork", "about": _id("./"), "conformsTo": [_id(name) for name in PROFILES]},
        _id("./") | root,
        _id(LANGUAGE) | {"@type": "ComputerLanguage", "name": "Snakemake", "url": _id("https://snakemake.github.io")},
        root["citation"] | {"@type": "ScholarlyArticle", "name": paper["title"]},
        _id("#authors") | {"@type": "Organization", "name": citation["authors"][0]["name"]},
        _id(license) | {"@type": "CreativeWork", "name": citation["license"]},
        *(_file(folder, name) | special.get(name, {}) for name in files),
    ]


def _id(name):
    return {"@id": name}


def _file(folder, name):
    path = folder / name
    kind = "application/zip" if path.suffix == ".npz" else mimetypes.guess_type(name)[0] or "text/plain"
    about = {"@id": name, "@type": "File", "name": path.name, "encodingFormat": kind}
    return about | {"contentSize": str(path.stat().st_size), "sha256": _sha256(path)}


def _sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def git(*words) -> str:
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True, text=True).stdout.strip()


def main(target):
    if not (ROOT / "results/report.html").exists():
        sys.exit("there are no results: run make reproduce first")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    folder = Path(target).absolute() / f"befrl-{citation['version']}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    git("archive", "--output", f"{folder}.tar", "HEAD")
    shutil.unpack_archive(f"{folder}.tar", folder, filter="data")
    Path(f"{folder}.tar").unlink()
    for name in ("results", "figures"):
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    graph = entities(folder, citation, git("log", "-1", "--format=%cs"))
    crate = {"@context": [f"{PROFILES[0]}/context", {"sha256": SHA256}], "@graph": graph}
    (folder / METADATA).write_text(json.dumps(crate, indent=1, ensure_ascii=False), encoding="utf-8")
    sums = (f"{each['sha256']}  {each['@id']}\n" for each in graph if "sha256" in each)
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    print(shutil.make_archive(str(folder), "zip", folder.parent, folder.name))


if __name__ == "__main__":
    main(sys.argv[1])
