"""Estimators of theta_p: one file each, chosen by an agent's parameter `estimator`.

An estimator's module has a class `Estimator` with `update(data, trajectory) -> theta`.
"""

from befrl.common.registry import Registry

registry = Registry("estimator", __name__, __path__, parts=("Estimator",), base="Estimator")
