"""The pages of the claims, docs/claims/C*.md and S*.md: the source of all that the ledger says in words.

A C is a statement of the paper, an S one of ours about bef-seed.

A page has front matter (names, the test), a heading with its number and title, sections of prose, and at its end, under
Readings, a block of YAML with the statements that meet the same test:

    repairs   statements that may replace the printed one if it is false; the first that survives is the correction, and
              `takes` says what it takes: misprint, constant, hypothesis, or inherits (with the claim that it inherits)
    lighter   corrections that would be lighter than the repair and do not suffice; the test has to refute them
    steps     statements that the paper's proof uses on the way; each gets a verdict of its own
    others    true statements nearby that are no replacement; the test must not refute them
    mutants   false statements nearby; the test has to refute them

`given` are the keywords of the test: its defaults are the printed statement. Texts between <!-- made --> and
<!-- end --> are written from the records (`render`) and are not read.
"""

import functools
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import resources

import yaml

from befrl.claims.toolbox.evidence import REFUTED
from befrl.common.errors import InputError

CLASSES = ("misprint", "constant", "hypothesis")  # from light to heavy
VERDICTS = ("holds", *CLASSES, "inherits", "fails", "open")
THEOREM = "C62"  # the claim that is the regret bound
UNTRIED = "not tried"
GROUPS = ("repairs", "lighter", "steps", "others", "mutants")
KINDS = {"C": ("claim", "remark"), "S": ("ours",)}  # by the letter of the id; the first is the default
MADE = re.compile(r"(?s)<!-- made: (\w+) -->\n.*?<!-- end -->")
SECTIONS = {
    "quote": "The paper",
    "statement": "Our reading",  # "Statement" if it is ours
    "corrected": "Corrected statement",
    "derivation": "Derivation",
    "correction_derivation": "Derivation of the correction",
    "objections": "Objections",
    "attack": "Test",
    "second": "Second derivation",
    "third": "Third derivation",
    "adjudication": "Adjudication",
    "answer": "Answer of the authors",
    "readings": "Readings",
}
READING = {"words", "given", "takes", "inherits", "why", "distance"}


@dataclass(frozen=True)
class Reading:
    """A statement that meets the test of a claim, and the keywords that turn the test to it."""

    words: str
    given: Mapping[str, object]
    takes: str = ""
    inherits: str = ""
    why: str = ""
    distance: str = ""


@dataclass(frozen=True)
class Page:
    """One claim: what the paper says and what we read, or what we say; and what meets its test."""

    id: str
    title: str
    part: str
    where: str
    section: str
    test: str = ""  # function of befrl.claims.sections.<section>; empty: the claim can only be argued
    meaning: str = ""
    tolerance: float = 0.0
    uses: tuple[str, ...] = ()
    kind: str = "claim"
    refuted: str = ""  # how the refutation of the printed statement is known, where its numbers do not say so
    argued: str = ""  # the verdict of a claim without a test
    stands: str = ""  # what is true of a main result, for the letter to the authors
    second: str = ""  # the verdicts of the other derivations
    third: str = ""
    counterexample: str = ""  # a sentence with fields of the record, such as {violation:.3g} or {instance[m]}
    repairs: tuple[Reading, ...] = ()
    lighter: tuple[Reading, ...] = ()
    steps: tuple[Reading, ...] = ()
    others: tuple[Reading, ...] = ()
    mutants: tuple[Reading, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)  # the sections of prose, by the keys of SECTIONS

    def derivation(self, which: str) -> dict | None:
        """The second or third derivation: verdict, argument, correction; None if there is none."""
        argument, _, correction = self.texts.get(which, "").partition("### Its correction")
        verdict = getattr(self, which)
        return {"verdict": verdict, "argument": argument.strip(), "correction": correction.strip()} if verdict else None


def folder():
    """docs/claims, by the link `texts`. Where links are not supported, git and zip write a file with the target."""
    link = resources.files("befrl.claims").joinpath("texts")
    return link if link.is_dir() else link.parent.joinpath(link.read_text().strip())


def number_of(id: str) -> tuple[int, ...]:
    """The id as numbers, for sorting and for seeds: C46 -> (46,), C45b -> (45, 2), S01 -> (1001,)."""
    match = re.fullmatch(r"([CS])(\d+)([a-z]?)", str(id))
    if match is None:
        raise InputError(f"'{id}' is not a claim id such as C46, C45b or S01")
    number = int(match[2]) + (1000 if match[1] == "S" else 0)
    return (number,) if not match[3] else (number, ord(match[3]) - ord("a") + 1)


@functools.cache
def pages() -> dict[str, Page]:
    """All pages by id, in the order of their numbers."""
    ids = [file.name.removesuffix(".md") for file in folder().iterdir() if re.fullmatch(r"[CS]\d\w*\.md", file.name)]
    return {id: parsed(_text(id), f"{id}.md") for id in sorted(ids, key=number_of)}


def wording(ids) -> str:
    """Hash of the pages' sources, of which the hash of the code knows nothing."""
    return hashlib.sha256("\n".join(MADE.sub("", _text(id)) for id in ids).encode()).hexdigest()[:16]


def parsed(text: str, name: str) -> Page:
    """The page with this text; raise if it is not one."""
    match = re.fullmatch(r"---\n(.*?)---\n\s*# (\w+)\. ([^\n]+)\n(.*)", MADE.sub("", text), re.DOTALL)
    if match is None:
        raise InputError(f"{name}: a page starts with front matter between two lines ---, and a heading '# C46. Title'")
    number_of(match[2])
    kinds = KINDS[match[2][0]]
    front = {"id": match[2], "title": _formulas(match[3]), "kind": kinds[0]} | yaml.safe_load(match[1])
    body = _sections(match[4], name)
    block = re.fullmatch(r"```yaml\n(.*?)```\s*", body.pop("readings", "```yaml\n{}```"), re.DOTALL)
    if block is None:
        raise InputError(f"{name}: the section Readings is one block ```yaml")
    data = yaml.safe_load(block[1]) or {}
    readings = {group: tuple(reading(each, f"{name}, {group}") for each in data.pop(group, ())) for group in GROUPS}
    if unknown := [*(set(data) - {"counterexample"}), *(set(front) - set(Page.__dataclass_fields__))]:
        raise InputError(f"{name}: '{unknown[0]}' is not a key of a page")
    page = Page(**front | {"uses": tuple(front.get("uses", ()))}, **readings, **data, texts=body)
    for key, allowed in {"kind": kinds, "argued": ("", *VERDICTS), "refuted": ("", *REFUTED)}.items():
        if getattr(page, key) not in allowed:
            raise InputError(f"{name}: {key} '{getattr(page, key)}' is not one of {', '.join(allowed)}")
    if bool(page.test) == bool(page.argued):
        raise InputError(f"{name}: a page has either a test or an argued verdict")
    if "statement" not in body or "derivation" not in body:
        raise InputError(f"{name}: the sections '{SECTIONS['statement']}' and '{SECTIONS['derivation']}' are needed")
    return page


def _text(id):
    return folder().joinpath(f"{id}.md").read_text(encoding="utf-8")


def _formulas(text):
    """Formulas as $x$ for $`x`$, as the report wants them."""
    return re.sub(r"\$`([^`]*)`\$", r"$\1$", text)


def _sections(body, name):
    """The sections by key."""
    keys = {title: key for key, title in SECTIONS.items()} | {"Statement": "statement"}
    found = {}
    for section in re.split(r"(?m)^## ", body)[1:]:
        title, _, text = section.partition("\n")
        if title.strip() not in keys:
            raise InputError(f"{name}: '{title.strip()}' is not a section: choose from {', '.join(keys)}")
        found[keys[title.strip()]] = _formulas(text).strip()
    lines = found.get("quote", "").splitlines()
    if lines:  # the quotation is what stands after >; what follows is our inference from it
        found["quote"] = "\n".join(line[1:].strip() for line in lines if line.startswith(">")).strip()
        found["inference"] = "\n".join(line for line in lines if not line.startswith(">")).strip()
    return found


def reading(entry, name) -> Reading:
    """A reading from its YAML; lists become tuples and 'a/b' a fraction."""
    if not isinstance(entry, dict) or not {"words", "given"} <= set(entry) <= READING:
        raise InputError(f"{name}: a reading has the keys words and given, and may have {', '.join(sorted(READING))}")
    if entry.get("takes", "misprint") not in (*CLASSES, "inherits"):
        raise InputError(f"{name}: takes '{entry['takes']}' is not one of {', '.join(CLASSES)}, inherits")
    return Reading(**entry | {"given": {key: _value(value) for key, value in entry["given"].items()}})


def _value(value):
    if isinstance(value, str) and re.fullmatch(r"-?\d+/\d+", value):
        return Fraction(value)
    if isinstance(value, list):
        return tuple(map(_value, value))
    return {key: _value(each) for key, each in value.items()} if isinstance(value, dict) else value
