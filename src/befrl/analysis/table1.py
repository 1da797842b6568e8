"""Table 1 of the paper, measured: its entries for each algorithm beside the numbers of our runs, one row per agent.

The meaning of d differs between rows: parameters of the family, base models, or features of (s,a).
"""

from dataclasses import asdict

from befrl.analysis import columns, components, regret_tables
from befrl.analysis.components import scaling
from befrl.common import tidy
from befrl.common.errors import InputError
from befrl.common.printed import PRINTED, Printed

COLUMNS, TIMINGS = columns.TABLES["table1"], columns.TABLES["table1/timings"]
KEYS = ("instance", "track", "agent", "algorithm", "setting")
MEASURED = ("mean", "low", "high", "q10", "q50", "q90", "failed", "failed_low", "failed_high", "optimistic", "tied")


def rows(layout, cases) -> list[dict]:
    """The table, from the summaries of these (instance, track) among the files of `layout`."""
    return [_row(by_role) for case in cases for by_role in _agents(layout, *case)]


def timings(layout, cases, scaled) -> list[dict]:
    """The seconds of each agent of the table, and their growth on the `scaled` instances."""
    growth = {key: powers for name in scaled for key, powers in _growth(layout, name).items()}
    found = []
    for case in cases:
        seconds = regret_tables.read(layout, "timings", *case).set_index("agent")
        for by_role in _agents(layout, *case):
            row = by_role["theory"]
            if row["agent"] not in seconds.index:
                path = layout.regret_timings(*case)
                raise InputError(f"{path}: there is no row of '{row['agent']}': delete it and run again")
            cost = seconds.loc[row["agent"]]
            entry = {key: row[key] for key in KEYS}
            entry |= {"seconds": cost["seconds_per_episode"], "exponent_k": cost["exponent_k"]}
            found.append(entry | (_powers(growth, row) if case[0] in scaled else {}))
    return found


def _agents(layout, *case):
    """The rows of the summary of each agent by role: "theory" for its own constants, and "tuned"."""
    summary = _with_texts(regret_tables.read(layout, "summary", *case))
    order = regret_tables.read(layout, "order", *case)
    groups = {(row.family, row.agent): row.group for row in order.itertuples()}
    for agent, part in summary.groupby("agent", sort=False):
        by_role = {row["role"]: row for row in part.to_dict("records") if row["role"] == "tuned"}
        own = part[part["variant"] == agent].to_dict("records")
        if len(own) != 1:
            path = layout.regret("summary", *case)
            raise InputError(f"{path}: it has {len(own)} rows of '{agent}' alone: delete it and run again")
        letters = {f"{family}_group": groups.get((family, agent), "") for family in ("theory", "tuned")}
        yield by_role | {"theory": own[0] | letters}


def _row(by_role):
    first = by_role["theory"]
    names = (*KEYS, "specification", "seeds", "episodes", "plans", "theory_group", "tuned_group")
    row = {key: first[key] for key in names} | asdict(PRINTED.get(first["algorithm"], Printed()))
    row |= {"constants": first["role"], "theory_remarks": first["remarks"]}
    if "tuned" in by_role:
        tuned = by_role["tuned"]
        row |= {"tuned_setting": tuned["setting"], "at_edge": tuned["at_edge"], "tuned_remarks": tuned["remarks"]}
    return row | {f"{role}_{name}": entry[name] for role, entry in by_role.items() for name in MEASURED}


def _growth(layout, instance):
    """{(instance, algorithm, setting): exponents in d and in H}."""
    table = tidy.read(layout.component_timings("scaling", instance), components.tables("scaling")["timings"])
    found = {}
    for row in _with_texts(table[table["role"] == "exponent"]).itertuples():
        found.setdefault((instance, row.algorithm, row.setting), {})[f"exponent_{row.varied}"] = row.exponent
    return found


def _powers(growth, row):
    key = tuple(row[name] for name in ("instance", "algorithm", "setting"))
    if key not in growth and row["setting"] in scaling.measured(row["algorithm"]):
        raise InputError(
            f"the scaling study of instance '{row['instance']}' has no row of '{row['algorithm']}' with setting "
            f"'{row['setting']}': delete its tables and run again"
        )
    return growth.get(key, {})


def _with_texts(table):
    """The table with "" for missing texts; a column without any text is read as numbers."""
    names = [name for name in ("setting", "at_edge", "remarks") if name in table]
    return table.assign(**{name: table[name].astype(object).fillna("") for name in names})
