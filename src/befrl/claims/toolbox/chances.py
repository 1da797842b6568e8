"""Exact binomial limits: what counts say about a probability."""

from scipy.special import betaincinv

LEVEL = 1e-6  # joint error rate of the tests of one claim


def lower_limit(hits: int, runs: int, level: float = LEVEL) -> float:
    """Clopper-Pearson lower confidence limit of a probability."""
    return 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, level))


def upper_limit(hits: int, runs: int, level: float = LEVEL) -> float:
    """Clopper-Pearson upper confidence limit of a probability."""
    return 1.0 if hits == runs else float(betaincinv(hits + 1, runs - hits, 1 - level))
