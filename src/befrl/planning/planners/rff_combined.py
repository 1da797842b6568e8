"""Random Fourier features, balanced, in pairs and with rows that sum to one: all improvements together.

It is the best planner here with random Fourier features. Z only chooses the balance.
"""

from befrl.planning.planners import rff_balanced, rff_normalised, rff_paired


class Planner(rff_normalised.Planner, rff_paired.Planner, rff_balanced.Planner):
    """Mass and scale of `rff-normalised`, features of `rff-paired`, change of variables of `rff-balanced`."""
