"""Fixtures for all tests. Every random test has a fixed seed, so that it always passes or always fails."""

import os
import sys

# One thread for linear algebra, as in the study: two change the last bits. Set before numpy is imported.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np
import pytest

from befrl import plugins
from befrl.common import plugin_variable
from befrl.model.model import Model
from befrl.planning import induction


@pytest.fixture
def rng():
    return np.random.default_rng(20230207)


@pytest.fixture
def unplugged(monkeypatch):
    """No plug-in is loaded before the test, and none remains after it."""
    for registry in plugins.REGISTRIES.values():
        monkeypatch.setattr(registry, "added", {})
    for name, nothing in (("_sources", []), ("_files", {}), ("_packages", {})):
        monkeypatch.setattr(plugins, name, nothing)
    monkeypatch.delenv(plugin_variable.NAME, raising=False)
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == plugins.PACKAGE]:
        del sys.modules[name]


@pytest.fixture
def drawn(monkeypatch):
    """The parameters that an agent plans with, in the order of its plans."""
    seen = {"kernel": [], "mean_reward": []}
    for method, thetas in seen.items():
        original = getattr(Model, method)

        def spy(self, theta, original=original, thetas=thetas):
            thetas.append(theta.copy())
            return original(self, theta)

        monkeypatch.setattr(Model, method, spy)
    plan = induction.backward_induction

    def spy_on_plan(model, R, theta_p, horizon):
        # With smooth features no kernel is computed.
        if model.smooth:
            seen["kernel"].append(theta_p.copy())
        return plan(model, R, theta_p, horizon)

    monkeypatch.setattr(induction, "backward_induction", spy_on_plan)
    return seen
