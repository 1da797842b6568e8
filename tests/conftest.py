"""Fixtures for all tests. Every random test has a fixed seed: it passes or fails for good."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(20230207)
