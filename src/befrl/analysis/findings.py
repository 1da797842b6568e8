"""The main findings of a study as Markdown: who wins, who fails and who needs tuning, with intervals.

Sentences follow from the tables by rules: less regret means significantly less (Holm's correction within the case), an
agent fails in a case if the interval of its share of failed seeds is above one half, and learns if it is below.
"""

import math
import re
from collections import Counter
from pathlib import Path

import pandas as pd

from befrl.analysis import components, regret_tables, remarks
from befrl.common import tidy
from befrl.common.defaults import LEVEL
from befrl.common.errors import InputError
from befrl.common.markdown import markdown_table

HEAD = (
    "case",
    "best tuned agents (not significantly different from the first)",
    "BEF-RLSVI tuned",
    "greedy tuned",
    "BEF-RLSVI, Theorem 1's x_k",
    "random",
)
TUNING = ("case", "regret of the median setting over that of the best: smallest", "largest")
COMPARED = ("bef-rlsvi", "bef-rlsvi@tuned", "greedy@tuned", "random")
TRAP = "trap-zero"  # it meets all hypotheses of Theorem 1
LOST = 50  # percent of the regret of random play: above it an agent has not learned
MOST = 6  # names that fit into a cell


def markdown(layout, cases) -> str:
    """Sentences and two tables: regrets of the agents that matter most, and how much tuning the agents need."""
    tables = read(layout, cases)
    paired = {case: regret_tables.read(layout, "paired", *case) for case in cases}
    said = "".join(f"- {text}\n" for text in sentences(tables, paired))
    regrets = markdown_table(HEAD, [_regrets(*case, *tables[case]) for case in cases])
    tuned = [_tuning(*case, regret_tables.read(layout, "tuning", *case)) for case in cases]
    return "\n".join((said, regrets, markdown_table(TUNING, tuned)))


def sentences(tables, paired) -> list[str]:
    """What the tables say of BEF-RLSVI, tuned and at theory, of its rivals, and of who leads."""
    cases, rows = list(tables), {case: summary.set_index("variant") for case, (summary, _) in tables.items()}
    orders = {case: order[order["family"] == "tuned"].set_index("agent") for case, (_, order) in tables.items()}
    of_all = f"of {len(cases)} cases"
    better = sum(significant(paired[case], "bef-rlsvi@tuned", "greedy@tuned") for case in cases)
    theory = sum(rows[case].loc["bef-rlsvi", "failed_low"] > 0.5 for case in cases)
    places = ", ".join(f"{order['place']['bef-rlsvi']} of {len(order)}" for order in orders.values())
    most, first = _most_often(order for _, order in tables.values())
    always = sorted(set.intersection(*(_learning(rows[case]) for case in cases)))
    failing = {case_name(*case): ", ".join(_failing(rows[case])) for case in cases}
    failures = "; ".join(f"{case}: {names}" for case, names in failing.items() if names)
    return [
        f"Tuned, BEF-RLSVI has significantly less regret than tuned greedy in {better} {of_all}. Its places among the "
        f"tuned agents are {places}.",
        f"With the x_k of Theorem 1 it fails in {theory} {of_all}.",
        f"Most often not significantly different from the best, in {most} {of_all}: {', '.join(first)}.",
        f"Learn in all cases with theoretical constants, or surrogates of them: {', '.join(always) or 'no agent'}.",
        f"Tuned agents that fail: {failures or 'none'}.",
    ]


def answers(layout, cases, verdicts, refuted) -> str:
    """The first lines of README: what BEF-RLSVI does, whether its theorem is true, who wins, and the `verdicts`."""
    lines = [*answer_lines(layout, cases, refuted), repaired(layout, cases)]
    count, leading = _most_often(order for _, order in read(layout, cases).values())
    alone = "is" if len(leading) == 1 else "are each"
    lines.append(
        f"**Who wins.** {'No tuned agent is best in every case. ' if count < len(cases) else ''}Tuned "
        f"{' and tuned '.join(leading)} {alone} not significantly different from the best in {count} of {len(cases)} "
        "cases, more often than any other agent."
    )
    lines.append(f"**Most of the paper's statements hold, some after a correction.** {verdicts.partition('. ')[0]}.")
    return "\n".join(f"- {line}" for line in lines) + "\n"


def answer_lines(layout, cases, refuted) -> list[str]:
    """Does BEF-RLSVI work, tuned and with the constants of its theorem, and is the theorem true?

    `refuted` is the counterexample of claim C62: the probability that the bound fails, and that which is allowed.
    """
    tables = read(layout, cases)
    ratios, shares, noises, places = [], [], [], []
    for summary, order in tables.values():
        rows = summary.set_index("variant")
        own, tuned = rows.loc["bef-rlsvi"], rows.loc["bef-rlsvi@tuned"]
        ratios.append(rows.loc["greedy@tuned", "mean"] / tuned["mean"])
        shares.append(100 * own["mean"] / rows.loc["random", "mean"])
        noises.append(own["value"] / float(re.search(r"\bx=(\S+)", tuned["setting"])[1]))
        order = order[order["family"] == "tuned"].set_index("agent")
        places.append((order["place"]["bef-rlsvi"], len(order)))
    trap = tidy.read(layout.component("traps", "never", TRAP), components.tables("traps")["never"])
    trap = trap[trap["ties"] == "random"].assign(setting=trap["setting"].fillna("")).set_index(["agent", "setting"])
    ours, other = (trap.loc[key] for key in (("bef-rlsvi", "scale=1"), ("exp-ucrl", "")))
    never = [share_text(row["never"], row["low"], row["high"]) for row in (ours, other)]
    works = "it works" if min(ratios) > 1 else "it is not always better than greedy play"
    learns = "does not learn" if min(shares) > LOST else "learns in some cases"
    false = (
        f"**Theorem 1 is false** ([C62](docs/claims/C62.md)). On an MDP that meets all its hypotheses the regret "
        f"exceeds its bound with probability {refuted['chance']:.2f} or more, where the theorem allows "
        f"{refuted['allowed']:.2f}. The cause shows in short runs: on `{TRAP}`, an MDP of the same form,"
        if refuted and refuted["chance"] > refuted["allowed"]
        else f"**Theorem 1 is not refuted here.** On `{TRAP}`"
    )
    ranks, sizes = zip(*places, strict=True)
    return [
        f"**Tuned, {works}.** In {len(cases)} cases ({_sorts(cases)}) BEF-RLSVI has {span_text(ratios)} times less "
        f"regret than tuned greedy play. It ranks {span_text(ranks, 'd')} among {span_text(sizes, 'd')} tuned "
        "agents.",
        f"**With its theoretical constants it {learns}.** The noise scale of Theorem 1 is "
        f"{span_text(noises, '.0e')} times the tuned one. The regret is then {span_text(shares, '.0f')} % of that of "
        "random play.",
        f"{false} {never[0]} of {ours['seeds']} seeds never try the best action in {ours['episodes']} episodes; with "
        f"EXP-UCRL {never[1]}.",
    ]


def _sorts(cases):
    """The instances of some cases, and whether their rewards are known."""
    names, tracks = (sorted({case[i] for case in cases}) for i in (0, 1))
    words = " and ".join({"K": "known", "U": "unknown"}[track] for track in tracks)
    return f"{', '.join(names)}; rewards {words}"


def _most_often(orders):
    """How often the tuned agents that lead most often do not differ from the best, and their names."""
    counts = Counter(agent for order in orders for agent in _leaders(order))
    most = max(counts.values())
    return most, sorted(agent for agent, count in counts.items() if count == most)


def repaired(layout, cases) -> str:
    """Does bef-seed do with theoretical constants what the paper promised?"""
    paired = [regret_tables.read(layout, "paired", *case) for case in cases]
    (less, more), other = (
        [sum(significant(table, "bef-seed", f"{rival}@tuned", sign) for table in paired) for sign in (-1, 1)]
        for rival in ("bef-rlsvi", "exp-ucrl")
    )
    checks = pd.concat([table for _, table in of_component(layout, "certified", "certificates")])
    checks = checks[checks["multiple"] == 1]
    count, broken = (checks["seeds"] * checks["episodes"]).sum(), checks["broken_episodes"].sum()
    wins = other[1] > other[0]
    return (
        f"**What to use instead.** {'EXP-UCRL, if you can tune it; otherwise our' if wins else 'Our'} "
        "[bef-seed](docs/repair.md), which is optimistic over likelihood sets. With theoretical constants it has "
        f"significantly less regret than *tuned* BEF-RLSVI in {less} of {len(cases)} cases, and more in {more}; than "
        f"tuned EXP-UCRL less in {other[0]}, and more in {other[1]}. Before every episode it bounds its regret in this "
        f"episode with high probability: {broken:,} of {count:,} bounds were too small."
    )


def instead(layout, cases) -> str:
    """What works instead: the agents that learn in all cases with theoretical constants, and their share of regret."""
    tables = read(layout, cases)
    rows = {case: summary.set_index("variant") for case, (summary, _) in tables.items()}
    found = sorted(set.intersection(*(_learning(rows[case]) for case in cases)))
    shares = {a: [100 * rows[c].loc[a, "mean"] / rows[c].loc["random", "mean"] for c in cases] for a in found}
    named = ", ".join(f"{agent} ({span_text(shares[agent], '.0f')} %)" for agent in found)
    about = (
        f"In all {len(cases)} cases, {named or 'no agent'}; in brackets the regret in percent of that of random play."
    )
    return f"**Instead, with theoretical constants or surrogates of them.** {about}"


def of_component(layout, kind, table):
    """(instance, table) of a component study, for all its instances."""
    folder = Path(layout.component(kind, table, "x")).parents[1]
    paths, meanings = sorted(folder.glob(f"*/{table}.csv")), components.tables(kind)[table]
    if not paths:
        raise InputError(f"{folder}: there is no {table}.csv of an instance")
    return [(path.parent.name, tidy.read(path, meanings)) for path in paths]


def span_text(values, form=".2g"):
    low, high = (f"{value:{form}}".replace("e+0", "e") for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def share_text(share, low, high):
    return f"{share:.0%} [{low:.0%}, {high:.0%}]".replace("%", " %")


def significant(paired, first, second, sign=-1):
    """Whether a difference of regrets (of the family that has this pair) is significant and has this sign."""
    found = paired[(paired["first"] == first) & (paired["second"] == second)]
    return bool(len(found)) and bool((found["p"] <= 1 - LEVEL).all() and (sign * found["difference"] > 0).all())


def _leaders(order):
    order = order[order["family"] == "tuned"]
    best = set(order["group"].iloc[0])
    return [row.agent for row in order.itertuples() if best & set(row.group)]


def _failing(rows):
    return rows[(rows["role"] == "tuned") & (rows["failed_low"] > 0.5)]["agent"]


def _learning(rows):
    """The agents that learn with theoretical or surrogate constants."""
    own = rows[rows["role"].isin(("theory", "surrogate"))]
    return set(own[own["failed_high"] < 0.5]["agent"])


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


def case_name(instance, track):
    return f"{instance}, reward {'known' if track == 'K' else 'unknown'}"


def _regrets(instance, track, summary, order):
    by_variant = summary.set_index("variant")
    order = order[order["family"] == "tuned"]
    leaders = order[order["agent"].isin(_leaders(order))]
    shown = []
    for row in leaders.head(MOST).itertuples():
        constant = remarks.CONSTANT in str(by_variant.loc[row.variant, "remarks"])
        shown.append(
            f"{row.agent} {regret_text(by_variant.loc[row.variant])}{' (constant policy)' if constant else ''}"
        )
    more = f"; {len(leaders) - MOST} more" if len(leaders) > MOST else ""
    places = {row.agent: f" (place {row.place} of {len(order)})" for row in order.itertuples()}
    greedy = by_variant.loc["greedy@tuned"]
    return (
        f"{case_name(instance, track)}; K = {summary['episodes'].iloc[0]}, {summary['seeds'].iloc[0]} seeds",
        "; ".join(shown) + more,
        regret_text(by_variant.loc["bef-rlsvi@tuned"]) + places["bef-rlsvi"],
        f"{regret_text(greedy)}, failed {share_text(greedy['failed'], greedy['failed_low'], greedy['failed_high'])}",
        regret_text(by_variant.loc["bef-rlsvi"]),
        regret_text(by_variant.loc["random"]),
    )


def _tuning(instance, track, tuning):
    """The agents with the smallest and the largest ratio of the median setting's regret to the chosen one's."""
    ratios = {}
    for agent, part in tuning.groupby("agent", sort=False):
        chosen = part.set_index("chosen")
        ratios[agent] = chosen.loc["median", "first_mean"] / max(chosen.loc["tuned", "mean"], 1e-6)
    words = [f"{agent} {_round(ratios[agent])}" for agent in sorted(ratios, key=ratios.get)]
    return case_name(instance, track), ", ".join(words[:3]), ", ".join(words[:-4:-1])


def regret_text(row):
    return f"{_round(row['mean'])} [{_round(row['low'])}, {_round(row['high'])}]"


def _round(value):
    if not value > 0:
        return "0"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"
