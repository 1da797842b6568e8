"""Parts that several algorithms share: tables on cells, linear regression, the MNL model and planned rewards."""
