"""The check of every plan that an agent returns: shapes, actions in range, probabilities, certificates."""

import numpy as np

from befrl.agents.base import Plan
from befrl.common.errors import require

UNIT = 1e-12  # how far the sum of probabilities may be from one


class PlanCheck:
    """Raises `ContractError` for a plan that cannot be played, or whose regret would be meaningless.

    A policy is read-only from then on, since its regret is computed later; if it is the same array as in the episode
    before, it is not checked again.
    """

    def __init__(self, model, horizon, n, certifies):
        self.certifies = certifies
        self.actions = model.n_actions
        self.tables = (n, horizon, model.n_cells), (n, horizon, model.n_cells, model.n_actions)
        self.anchors, self.rewards = (n, model.n_anchors), (n, model.n_anchors, model.n_actions)
        self.previous = None

    def __call__(self, plan):
        require(isinstance(plan, Plan), f"plan() returns a {type(plan).__name__}, it must return a Plan")
        for key in ("policy", "values", "rewards", "certificate"):
            given = getattr(plan, key)
            whole = given is None or isinstance(given, np.ndarray)
            require(whole, f"a plan's {key} must be a numpy array, it is a {type(given).__name__}")
        shape = np.shape(plan.values)
        require(shape == self.anchors, f"a plan's values have shape {shape}, not (n, anchors) = {self.anchors}")
        right = plan.rewards is None or np.shape(plan.rewards) == self.rewards
        require(right, f"a plan's rewards must be None, or have shape (n, anchors, actions) = {self.rewards}")
        if plan.policy is not self.previous:
            self.check_policy(plan.policy)
            protect(plan.policy)
            self.previous = plan.policy
        self.check_certificate(plan.certificate)

    def check_policy(self, policy):
        shape, (table, random) = np.shape(policy), self.tables
        require(shape in self.tables, f"a policy has shape {shape}, not (n, H, cells) = {table}, nor {random}")
        if shape == table:
            whole = np.issubdtype(policy.dtype, np.integer)
            require(whole, f"a policy of actions must have whole numbers, it has the type {policy.dtype}")
            known = policy.min() >= 0 and policy.max() < self.actions
            require(known, f"a policy has actions that are not from 0 to {self.actions - 1}")
        else:
            require(policy.min() >= 0, "a random policy has negative probabilities, or NaN")
            unit = np.abs(policy.sum(-1) - 1).max() <= UNIT
            require(unit, "a policy's probabilities do not sum to one")

    def check_certificate(self, certificate):
        words = "has no certificate" if certificate is None else "has a certificate"
        require((certificate is not None) == self.certifies, f"the plan {words}, and certifies = {self.certifies}")
        if self.certifies:
            shape = np.shape(certificate)
            require(shape == self.anchors, f"a certificate has shape {shape}, not (n, anchors) = {self.anchors}")
            require(np.isfinite(certificate).all(), "a certificate is not a finite number")


def protect(array):
    """Make an array read-only, with those that it is a view of."""
    while isinstance(array, np.ndarray):
        array.flags.writeable = False
        array = array.base
