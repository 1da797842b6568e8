"""Cumulative regret against the episode of every agent with its theoretical constants."""

from functools import partial

from befrl.figures import regret

SCOPE = "case"
TABLES = regret.TABLES
draw = partial(regret.draw, family="theory")
describe = partial(regret.describe, family="theory")
