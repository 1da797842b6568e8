"""Table 1 of the paper as it is printed: marks, rates and assumptions by the name of the algorithm here."""

from dataclasses import dataclass


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
