"""Tables of docs/findings.md beside `findings.py`: chosen variants, Theorem 1 on the instances, published numbers."""

import re
from pathlib import Path

import pandas as pd

from befrl.analysis import columns, regret_tables
from befrl.analysis.components.certified import MULTIPLES
from befrl.analysis.findings import case_name, of_component, regret_text, share_text, significant, span_text
from befrl.analysis.statistics import without_rounding
from befrl.common import tidy
from befrl.common.errors import InputError
from befrl.common.markdown import markdown_table


def variants(layout, cases, names) -> str:
    """Regret, failed seeds and growth of the named variants, where a case has them."""
    rows = []
    for case in cases:
        summary = regret_tables.read(layout, "summary", *case).set_index("variant")
        for name in (name for name in names if name in summary.index):
            row = summary.loc[name]
            failed = share_text(row["failed"], row["failed_low"], row["failed_high"])
            about = f"{case_name(*case)}; K = {row['episodes']}, {row['seeds']} seeds"
            rows.append((about, name, regret_text(row), failed, f"{row['slope']:.2f}"))
    lost = [name for name in names if name not in {row[1] for row in rows}]
    if lost:
        raise InputError(f"no case has the variant '{lost[0]}'")
    return markdown_table(("case", "variant", "regret", "failed seeds", "log-log slope"), rows)


def theorem(layout) -> str:
    """What the component studies say of Theorem 1: its bound, the hypotheses of its proof, the traps, and rates."""
    first = {name: facts.set_index("quantity")["value"] for name, facts in of_component(layout, "theorem", "facts")}
    first = {name: values["first K, trivial"] for name, values in first.items() if "first K, trivial" in values}
    low, high = (pick(first, key=first.get) for pick in (min, max))
    answers = [table.sort_values("H") for _, table in of_component(layout, "repairs", "answers")]
    own, one = (sum(bool(table["proof"].iloc[place]) for table in answers) for place in (-1, 0))
    said = [
        f"The bound falls below the trivial one, H times K times the span of the rewards, from K = {first[low]:.1e} on "
        f"(`{low}`) to {first[high]:.1e} (`{high}`).",
        f"What the proof needs beyond what is stated holds together on {own} of {len(answers)} instances at their own "
        f"horizon, and on {one} with H = 1.",
    ]
    traps = [_trap(name, table) for name, table in of_component(layout, "traps", "never")]
    head = ("trap", "with Theorem 1's x_k", "new noise at every step", "least over other x and η", "exp-ucrl")
    sentences = re.sub(r"e\+0?", "e", "".join(f"- {sentence}\n" for sentence in said))
    return "\n".join((sentences, markdown_table(head, traps), _rates(layout)))


def _trap(name, table):
    """The shares of seeds that never try the best first action."""
    table = table[table["ties"] == "random"].assign(setting=table["setting"].fillna(""))
    ours = table[(table["agent"] == "bef-rlsvi") & ~table["setting"].str.contains("scale=")]
    least = ours.loc[ours["never"].idxmin()]
    by_name = table.set_index(["agent", "setting"])
    keys = (("bef-rlsvi", "scale=1"), ("bef-rlsvi", "scale=1 noise=step"), ("exp-ucrl", ""))
    theory, step, other = (_never(by_name.loc[key]) for key in keys)
    about = f"{name}; K = {least['episodes']}, {least['seeds']} seeds"
    return about, theory, step, f"{_never(least)} (x = {least['x']:g}, η = {least['eta']:g})", other


def _never(row):
    return share_text(row["never"], row["low"], row["high"])


def _rates(layout) -> str:
    """The slopes of the largest regret over gaps in K, by agent and setting."""
    slopes = {}
    for name, table in of_component(layout, "rates", "slopes"):
        grown = table[table["varied"] == "K"].assign(setting=table["setting"].fillna(""))
        for row in grown.itertuples():
            slopes.setdefault((row.agent, row.setting), {})[name] = f"{row.slope:.2f} [{row.low:.2f}, {row.high:.2f}]"
    names = sorted({name for found in slopes.values() for name in found})
    rows = [
        (agent, setting or "theory", *(found.get(name, "-") for name in names))
        for (agent, setting), found in slopes.items()
    ]
    return markdown_table(("agent", "setting", *(f"slope in K on {name}" for name in names)), rows)


def certified(layout) -> str:
    """BEF-SEED beside its rivals on every instance, and how often its certificates were broken."""
    regrets = {name: table for name, table in of_component(layout, "certified", "regrets")}
    checks = pd.concat([table for _, table in of_component(layout, "certified", "certificates")])
    theory, reduced = MULTIPLES
    said = []
    for multiple, part in checks.groupby("multiple", sort=False):
        count, broken = (part["seeds"] * part["episodes"]).sum(), part["broken_episodes"].sum()
        said.append(f"- Radii times {multiple:g}: {broken:,} of {count:,} certificates are below the regret.\n")
    said += _paired(pd.concat(regrets.values()))
    rows, own = [], checks[checks["multiple"] == theory].set_index(["instance", "track"])
    for (name, track), part in pd.concat(regrets.values()).groupby(["instance", "track"], sort=True):
        check = own.loc[(name, track)]
        first = "-" if pd.isna(check["first_k"]) else f"{check['first_k']:.0f}"
        about = f"{case_name(name, track)}; K = {part['episodes'].iloc[0]}, {part['seeds'].iloc[0]} seeds"
        means = (f"{value:.3g}" for value in without_rounding([part["random"].iloc[0], *part["mean"]]))
        rows.append((about, *means, f"{check['certified_share']:.2f}", first))
    shown = next(iter(regrets.values()))
    kinds = [f"{row.agent}, {row.role}" for row in shown[shown["track"] == shown["track"].iloc[0]].itertuples()]
    kinds = [kind.replace(", set", f", radii x {reduced:g}") for kind in kinds]
    head = ("case", "random", *kinds, "certificates / HK", "below HK/2 from k =")
    return "\n".join(("".join(said), markdown_table(head, rows)))


def _paired(regrets):
    """In how many cases BEF-SEED with theoretical constants has less or more regret than each tuned rival."""
    for rival, part in regrets[regrets["role"] == "tuned"].groupby("agent", sort=False):
        less, more = (part["difference_low"] > 0).sum(), (part["difference_high"] < 0).sum()
        yield (
            f"- Against tuned {rival}, bef-seed with theoretical constants has significantly less regret in {less} of "
            f"{len(part)} cases, significantly more in {more}, and neither in {len(part) - less - more} (paired "
            "intervals, not corrected for multiplicity).\n"
        )


def untuned(layout, cases, rivals) -> str:
    """BEF-SEED with theoretical constants against tuned rivals, and whether the differences are significant."""
    rows, tuned = [], [f"{rival}@tuned" for rival in rivals]
    for case in cases:
        summary = regret_tables.read(layout, "summary", *case).set_index("variant")
        if lost := [name for name in ("bef-seed", *tuned) if name not in summary.index]:
            raise InputError(f"the case '{'_'.join(case)}' does not have the variant '{lost[0]}'")
        paired = regret_tables.read(layout, "paired", *case)
        cells = [f"{case_name(*case)}; K = {summary['episodes'].iloc[0]}, {summary['seeds'].iloc[0]} seeds"]
        cells.append(regret_text(summary.loc["bef-seed"]))
        for rival in tuned:
            less, more = (significant(paired, "bef-seed", rival, sign) for sign in (-1, 1))
            cells.append(f"{regret_text(summary.loc[rival])} {'>' if less else '<' if more else '='}")
        rows.append(cells)
    return markdown_table(("case", "bef-seed, theory", *(f"{rival}, tuned" for rival in rivals)), rows)


def published(layout) -> str:
    """The relative differences between our reruns and the authors' numbers, where these could be read."""
    rows = []
    folder = Path(layout.published("values", "x")).parents[1]
    paths = sorted(folder.glob("*/values.csv"))
    if not paths:
        raise InputError(f"{folder}: there is no values.csv of a source")
    for path in paths:
        table = tidy.read(path, columns.TABLES["published"])
        table = table[table["authors"].notna() & (table["unit"] != "place")]
        table = table.astype({"follows": object}).fillna({"follows": "-"})
        keys = ["instance", "follows", "quantity", "variant"]
        for (instance, follows, quantity, variant), part in table.groupby(keys, sort=False, dropna=False):
            told = ", ".join(part["told_from_uniform"].dropna().unique()) or "-"
            about = (part["source"].iloc[0], instance, follows, quantity, "-" if pd.isna(variant) else variant)
            rows.append((*about, str(len(part)), span_text(100 * part["deviation"], "+.1f"), told))
    head = ("source", "instance", "follows the authors'", "quantity", "variant", "numbers", "ours over theirs, %")
    return markdown_table((*head, "differs from uniform play"), rows)
