"""Parts that several algorithms share: tables on cells, posteriors, regression, the MNL model, planned rewards."""
