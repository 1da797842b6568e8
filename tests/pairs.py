"""Pairwise covers: few cases of a large product that contain all pairs of values."""

import itertools


def cover(*factors, allowed=lambda *case: True):
    """Cases (tuples with a value of each factor) that contain every pair of values of two factors.

    Pairs that occur in no allowed case are left out. A greedy choice, the same every time: first the cases all of whose
    pairs are new, then those with all but one new, and so on.
    """
    cases = [case for case in itertools.product(*map(enumerate, factors)) if allowed(*(value for _, value in case))]
    indices = [tuple(index for index, _ in case) for case in cases]
    pairs = [set(itertools.combinations(enumerate(case), 2)) for case in indices]
    missing = set().union(*pairs)
    chosen = []
    for wanted in range(len(factors) * (len(factors) - 1) // 2, 0, -1):
        for case, its in zip(cases, pairs, strict=True):
            if len(new := its & missing) >= wanted:
                chosen.append(tuple(value for _, value in case))
                missing -= new
    return chosen
