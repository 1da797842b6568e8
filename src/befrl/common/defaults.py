"""Choices and defaults that a config, the command line and the Python interface share."""

# A track says what agents know of the reward.
TRACKS = {"U": "reward unknown", "K": "reward known"}
# Which of several equal actions is played.
TIES = ("random", "first")
ROOT_SEED = 20221005
EPISODES = 1000
# Rows (setting, seed) that run as one array.
LOCKSTEP = 480
# Tuning by successive halving: configurations, tuning seeds played up to each rung, configurations kept after each.
CONFIGURATIONS, TUNING_SEEDS, KEPT = 24, (4, 12, 40), (8, 3)
# Confidence level of intervals, and one minus the level of tests.
LEVEL = 0.95
# Samples of the simulation of the intervals' coverage, and random instances per claim.
COVERAGE, TRIALS = 2000, 200
