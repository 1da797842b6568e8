"""Table 1 of the paper, measured: what it prints about each algorithm beside what our runs say, one row for each agent.

The marks and rates are the paper's, printed about the authors' algorithms; some are disputed by the measurements, which
is what the table is for. d means another thing in each row: parameters of the family, base models, features of (s,a).
"""

from dataclasses import asdict, dataclass
from pathlib import Path

from befrl.common import tidy


@dataclass(frozen=True)
class Printed:
    """A row of the paper's Table 1."""

    printed: str = ""
    rate: str = ""
    tractable_exploration: str = ""
    tractable_planning: str = ""
    free_of_clipping: str = ""
    assumes: str = ""
    rewards: str = ""


PRINTED = {
    "ren-ts": Printed(
        "Thompson sampling", "sqrt(d^2 H^3 K), Bayesian", "no", "yes", "n.a.", "Gaussian transitions", "known"
    ),
    "exp-ucrl": Printed("EXP-UCRL", "sqrt(d^2 H^4 K)", "no", "no", "n.a.", "bilinear exponential family", "known"),
    "smrl": Printed("SMRL", "sqrt(d^2 H^4 K)", "no", "no", "n.a.", "bilinear exponential family", "known"),
    "ucrl-vtr": Printed("UCRL-VTR", "sqrt(d^2 H^4 K)", "no", "no", "n.a.", "linear mixture model", "not said"),
    "lsvi-phe": Printed(
        "PHE-LSVI", "sqrt(d^3 H^4 K), or poly(d_E H) sqrt(K H)", "yes", "no", "no",
        "eluder dimension, tabular, anti-concentration", "not said",
    ),
    "uc-matrixrl": Printed("UC-MatrixRL", "sqrt(d^2 H^5 K)", "no", "no", "n.a.", "linear factor MDP", "not said"),
    "opt-rlsvi": Printed("OPT-RLSVI", "sqrt(d^4 H^5 K)", "yes", "yes", "no", "linear V", "not said"),
    "bef-rlsvi": Printed(
        "BEF-RLSVI", "sqrt(d^3 H^3 K)", "yes", "yes", "yes", "bilinear exponential family", "unknown"
    ),
}  # fmt: skip

MEASURED = ("mean", "low", "high", "q10", "q50", "q90", "failed", "optimistic")
COLUMNS = {
    "instance": tidy.SUMMARY["instance"],
    "track": tidy.SUMMARY["track"],
    "agent": tidy.SUMMARY["agent"],
    "algorithm": tidy.SUMMARY["algorithm"],
    "setting": tidy.SUMMARY["setting"],
    "printed": "the algorithm's name in the paper's Table 1; empty if it is not there",
    "rate": "regret bound that the table prints, without logarithms",
    "tractable_exploration": "the table's mark",
    "tractable_planning": "the table's mark",
    "free_of_clipping": "the table's mark",
    "assumes": "model and assumptions that the table prints",
    "rewards": "whether the algorithm knows the rewards, as the table prints it",
    "fit": tidy.SUMMARY["fit"],
    "seeds": tidy.SUMMARY["seeds"],
    "episodes": tidy.SUMMARY["episodes"],
    "constants": "whose constants the columns theory_* are with: theory, set (by the config) or baseline (it has none)",
    **{f"theory_{name}": f"without tuning: {tidy.SUMMARY[name]}" for name in MEASURED},
    "parameter": "parameter that was tuned; empty if there is no grid",
    "value": "its best value, chosen on other seeds",
    "at_edge": tidy.SUMMARY["at_edge"],
    **{f"tuned_{name}": f"tuned: {tidy.SUMMARY[name]}" for name in MEASURED},
    "plans": tidy.TIMINGS["plans"],
    "seconds": "seconds of processor time per episode and seed, tuned if there is a grid",
    "exponent_k": "power of the episode k with which they grow",
    "exponent_d": "power of d with which they grow, on larger instances of the family; empty if not measured",
    "exponent_H": "power of H with which they grow, on the same instance; empty if not measured",
}


def rows(folder, cases, scaled) -> list[dict]:
    """From the files below `folder`: the agents of each (instance, track), and growth as measured on `scaled`."""
    growth = {key: powers for name in scaled for key, powers in _growth(Path(folder), name).items()}
    return [row for instance, track in cases for row in _rows(Path(folder) / "regret" / f"{instance}_{track}", growth)]


def _growth(folder, instance):
    """{(instance, algorithm, setting): exponents in d and in H}."""
    needed = ("role", "varied", "algorithm", "setting", "exponent")
    table = tidy.read(folder / "library" / "scaling" / f"{instance}.csv", needed)
    found = {}
    for row in _with_settings(table[table["role"] == "exponent"]).itertuples():
        found.setdefault((instance, row.algorithm, row.setting), {})[f"exponent_{row.varied}"] = row.exponent
    return found


def _with_settings(table):
    """An empty setting is no setting; a column of nothing else was read as numbers."""
    return table.assign(setting=table["setting"].astype(object).fillna(""))


def _rows(folder, growth):
    summary = _with_settings(tidy.read(folder / "summary.csv", tidy.SUMMARY))
    timings = tidy.read(folder / "timings.csv", tidy.TIMINGS).set_index("variant")
    for _, part in summary.groupby("agent", sort=False):
        by_role = {row["role"]: row for row in part.to_dict("records") if row["role"] != "grid"}
        tuned = by_role.pop("tuned", None)
        (first,) = by_role.values()
        names = ("instance", "track", "agent", "algorithm", "setting", "fit", "seeds", "episodes")
        row = {key: first[key] for key in names} | asdict(PRINTED.get(first["algorithm"], Printed()))
        row |= {"constants": first["role"], **{f"theory_{name}": first[name] for name in MEASURED}}
        if tuned is not None:
            row |= {key: tuned[key] for key in ("parameter", "value", "at_edge")}
            row |= {f"tuned_{name}": tuned[name] for name in MEASURED}
        cost = timings.loc[(tuned or first)["variant"]]
        row |= {"plans": cost["plans"], "seconds": cost["seconds_per_episode"], "exponent_k": cost["exponent_k"]}
        yield row | growth.get(tuple(first[key] for key in ("instance", "algorithm", "setting")), {})
