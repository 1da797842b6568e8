"""Reward laws: one file each, one-dimensional families p(r) = exp(r c - Z(c)) under a base measure.

A law's module has a class `Law`. Putting the file here is enough: `truncated-exponential` as a parameter of an instance
means `befrl/model/rewards/truncated_exponential.py`.
"""

from befrl.common.registry import Registry

registry = Registry("reward law", __name__, __path__, parts=("Law",), base="RewardLaw")


def make(name, sd):
    """The law of a name, with the standard deviation `sd` if it has one."""
    law = registry.module(name).Law
    return law(sd) if hasattr(law, "sd") else law()
