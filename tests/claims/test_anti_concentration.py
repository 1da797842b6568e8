"""C31: the tail of u'xi, and that the search finds a weak direction where there is one."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from befrl import claims
from befrl.claims.concentration import tail_probability, weakest_direction


def test_the_integral_is_right_in_two_dimensions():
    """P(a X + b Y >= 1) = int phi(x) Phi((a x - 1)/|b|) dx."""
    for a, b in ((0.6, 0.8), (-0.6, 0.8), (1.2, -0.3), (0.2, 0.4)):

        def integrand(x, a=a, b=b):
            return np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * ndtr((a * x - 1) / abs(b))

        assert tail_probability(np.array([a, b])) == pytest.approx(quad(integrand, -12, 12)[0], abs=1e-10)


def test_the_integral_is_the_normal_tail():
    rng = np.random.default_rng(0)
    for d in (1, 4, 60):
        v = rng.standard_normal(d)
        for length in (0.3, 1.0, 3.0):
            u = length * v / np.linalg.norm(v)
            assert tail_probability(u, 0.7) == pytest.approx(ndtr(-0.7 / length), abs=1e-13)


def test_the_lemma_holds_with_equality():
    record = claims.evaluate("C31", trials=20, seed=1)
    u = np.array(record["instance"]["u"])
    assert record["verdict"] == "holds"
    assert record["worst_case"] == pytest.approx(ndtr(-1 / np.linalg.norm(u)), abs=1e-12)
    assert record["details"]["largest |P - Phi(-1)|"] < 1e-12


@pytest.mark.parametrize("length", (0.9, 0.999))
def test_a_shorter_vector_breaks_it(length):
    finding = weakest_direction(np.random.default_rng(0), 10, length=length)
    assert finding.verdict == "fails"
    assert finding.worst_case == pytest.approx(ndtr(-1 / length), abs=1e-12)


def test_a_longer_vector_does_not():
    assert weakest_direction(np.random.default_rng(0), 10, length=1.2).verdict == "holds"


def test_unequal_noise_breaks_it_along_its_weak_axis():
    finding = weakest_direction(np.random.default_rng(0), 10, first_deviation=0.5)
    assert finding.verdict == "fails"
    assert finding.worst_case == pytest.approx(ndtr(-2.0), abs=1e-12)
    assert abs(finding.instance["u"][0]) == pytest.approx(1.0)


def test_counting_alone_would_see_a_tenth():
    """The counted limits, not only the integral, refute |u| = 0.9."""
    finding = weakest_direction(np.random.default_rng(0), 10, length=0.9)
    assert finding.details["smallest upper limit of a counted probability"] < ndtr(-1.0)


def test_only_the_euclidean_norm_will_do():
    details = claims.evaluate("C31", trials=20, seed=1)["details"]
    assert details["smallest P if |u|_1 = 1"] == pytest.approx(ndtr(-np.sqrt(10)), abs=1e-10)
    assert details["smallest P if |u|_{G^-1} = 1 but xi ~ N(0, I)"] < ndtr(-1.0) - 0.01
    used = details["smallest P(u'xi >= sqrt(x) |u|_{G^-1}), xi ~ N(0, x G^-1)"]
    assert used == pytest.approx(ndtr(-1.0), abs=1e-10)
