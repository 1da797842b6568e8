"""Exact planning: P_theta on the anchors, by closed forms or quadrature. The reference for the other planners."""

from befrl.planning import induction
from befrl.planning.planners import base


class Planner(base.Planner):
    def plan(self, R, theta_p, horizon):
        return induction.backward_induction(self.model, R, theta_p, horizon)
