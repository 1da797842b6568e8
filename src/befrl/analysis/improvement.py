"""Comparisons over all cases of a study: probabilities of improvement, and significance corrected over all cases.

The probability of improvement of an agent over another is the share of seeds on which it has the smaller regret, ties
counted half, averaged over the cases that both play (Agarwal et al., NeurIPS 2021). Cases share their seeds, and tracks
U and K of an instance their noise. So the average over cases is taken within a seed, and the interval is over seeds.
Agents that play one case only are left out, if others play more.
"""

from collections import Counter
from itertools import combinations

import numpy as np

from befrl.analysis import columns, comparisons, intervals
from befrl.analysis.statistics import NO_REGRET

COLUMNS = columns.TABLES["improvement"]
SIGNIFICANCE = columns.TABLES["significance"]
ALL = "all others"


def rows(finals: dict, level: float) -> list[dict]:
    """The probabilities of each agent over all others, best first, and of all pairs; finals[case][agent] (seeds,)."""
    played = Counter(agent for case in finals.values() for agent in case)
    agents = [agent for agent, number in played.items() if number >= min(2, max(played.values()))]
    seeds = min(len(regret) for case in finals.values() for regret in case.values())
    wins = {
        pair: _wins([case for case in finals.values() if set(pair) <= set(case)], *pair, seeds)
        for pair in combinations(agents, 2)
    }
    wins |= {(second, first): (1 - won, number) for (first, second), (won, number) in wins.items()}
    wins = {pair: (won, number) for pair, (won, number) in wins.items() if number}
    found = []
    for agent in agents:
        own = [won for (first, _), (won, _) in wins.items() if first == agent]
        if own:
            found.append(_row(agent, ALL, played[agent], np.mean(own, axis=0), level))
    found.sort(key=lambda row: -row["probability"])
    place = {row["first"]: number for number, row in enumerate(found)}
    pairs = sorted(
        (pair for pair in wins if place[pair[0]] < place[pair[1]]), key=lambda pair: [place[a] for a in pair]
    )
    return found + [_row(*pair, wins[pair][1], wins[pair][0], level) for pair in pairs]


def significance(finals: dict, level: float) -> list[dict]:
    """How many pairs of agents differ significantly in each case, with Holm's correction in the case and over all."""
    p = {case: comparisons.pair_p_values(np.stack(list(regrets.values()), axis=1)) for case, regrets in finals.items()}
    study = np.split(
        comparisons.holm(np.concatenate(list(p.values()))), np.cumsum([len(own) for own in p.values()])[:-1]
    )
    return [
        {
            **{"instance": case[0], "track": case[1], "pairs": len(own)},
            "within_case": int((comparisons.holm(own) <= 1 - level).sum()),
            "over_study": int((over <= 1 - level).sum()),
        }
        for (case, own), over in zip(p.items(), study, strict=True)
    ]


def _wins(cases, first, second, seeds):
    """Per seed, the share of cases that the first agent wins; and the number of cases."""
    if not cases:
        return 0.0, 0
    difference = np.stack([case[second][:seeds] - case[first][:seeds] for case in cases])
    won = np.where(np.abs(difference) <= NO_REGRET, 0.5, difference > 0)
    return won.mean(0), len(cases)


def _row(first, second, cases, won, level):
    names = ("probability", "low", "high")
    ends = intervals.share_with_interval(won, level, names)
    return {"first": first, "second": second, "cases": cases, "seeds": len(won)} | ends
