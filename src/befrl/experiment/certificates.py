"""Certificates: upper bounds of an agent on the regret of the policy that it is about to play (`Plan.certificate`).

They hold for all episodes of a seed together with probability 1 - delta, where delta is `certificate_delta` of the
agent's facts: 1 if its constants promise nothing.
"""

import math

import numpy as np

from befrl.agents.base import EXACT

SLACK = 1e-9  # times H: a certificate is broken if it is below the regret by more than rounding errors


def given(log) -> bool:
    """Whether a log has certificates."""
    return bool(np.isfinite(log["certificate"]).all())


def broken(log, horizon):
    """Which certificates are below the exact regret of their episode."""
    return log["certificate"] < log["regret"] - SLACK * horizon


def failure_rate(facts, specification) -> float:
    """The promised delta; 1 if nothing is promised because of the agent's constants, or on a misspecified instance."""
    return facts.get("certificate_delta", 1.0) if specification == EXACT else 1.0


def stopping(spec, log, seconds) -> dict:
    """What `until_certified` changes in the metadata of a run: its length, and when it stopped; {} without it."""
    if spec.until_certified is None:
        return {}
    certificate = log["certificate"][0]
    seeds, episodes = certificate.shape
    reached = certificate <= spec.until_certified
    about = {
        "within": spec.until_certified,
        "planned_episodes": spec.episodes,  # which the agent was told
        "reached": bool(reached[:, -1].all()),
        "first_episodes": [int(row.argmax()) + 1 if row.any() else None for row in reached],
        "smallest": float(certificate.max(0).min()),  # over episodes, of the largest certificate of all seeds
    }
    speed = seeds * episodes * spec.instance.horizon / seconds
    return {"episodes": episodes, "steps_per_second": speed, "until_certified": about}


def check_threshold(value):
    """Whether a number can be the threshold `until_certified`."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and 0 < value < math.inf
