"""Agents that break their contract: {what is wrong: (body of the class, words of the message)}."""

HEAD = """
import random
import numpy as np
from dataclasses import dataclass, replace
from befrl.agents.base import Plan
from befrl.agents.greedy import Agent as Greedy, Parameters as Base
from befrl.common.parameters import number

@dataclass(frozen=True)
class Parameters(Base):
    height: float = number(1.0, 0.0, 10.0, "a bonus")

class Agent(Greedy):
    seen = []
"""
PLAN = "    def plan(self, k):\n        plan = super().plan(k)\n        "
UPDATE = "    def update(self, trajectory):\n        super().update(trajectory)\n        "
CERTIFIES = "    certifies = True\n    def facts(self):\n        return {'certificate_delta': 0.05}\n"


def planned(change):
    return PLAN + f"return replace(plan, {change})\n"


def more(by):
    """Promise more by this."""
    return planned(f"values=plan.values + {by}")


def probabilities(each):
    return planned(f"policy=np.broadcast_to({each}, (*plan.policy.shape, self.problem.model.n_actions))")


OTHER_ACTION = "    def act(self, h, cells, policy):\n        return 1 - super().act(h, cells, policy)\n"
KNOWN_REWARD = "if self.problem.known_theta_r is not None:\n            self.problem.known_theta_r[0] += 1.0\n"
KEPT = "self.kept = getattr(self, 'kept', plan.policy)\n        self.kept[:] = k % 2\n        "
WRITES = r"it writes into an array .*\.py, line \d+"

# A run ends at once.
IN_A_RUN = {
    "no plan": (PLAN + "return plan.policy\n", "returns a ndarray, it must return a Plan"),
    "a list": (planned("policy=plan.policy.tolist()"), "a plan's policy must be a numpy array, it is a list"),
    "shape": (planned("policy=plan.policy[:, 0]"), r"a policy has shape .*, not"),
    "values' shape": (planned("values=plan.values[0]"), "a plan's values have shape"),
    "rewards' shape": (planned("rewards=plan.values"), "a plan's rewards must be None, or have shape"),
    "real actions": (planned("policy=plan.policy / 1.0"), "must have whole numbers"),
    "too large actions": (planned("policy=plan.policy + 7"), "actions that are not from 0 to"),
    "negative actions": (planned("policy=-1 - plan.policy"), "actions that are not from 0 to"),
    "sum of probabilities": (probabilities(0.9), "do not sum to one"),
    "negative probabilities": (
        probabilities("np.r_[2.0, -1.0, np.zeros(self.problem.model.n_actions - 2)]"),
        "negative",
    ),
    "NaN": (probabilities("np.nan"), "negative probabilities, or NaN"),
    "another action played": (OTHER_ACTION, r"has its own act\(\)"),
    "policy written": (PLAN + KEPT + "return replace(plan, policy=self.kept)\n", WRITES),
    "trajectory written": (UPDATE + "trajectory.rewards[:] = 0.0\n", WRITES),
    "instance written": (UPDATE + KNOWN_REWARD, WRITES),
    "an error": (more("1 // (3 - k)"), r"ZeroDivisionError: .*\.py, line \d+"),
    "certificate missing": (CERTIFIES, "has no certificate, and certifies = True"),
    "certificate unannounced": (planned("certificate=plan.values"), "has a certificate, and certifies = False"),
    "certificate's shape": (CERTIFIES + planned("certificate=plan.values[:, 0]"), "a certificate has shape"),
    "certificate NaN": (CERTIFIES + planned("certificate=plan.values * np.nan"), "certificate is not a finite number"),
}

OWN_DRAWS = "two equal runs differ in 'optimism': the agent draws random numbers of its own"
OTHER_ROWS = "        parts = {key: part[::-1] for key, part in vars(trajectory).items()}\n"
# What it says or learns is wrong, not what it plays: only `befrl check` finds it.
IN_A_CHECK = {
    "numpy's generator": (PLAN + "np.random.random()\n        return plan\n", "numpy's global generator"),
    "Python's generator": (PLAN + "random.random()\n        return plan\n", "Python's global generator"),
    "a generator of its own": (more("np.random.default_rng().random()"), OWN_DRAWS),
    "rows mixed": (more("self.learner.theta_p.mean()"), "'optimism' of a seed alone"),
    "data of other rows": (
        f"    def update(self, trajectory):\n{OTHER_ROWS}        super().update(replace(trajectory, **parts))\n",
        "of a seed alone has other bits",
    ),
    "settings mixed": (
        more("self.parameters.height[0]"),
        "depends on the settings beside it: 'optimism' with {'height': 0.5}",
    ),
    "state of the class": (
        UPDATE + "self.seen.append(1)\n" + more("len(self.seen)"),
        "the agent looks ahead: 'optimism'",
    ),
    "not finite": (planned("values=plan.values / min(k, 1)"), "'optimism' .* is not a finite number in some"),
    "long episodes only": (more("1 // (self.problem.horizon - 1)"), "ZeroDivisionError: .*line 17"),
    "certificate below regret": (CERTIFIES + planned("certificate=0 * plan.values"), "below the exact regret"),
}
