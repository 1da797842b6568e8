"""Random streams: what a seed gets depends on its name, seed and purpose, and on nothing else."""

import numpy as np
import pytest
from scipy import stats

from befrl.common.streams import (
    AGENT_NORMAL,
    AGENT_UNIFORM,
    CHUNK,
    ENVIRONMENT,
    ESTIMATOR,
    PLANNER,
    Stream,
    instance_key,
)
from helpers import ROOT, instance, play

PURPOSES = [ENVIRONMENT, AGENT_NORMAL, AGENT_UNIFORM, ESTIMATOR, PLANNER]


def draws(m, root=ROOT, name="chain", seeds=(0,), purpose=ENVIRONMENT):
    return Stream(root, name, seeds, purpose).take(m)


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("parts", [(3, 5), (CHUNK - 1, 2, CHUNK), (2 * CHUNK + 1, 7), (1,) * 9])
def test_parts_make_the_whole(parts, purpose):
    stream = Stream(ROOT, "chain", [4], purpose)
    pieces = np.concatenate([stream.take(m) for m in parts], axis=1)
    assert np.array_equal(pieces, draws(sum(parts), seeds=[4], purpose=purpose))


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_seed_does_not_depend_on_its_company(purpose):
    company, alone = Stream(ROOT, "chain", range(5), purpose), Stream(ROOT, "chain", [3], purpose)
    for m in (3, CHUNK // 5, 5, CHUNK):  # the block of five refills at other times than the seed alone
        assert np.array_equal(company.take(m)[3], alone.take(m)[0])


@pytest.mark.parametrize("purpose", PURPOSES)
def test_rows_of_the_same_seed_get_the_same_numbers(purpose):
    """In any order, over several refills, and as many as a seed alone would get."""
    seeds = [3, 1, 3, 3, 2, 1]
    stream, each = Stream(ROOT, "chain", seeds, purpose), {s: Stream(ROOT, "chain", [s], purpose) for s in (1, 2, 3)}
    for m in (3, CHUNK // 3, 5, CHUNK):
        alone = {seed: each[seed].take(m)[0] for seed in each}
        assert np.array_equal(stream.take(m), [alone[seed] for seed in seeds])


def test_every_part_of_the_key_counts():
    base = draws(50)
    others = [draws(50, root=8), draws(50, name="riverswim"), draws(50, seeds=[1]), draws(50, purpose=AGENT_UNIFORM)]
    for other in others:
        assert not np.isin(other, base).any()


def test_the_key_of_a_name_is_the_same_in_every_process():
    assert instance_key("chain") == 0xB10218CA
    assert instance_key("chain") != instance_key("riverswim")


# Level 1e-4 each: below 5e-4 of all roots would fail; the root is fixed.
@pytest.mark.parametrize(
    ("purpose", "law"), list(zip(PURPOSES, ("uniform", "norm", "uniform", "uniform", "norm"), strict=True))
)
def test_draws_follow_their_law(purpose, law):
    assert stats.kstest(draws(20_000, purpose=purpose)[0], law).pvalue > 1e-4


def test_seeds_and_purposes_are_uncorrelated():
    rows = np.concatenate([draws(20_000, seeds=range(6), purpose=purpose) for purpose in PURPOSES])
    correlation = np.corrcoef(rows) - np.eye(len(rows))
    # 435 pairs at 5 standard errors: 3e-4.
    assert np.abs(correlation).max() < 5 / np.sqrt(20_000)


def test_every_purpose_of_a_run_has_a_stream_of_its_own(monkeypatch):
    """With an agent that draws normal and uniform numbers, and whose estimator and planner draw too."""
    opened, original = [], Stream.__init__

    def spy(self, root, instance_name, seeds, purpose):
        opened.append(purpose)
        original(self, root, instance_name, seeds, purpose)

    monkeypatch.setattr(Stream, "__init__", spy)
    problem = instance("chain", bins=3, horizon=4)
    play("exp-psrl", problem, episodes=2, estimator="ais", planner="rff", posterior="mala")
    assert sorted(opened) == PURPOSES


def test_uniforms_stay_below_one():
    u = draws(100_000)
    assert u.min() >= 0.0
    assert u.max() < 1.0
