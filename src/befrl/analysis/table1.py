"""Table 1 of the paper, measured: its entries for each algorithm beside the numbers of our runs, one row per agent.

Marks and rates are printed in the paper about the authors' algorithms; the measurements dispute some of them. The
meaning of d differs between rows: parameters of the family, base models, or features of (s,a). Measured seconds and
their growth have a table of their own, joined by instance, track and agent.
"""

from dataclasses import asdict

from befrl.analysis import regret_columns
from befrl.analysis.components import scaling
from befrl.analysis.printed import PRINTED, Printed
from befrl.common import tidy
from befrl.common.errors import InputError

KEYS = {name: regret_columns.SUMMARY[name] for name in ("instance", "track", "agent", "algorithm", "setting")}
MEASURED = ("mean", "low", "high", "q10", "q50", "q90", "failed", "optimistic")
COLUMNS = {
    **KEYS,
    "printed": "name of the algorithm in the paper's Table 1; empty if it is not there",
    "rate": "regret bound as printed, without logarithms",
    "tractable_exploration": "mark as printed",
    "tractable_planning": "mark as printed",
    "free_of_clipping": "mark as printed",
    "assumes": "model and assumptions as printed",
    "rewards": "whether the algorithm knows the rewards, as printed",
    "specification": regret_columns.SUMMARY["specification"],
    "seeds": regret_columns.SUMMARY["seeds"],
    "episodes": regret_columns.SUMMARY["episodes"],
    "constants": "constants of the columns theory_*: theory, surrogate (of another bound, as the source's are not "
    "known), set (by the config) or baseline (none)",
    **{f"theory_{name}": f"without tuning: {regret_columns.SUMMARY[name]}" for name in MEASURED},
    "parameter": "parameter that was tuned; empty for an agent without a grid",
    "value": "best value of that parameter, chosen on other seeds",
    "at_edge": regret_columns.SUMMARY["at_edge"],
    **{f"tuned_{name}": f"tuned: {regret_columns.SUMMARY[name]}" for name in MEASURED},
    "plans": f"{regret_columns.SUMMARY['plans']}; of the tuned variant if there is a grid",
}
TIMINGS = {
    **KEYS,
    "variant": "variant whose seconds are given: the tuned one if the agent has a grid",
    "seconds": regret_columns.TIMINGS["seconds_per_episode"],
    "exponent_k": regret_columns.TIMINGS["exponent_k"],
    "exponent_d": "power of d with which they grow, on larger instances of the family; empty if not measured",
    "exponent_H": "power of H with which they grow, on the same instance; empty if not measured",
}


def rows(layout, cases) -> list[dict]:
    """The table, from the summaries of these (instance, track) among the files of `layout`."""
    return [_row(*variants) for case in cases for variants in _agents(layout, *case)]


def timings(layout, cases, scaled) -> list[dict]:
    """The seconds of each agent of the table, and their growth on the `scaled` instances."""
    growth = {key: powers for name in scaled for key, powers in _growth(layout, name).items()}
    found = []
    for instance, track in cases:
        shown = [tuned or first for first, tuned in _agents(layout, instance, track)]
        path = layout.regret_timings(instance, track)
        seconds = tidy.read(path, regret_columns.TIMINGS).set_index("variant")
        for row in shown:
            if row["variant"] not in seconds.index:
                raise InputError(f"{path}: there is no row of '{row['variant']}': delete it and run again")
            cost = seconds.loc[row["variant"]]
            entry = {key: row[key] for key in (*KEYS, "variant")}
            entry |= {"seconds": cost["seconds_per_episode"], "exponent_k": cost["exponent_k"]}
            found.append(entry | (_powers(growth, row) if instance in scaled else {}))
    return found


def _agents(layout, instance, track):
    """The variant of each agent off its grid, and the tuned one or None, as rows of the summary."""
    summary = _with_settings(tidy.read(layout.regret("summary", instance, track), regret_columns.SUMMARY))
    for _, part in summary.groupby("agent", sort=False):
        by_role = {row["role"]: row for row in part.to_dict("records") if row["role"] != "grid"}
        tuned = by_role.pop("tuned", None)
        (first,) = by_role.values()
        yield first, tuned


def _row(first, tuned):
    names = (*KEYS, "specification", "seeds", "episodes")
    row = {key: first[key] for key in names} | asdict(PRINTED.get(first["algorithm"], Printed()))
    row |= {"constants": first["role"], **{f"theory_{name}": first[name] for name in MEASURED}}
    if tuned is not None:
        row |= {key: tuned[key] for key in ("parameter", "value", "at_edge")}
        row |= {f"tuned_{name}": tuned[name] for name in MEASURED}
    return row | {"plans": (tuned or first)["plans"]}


def _growth(layout, instance):
    """{(instance, algorithm, setting): exponents in d and in H}."""
    table = tidy.read(layout.component_timings("scaling", instance), scaling.TIMINGS)
    found = {}
    for row in _with_settings(table[table["role"] == "exponent"]).itertuples():
        found.setdefault((instance, row.algorithm, row.setting), {})[f"exponent_{row.varied}"] = row.exponent
    return found


def _powers(growth, row):
    """The exponents of a row's setting; none if scaling does not measure the setting."""
    key = tuple(row[name] for name in ("instance", "algorithm", "setting"))
    if key not in growth and row["setting"] in scaling.measured(row["algorithm"]):
        raise InputError(
            f"the scaling study of instance '{row['instance']}' has no row of '{row['algorithm']}' with setting "
            f"'{row['setting']}': delete its tables and run again"
        )
    return growth.get(key, {})


def _with_settings(table):
    """The table with empty settings as empty text; a column without any text was read as numbers."""
    return table.assign(setting=table["setting"].astype(object).fillna(""))
