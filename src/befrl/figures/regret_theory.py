"""Cumulative regret against the episode of every agent at the constants of its theory."""

from functools import partial

from befrl.figures import regret

SCOPE = "case"
TABLES = regret.TABLES
draw = partial(regret.draw, family="theory")
describe = partial(regret.describe, family="theory")
