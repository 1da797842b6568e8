"""Random streams: the numbers of a seed depend on the root, the instance's name, the seed and the purpose only."""

import numpy as np
import pytest
from scipy import stats

from befrl.common import streams
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

LAWS = dict.fromkeys((ENVIRONMENT, AGENT_NORMAL, AGENT_UNIFORM, ESTIMATOR, PLANNER), "uniform")
LAWS |= {AGENT_NORMAL: "norm", PLANNER: "norm"}


def draws(m, root=ROOT, name="chain", seeds=(0,), purpose=ENVIRONMENT):
    return Stream(root, name, seeds, purpose).take(m)


@pytest.mark.parametrize("purpose", [ENVIRONMENT, AGENT_NORMAL])
@pytest.mark.parametrize("parts", [(3, 5), (CHUNK - 1, 2, CHUNK), (2 * CHUNK + 1, 7), (1,) * 9])
def test_numbers_do_not_depend_on_how_many_are_taken_at_once(parts, purpose):
    stream = Stream(ROOT, "chain", [4], purpose)
    pieces = np.concatenate([stream.take(m) for m in parts], axis=1)
    assert np.array_equal(pieces, draws(sum(parts), seeds=[4], purpose=purpose))


@pytest.mark.parametrize("purpose", [ENVIRONMENT, AGENT_NORMAL])
@pytest.mark.parametrize("seeds", [[0, 1, 2, 3, 4], [3, 1, 3, 3, 2, 1]], ids=["different", "repeated"])
def test_each_row_gets_the_numbers_of_its_seed_alone(seeds, purpose):
    """In any order and over several refills, which come at other times for a seed alone."""
    stream, each = Stream(ROOT, "chain", seeds, purpose), {s: Stream(ROOT, "chain", [s], purpose) for s in {*seeds}}
    for m in (3, CHUNK // 5, 5, CHUNK):
        alone = {seed: each[seed].take(m)[0] for seed in each}
        assert np.array_equal(stream.take(m), [alone[seed] for seed in seeds])


def test_every_part_of_the_key_counts_and_names_have_fixed_keys():
    base = draws(50)
    others = [draws(50, root=8), draws(50, name="riverswim"), draws(50, seeds=[1]), draws(50, purpose=AGENT_UNIFORM)]
    for other in others:
        assert not np.isin(other, base).any()
    assert instance_key("chain") == 0xB10218CA


def test_draws_follow_their_law_and_are_uncorrelated():
    """Error rates: 1e-4 for each of five laws, and 3e-4 for 435 pairs at 5 standard errors; the root is fixed."""
    rows = {purpose: draws(20_000, seeds=range(6), purpose=purpose) for purpose in LAWS}
    for purpose, law in LAWS.items():
        assert stats.kstest(rows[purpose][0], law).pvalue > 1e-4
    correlation = np.corrcoef(np.concatenate(list(rows.values()))) - np.eye(30)
    assert np.abs(correlation).max() < 5 / np.sqrt(20_000)
    uniform = rows[ENVIRONMENT]
    assert uniform.min() >= 0.0
    assert uniform.max() < 1.0


def test_every_purpose_of_a_run_has_its_own_stream(monkeypatch):
    """With an agent that draws normal and uniform numbers, and whose estimator and planner draw too; and with PSRL."""
    opened, original = [], streams.sequence

    def spy(root, instance_name, seed, purpose):
        opened.append(purpose)
        return original(root, instance_name, seed, purpose)

    monkeypatch.setattr(streams, "sequence", spy)
    problem = instance("chain", bins=3, horizon=4)
    play("exp-psrl", problem, seeds=[0], episodes=2, estimator="ais", planner="rff", posterior="mala")
    assert sorted(opened) == sorted([*LAWS, streams.TIES])
    opened.clear()
    play("psrl", problem, seeds=[0], episodes=2)
    assert sorted(opened) == sorted([ENVIRONMENT, AGENT_NORMAL, streams.AGENT_GAMMA, streams.TIES])
