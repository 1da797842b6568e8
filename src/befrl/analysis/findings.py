"""The main findings of a study as Markdown: who wins, who fails and who needs tuning, with intervals."""

import math

from befrl.analysis import regret_tables, remarks
from befrl.common.errors import InputError

HEAD = (
    "case",
    "best tuned agents (not told apart from the first)",
    "BEF-RLSVI tuned",
    "greedy tuned",
    "BEF-RLSVI, Theorem 1's x_k",
    "random",
)
COMPARED = ("bef-rlsvi", "bef-rlsvi@tuned", "greedy@tuned", "random")
MOST = 6  # names that fit into a cell


def markdown(layout, cases) -> str:
    """Two tables: regrets of the agents that matter most, and how much tuning the agents need."""
    tables = read(layout, cases)
    first = [HEAD, ["---"] * len(HEAD), *(_regrets(*case, *tables[case]) for case in cases)]
    second = [("case", "median over best setting: least", "most"), ["---"] * 3]
    second += [_tuning(*case, regret_tables.read(layout, "tuning", *case)) for case in cases]
    # `DataFrame.to_markdown` would pad all cells to the longest.
    return "\n\n".join("\n".join(f"| {' | '.join(row)} |" for row in table) for table in (first, second)) + "\n"


def read(layout, cases):
    """The summary and the order of each case, (instance, track); raise if the agents of HEAD are not in them."""
    tables = {case: tuple(regret_tables.read(layout, name, *case) for name in ("summary", "order")) for case in cases}
    for case, (summary, order) in tables.items():
        named = {*COMPARED, *order["variant"]}
        lost = sorted(named - set(summary["variant"]))
        if lost or summary["variant"].duplicated().any() or "bef-rlsvi" not in set(order["agent"]):
            wanted = f"it needs one row of '{lost[0]}'" if lost else "its rows do not fit"
            raise InputError(f"the case '{'_'.join(case)}' has no findings: {wanted}")
    return tables


def _name(instance, track):
    return f"{instance}, reward {'known' if track == 'K' else 'unknown'}"


def _regrets(instance, track, summary, order):
    by_variant = summary.set_index("variant")
    order = order[order["family"] == "tuned"]
    leaders = order[[bool(set(group) & set(order["group"].iloc[0])) for group in order["group"]]]
    shown = []
    for row in leaders.head(MOST).itertuples():
        constant = remarks.CONSTANT in str(by_variant.loc[row.variant, "remarks"])
        shown.append(f"{row.agent} {_regret(by_variant.loc[row.variant])}{' (constant policy)' if constant else ''}")
    more = f"; {len(leaders) - MOST} more" if len(leaders) > MOST else ""
    places = {row.agent: f" (place {row.place} of {len(order)})" for row in order.itertuples()}
    greedy = by_variant.loc["greedy@tuned"]
    return (
        f"{_name(instance, track)}; K = {summary['episodes'].iloc[0]}, {summary['seeds'].iloc[0]} seeds",
        "; ".join(shown) + more,
        _regret(by_variant.loc["bef-rlsvi@tuned"]) + places["bef-rlsvi"],
        f"{_regret(greedy)}, failed {greedy['failed']:.0%} [{greedy['failed_low']:.0%}, {greedy['failed_high']:.0%}]",
        _regret(by_variant.loc["bef-rlsvi"]),
        _regret(by_variant.loc["random"]),
    )


def _tuning(instance, track, tuning):
    """The agents with the smallest and the largest ratio of the median setting's regret to the chosen one's."""
    ratios = {}
    for agent, part in tuning.groupby("agent", sort=False):
        chosen = part.set_index("chosen")
        ratios[agent] = chosen.loc["median", "first_mean"] / max(chosen.loc["tuned", "mean"], 1e-6)
    words = [f"{agent} {_round(ratios[agent])}" for agent in sorted(ratios, key=ratios.get)]
    return _name(instance, track), ", ".join(words[:3]), ", ".join(words[:-4:-1])


def _regret(row):
    return f"{_round(row['mean'])} [{_round(row['low'])}, {_round(row['high'])}]"


def _round(value):
    if not value > 0:
        return "0"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"
