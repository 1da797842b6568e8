"""Which agents differ significantly: paired p-values, Holm's correction for multiplicity, and groups by letters."""

from string import ascii_letters

import numpy as np

from befrl.analysis.intervals import p_value
from befrl.analysis.statistics import without_rounding


def adjusted_p_values(regrets):
    """Holm-adjusted p-values (m, m) for equal means of regrets (n, m) on common seeds; rounding is no difference."""
    m = regrets.shape[1]
    first, second = np.triu_indices(m, k=1)
    adjusted = np.ones((m, m))
    adjusted[first, second] = adjusted[second, first] = holm(pair_p_values(regrets))
    return adjusted


def pair_p_values(regrets):
    """P-values for equal means of regrets (n, m), for all pairs in the order of `numpy.triu_indices`."""
    first, second = np.triu_indices(regrets.shape[1], k=1)
    return _p_values(regrets[:, first] - regrets[:, second])


def adjusted_against(regret, rivals):
    """Holm-adjusted p-values (m,) for equal means of a regret (n,) and each of the rivals' (n, m) on common seeds."""
    return holm(_p_values(regret[:, None] - rivals))


def _p_values(differences):
    return p_value(without_rounding(differences))


def holm(p_values):
    """Holm's adjusted p-values: rejecting those up to alpha keeps the family-wise error rate at alpha."""
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * p_values[order]))
    return adjusted


def groups(adjusted, level) -> list[str]:
    """Compact letter display of `adjusted` (m, m): agents share a letter iff they do not differ significantly."""
    alike = adjusted > 1 - level
    np.fill_diagonal(alike, False)
    neighbours = [set(np.flatnonzero(row).tolist()) for row in alike]
    letters = [""] * len(adjusted)
    cliques = _cliques(neighbours, set(), set(range(len(adjusted))), set())
    for number, clique in enumerate(sorted(map(sorted, cliques))):
        for agent in clique:
            letters[agent] += ascii_letters[number] if number < len(ascii_letters) else f"({number + 1})"
    return letters


def _cliques(neighbours, chosen, open_, closed):
    """Maximal cliques with all `chosen`, some `open_` and no `closed` ones (Bron and Kerbosch with a pivot)."""
    if not open_:
        if not closed:
            yield chosen
        return
    pivot = max(sorted(open_ | closed), key=lambda agent: len(neighbours[agent] & open_))
    for agent in sorted(open_ - neighbours[pivot]):
        near = neighbours[agent]
        yield from _cliques(neighbours, chosen | {agent}, open_ & near, closed & near)
        open_, closed = open_ - {agent}, closed | {agent}
