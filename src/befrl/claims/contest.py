"""A contest: a stranger's counterexamples, repairs or test of a claim, before the same judge.

A file names its CLAIM and has any of INSTANCES (counterexamples, as in the claim's record), REPAIRS (readings as on a
page), allowed(instance) (a further hypothesis: the test sees only such instances) and test(rng, trials, **given) ->
Evidence (a test of its own, which counts where it finds a larger violation).
"""

import inspect
import runpy
from dataclasses import dataclass, replace

import numpy as np

from befrl.claims.judge import function_of, judge
from befrl.claims.pages import CLASSES, GROUPS, pages, reading
from befrl.claims.toolbox import search
from befrl.common.errors import InputError, unknown

NAMES = ("CLAIM", "INSTANCES", "REPAIRS", "allowed", "test")
WEIGHT = {"inherits": -1, **{name: number for number, name in enumerate(CLASSES)}}


@dataclass(frozen=True)
class Contest:
    """What a file brings against a claim."""

    id: str
    instances: tuple = ()
    repairs: tuple = ()
    allowed: object = None
    test: object = None


def read(path) -> Contest:
    """The contest that a file holds; raise if it holds none."""
    try:
        found = runpy.run_path(str(path))
    except OSError as error:
        raise InputError(f"--contest {path}: {error.strerror}") from None
    except Exception as error:
        raise InputError(f"--contest {path}: {type(error).__name__}: {error}") from error
    if found.get("CLAIM") not in pages():
        raise unknown(f"CLAIM of {path}:", str(found.get("CLAIM")), pages())
    if not any(found.get(name) for name in NAMES[1:]):
        raise InputError(f"--contest {path}: it contests nothing: define some of {', '.join(NAMES[1:])}")
    repairs = tuple(reading(each, f"{path}, REPAIRS") for each in found.get("REPAIRS", ()))
    if light := [each for each in repairs if not each.takes]:
        raise InputError(f"{path}, REPAIRS: '{light[0].words}' must say what it takes: {', '.join(CLASSES)}")
    return Contest(found["CLAIM"], tuple(found.get("INSTANCES", ())), repairs, found.get("allowed"), found.get("test"))


def outcome(contest: Contest, trials: int, seed: int) -> tuple[dict, dict]:
    """The records of the claim without and with the contest."""
    page = pages()[contest.id]
    if not page.test and (contest.instances or contest.allowed or contest.repairs):
        raise InputError(f"{contest.id} can only be argued: write an issue with your argument")
    _check_keywords(page, contest.repairs)
    before = judge(page, trials, seed)
    repairs = sorted((*page.repairs, *contest.repairs), key=lambda repair: WEIGHT.get(repair.takes, 0))
    extra = contest.test and _larger(contest, trials, seed)
    with search.contested(contest.instances, contest.allowed) as consulted:
        try:
            after = judge(replace(page, repairs=tuple(repairs)), trials, seed, extra)
        except InputError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise InputError(
                f"what contests {contest.id} does not fit its test ({type(error).__name__}: {error}): "
                f"`befrl claim {contest.id} --json` shows an instance and the readings"
            ) from error
    if (contest.instances or contest.allowed) and not consulted:
        raise InputError(f"the test of {contest.id} takes no instances: define test(rng, trials, **given) instead")
    return before, after


def changes(before: dict, after: dict) -> list[dict]:
    """The verdict and every reading, before and after."""
    words = {True: "survives", False: "refuted", None: "new"}
    found = [{"what": "verdict", "statement": "", "before": before["verdict"], "after": after["verdict"]}]
    for group in ("printed", *GROUPS):
        old = {each["words"]: each["survives"] for each in _group(before, group)}
        for each in _group(after, group):
            row = {"what": group, "statement": each["words"], "before": words[old.get(each["words"])]}
            found.append(row | {"after": words[each["survives"]], "worst case": each["violation"]})
    return found


def _group(record, group):
    if group != "printed":
        return record[group]
    return [{"words": record["statement"], "survives": record["survives"], "violation": record["worst_case"]}]


def _check_keywords(page, repairs):
    """Raise if a repair gives the test of the claim a keyword that it does not have."""
    parameters = list(inspect.signature(function_of(page)).parameters.values())[2:] if page.test else []
    allowed = {parameter.name for parameter in parameters}
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    for repair in repairs:
        if wrong := sorted(set(repair.given) - allowed):
            raise InputError(f"REPAIRS: '{wrong[0]}' is not a keyword of the test: choose from {', '.join(allowed)}")


def _larger(contest, trials, seed):
    """A function that takes the evidence of the file's own test where it found a larger violation."""

    def extra(evidence, given):
        own = contest.test(np.random.default_rng(seed), trials, **given)
        if not hasattr(own, "violation"):
            raise InputError(f"test of {contest.id}: it must return befrl.claims.toolbox.evidence.Evidence")
        return own if own.violation > evidence.violation else evidence

    return extra
