"""Choices and defaults that a config, the command line and the Python interface share."""

TRACKS = {"U": "reward unknown", "K": "reward known"}
TIES = ("random", "first")  # which of several equal actions is played
ROOT_SEED = 20221005
EPISODES = 1000
MOST_EPISODES = 10_000_000
LOCKSTEP = 480  # rows (setting, seed) that run as one array
# Tuning by successive halving: configurations of two rounds, tuning seeds up to each rung, configurations kept then.
CONFIGURATIONS, REFINED, TUNING_SEEDS, KEPT = 24, 12, (10, 50, 150), (8, 3)
LEVEL = 0.95  # confidence level of intervals, and one minus the level of tests
COVERAGE, TRIALS = 2000, 200  # samples of the simulated coverage, random instances per claim
