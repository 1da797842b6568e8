"""Cumulative regret against the episode of every agent at the constants of its theory."""

from befrl.figures import regret

SCOPE = "case"
TABLES = regret.TABLES


def draw(tables):
    return regret.draw(tables, family="theory")


def describe(tables):
    return regret.describe(tables, family="theory")
