"""Positive random features with rows that sum to one: the only random planner whose P is a transition kernel.

Every row of P V = sum_i f_i(v) int f_i(psi) V / sum_i f_i(v) int f_i(psi), f_i(x) = exp(w_i.x - |x|^2/2), is a law of
next states, so that values stay within the range that rewards allow, however few the features are.
"""

from befrl.planning.planners import positive, rff_normalised


class Planner(rff_normalised.Planner, positive.Planner):
    """Mass and scale of `rff-normalised`, features of `positive`."""
