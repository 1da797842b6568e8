"""Exact planning: P_theta on the anchors, by closed forms or quadrature. The reference for the other planners."""

from befrl.numerics import bellman
from befrl.planning.planners import base


class Planner(base.Planner):
    def plan(self, R, theta_p, horizon):
        return bellman.backward_induction(R, self.model.kernel(theta_p), horizon)
