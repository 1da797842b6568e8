"""befrl: BEF-RLSVI and its rivals on MDPs of the bilinear exponential family; the paper's claims put to the test."""
