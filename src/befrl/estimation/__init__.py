"""Estimating theta: sufficient statistics on cells, and the penalised maximum-likelihood estimator."""
