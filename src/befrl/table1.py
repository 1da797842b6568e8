"""Table 1 of the paper, measured: what it prints about each algorithm beside what our runs say, one row for each agent.

The marks and rates are the paper's, printed about the authors' algorithms; some are disputed by the measurements, which
is what the table is for. d means another thing in each row: parameters of the family, base models, features of (s,a).
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from befrl import aggregation
from befrl.library import scaling


@dataclass(frozen=True)
class Printed:
    """A row of the paper's Table 1."""

    printed: str = ""
    rate: str = ""
    tractable_exploration: str = ""
    tractable_planning: str = ""
    free_of_clipping: str = ""
    assumes: str = ""


PRINTED = {
    "ren-ts": Printed(
        "Thompson sampling (Ren et al.)", "sqrt(d^2 H^3 K), Bayesian", "no", "yes", "n.a.", "Gaussian P, known rewards"
    ),
    "exp-ucrl": Printed("EXP-UCRL", "sqrt(d^2 H^4 K)", "no", "no", "n.a.", "bilinear exponential family, known rewards"),
    "smrl": Printed("SMRL", "sqrt(d^2 H^4 K)", "no", "no", "n.a.", "bilinear exponential family, known rewards"),
    "ucrl-vtr": Printed("UCRL-VTR", "sqrt(d^2 H^4 K)", "no", "no", "n.a.", "linear mixture model"),
    "lsvi-phe": Printed(
        "PHE-LSVI", "sqrt(d^3 H^4 K), or poly(d_E H) sqrt(K H)", "yes", "no", "no",
        "eluder dimension, tabular, anti-concentration",
    ),
    "uc-matrixrl": Printed("UC-MatrixRL", "sqrt(d^2 H^5 K)", "no", "no", "n.a.", "linear factor MDP"),
    "opt-rlsvi": Printed("OPT-RLSVI", "sqrt(d^4 H^5 K)", "yes", "yes", "no", "linear V"),
    "bef-rlsvi": Printed("BEF-RLSVI", "sqrt(d^3 H^3 K)", "yes", "yes", "yes", "bilinear exponential family"),
}  # fmt: skip

MEASURED = ("mean", "low", "high", "q10", "q50", "q90", "failed", "optimistic")
COLUMNS = {
    "instance": aggregation.SUMMARY["instance"],
    "track": aggregation.SUMMARY["track"],
    "agent": aggregation.SUMMARY["agent"],
    "algorithm": aggregation.SUMMARY["algorithm"],
    "printed": "the algorithm's name in the paper's Table 1; empty if it is not there",
    "rate": "regret bound that the table prints, without logarithms",
    "tractable_exploration": "the table's mark",
    "tractable_planning": "the table's mark",
    "free_of_clipping": "the table's mark",
    "assumes": "model and assumptions that the table prints",
    "fit": aggregation.SUMMARY["fit"],
    "constants": "whose constants the columns theory_* are with: theory, set (by the config) or baseline (it has none)",
    **{f"theory_{name}": f"without tuning: {aggregation.SUMMARY[name]}" for name in MEASURED},
    "parameter": "parameter that was tuned",
    "value": "its best value, chosen on other seeds",
    "at_edge": aggregation.SUMMARY["at_edge"],
    **{f"tuned_{name}": f"tuned: {aggregation.SUMMARY[name]}" for name in MEASURED},
    "plans": aggregation.TIMINGS["plans"],
    "seconds": "seconds of wall time per episode and seed",
    "exponent_k": "power of the episode k with which the seconds grow",
    "exponent_d": "power of d with which the seconds grow, on the chain with more and more bins; empty if not measured",
    "exponent_H": "power of H with which the seconds grow, on the chain; empty if not measured",
}


def rows(folder, cases, scaled) -> list[dict]:
    """From the files below `folder`: the agents of each (instance, track), and growth as measured on `scaled`."""
    growth = _growth(Path(folder), scaled)
    return [row for instance, track in cases for row in _rows(Path(folder) / "regret" / f"{instance}_{track}", growth)]


def _rows(folder, growth):
    summary = aggregation.read_table(folder / "summary.csv", aggregation.SUMMARY)
    timings = aggregation.read_table(folder / "timings.csv", aggregation.TIMINGS).set_index("variant")
    for agent, part in summary.groupby("agent", sort=False):
        by_role = {row["role"]: row for row in part.to_dict("records") if row["role"] != "grid"}
        tuned = by_role.pop("tuned", None)
        (first,) = by_role.values()
        printed = PRINTED.get(first["algorithm"], Printed())
        row = {key: first[key] for key in ("instance", "track", "agent", "algorithm", "fit")} | asdict(printed)
        row |= {"constants": first["role"], **{f"theory_{name}": first[name] for name in MEASURED}}
        if tuned is not None:
            row |= {key: tuned[key] for key in ("parameter", "value", "at_edge")}
            row |= {f"tuned_{name}": tuned[name] for name in MEASURED}
        cost = timings.loc[(tuned or first)["variant"]]
        row |= {"plans": cost["plans"], "seconds": cost["seconds_per_episode"], "exponent_k": cost["exponent_k"]}
        yield row | growth.get((first["algorithm"], first["setting"]), {})
