"""Learning from data: statistics, likelihoods and estimators of theta."""
