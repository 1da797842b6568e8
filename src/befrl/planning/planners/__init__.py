"""Planners compute P_theta V: one file each, chosen by an agent's parameter `planner`.

A planner's module has a class `Planner` with `plan(R, theta_p, horizon)`. `exact` sums over the quadrature nodes; the
others approximate the kernel by features, as the paper does.
"""

from befrl.common.registry import Registry

registry = Registry("planner", __name__, __path__, parts=("Planner",), base="Planner")
