"""Runs of an agent on an instance: the episode loop, seeds in lock step, exact regret and run files."""
