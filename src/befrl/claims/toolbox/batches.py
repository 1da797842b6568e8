"""Attacks on many instances at once: the worst of a batch, and the evidence."""

from fractions import Fraction

import numpy as np

from befrl.claims.toolbox.evidence import Evidence
from befrl.claims.toolbox.search import listed


def see_largest(worst, values, cases):
    """Show the largest of an array of values to `worst`, with its case: entry i of every array in `cases`.

    A single value has the whole of `cases` as its case. An exact counterexample keeps its place against arrays.
    """
    if np.ndim(values) == 0:
        worst.see(values, cases)
        return
    i = int(np.argmax(values))
    if isinstance(worst.value, Fraction) and worst.value > 0:
        worst.number += 1
    else:
        worst.see(float(values[i]), {key: value[i] if np.ndim(value) else value for key, value in cases.items()})
    worst.number += len(values) - 1


def evidence_of(worst, **options):
    """The evidence of all that `worst` has seen."""
    return Evidence(worst.value, listed(worst.instance), number=worst.number, **options)
