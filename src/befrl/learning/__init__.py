"""What agents learn from data: statistics, likelihoods and the estimators of theta."""
