"""Estimates and intervals against published values and against slow, plain arithmetic."""

import math
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milsim.reports.statistics import (
    UNKNOWN,
    Interval,
    Moments,
    Z,
    difference,
    quantiles,
    spread,
    student,
    wilson,
)

HISTOGRAMS = st.dictionaries(st.integers(-400, 400), st.integers(1, 50), min_size=1, max_size=20)


def values_of(histogram: dict[int, int]) -> list[int]:
    return sorted(value for value, count in histogram.items() for _ in range(count))


# Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3.
@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_has_the_published_values(successes: int, n: int, low: float, high: float) -> None:
    interval = wilson(successes, n)
    assert interval.value == successes / n
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


@given(st.integers(1, 10**12), st.data())
def test_wilson_holds_its_estimate_and_solves_its_equation(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    interval = wilson(successes, n)
    assert interval.value is not None
    assert interval.low is not None
    assert interval.high is not None
    assert 0 <= interval.low <= interval.value <= interval.high <= 1
    assert interval.half_width is not None
    assert interval.half_width > 0
    for bound in (interval.low, interval.high):
        if 0 < bound < 1 and 0.01 < interval.value < 0.99:
            score = (interval.value - bound) / math.sqrt(bound * (1 - bound) / n)
            assert abs(score) == pytest.approx(Z, rel=1e-2)


def test_wilson_is_symmetric_and_exact_at_its_ends() -> None:
    for successes in range(31):
        one, other = wilson(successes, 30), wilson(30 - successes, 30)
        assert one.low == pytest.approx(1 - (other.high or 0), abs=1e-12)
    assert wilson(0, 5).low == 0
    assert wilson(5, 5).high == 1
    assert wilson(0, 0) == UNKNOWN
    assert UNKNOWN.half_width is None


# Quantiles of Student's t: any table.
@pytest.mark.parametrize(
    ("df", "quantile"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (5, 2.5706), (10, 2.2281), (30, 2.0423),
     (100, 1.9840), (10**9, 1.95996)],
)  # fmt: skip
def test_student_has_the_values_of_the_tables(df: int, quantile: float) -> None:
    assert student(df) == pytest.approx(quantile, rel=2e-3 if df <= 5 else 5e-5)


@given(HISTOGRAMS, HISTOGRAMS)
def test_moments_are_those_of_the_values_and_add_up(
    first: dict[int, int], second: dict[int, int]
) -> None:
    values = values_of(first)
    moments = Moments.of(first.items())
    mean = moments.mean()
    assert moments.n == len(values)
    assert mean.value == float(Fraction(sum(values), len(values)))
    if len(values) > 1:
        assert moments.variance == pytest.approx(statistics.variance(values), abs=1e-9)
        assert moments.standard_error is not None
        assert mean.half_width == pytest.approx(student(len(values) - 1) * moments.standard_error)
    else:
        assert mean == Interval(values[0], None, None)
    joined = Moments.of([*first.items(), *second.items()])
    assert moments + Moments.of(second.items()) == joined


@given(HISTOGRAMS, HISTOGRAMS)
def test_difference_is_that_of_the_means_with_the_error_of_both(
    first: dict[int, int], second: dict[int, int]
) -> None:
    a, b = Moments.of(first.items()), Moments.of(second.items())
    found = difference(a, b)
    one, other = values_of(first), values_of(second)
    wanted = Fraction(sum(one), len(one)) - Fraction(sum(other), len(other))
    assert found.value == pytest.approx(float(wanted), abs=1e-12)
    if a.n > 30 and b.n > 30 and a.standard_error and b.standard_error:
        error = math.hypot(a.standard_error, b.standard_error)
        assert found.half_width == pytest.approx(Z * error, rel=0.06)


def test_what_cannot_be_known_is_unknown() -> None:
    one, none = Moments.of([(5, 1)]), Moments()
    assert none.mean() == UNKNOWN
    assert none.variance is None
    assert difference(one, none) == UNKNOWN
    assert difference(one, one) == Interval(0.0, None, None)
    assert difference(Moments.of([(5, 3)]), Moments.of([(2, 3)])) == Interval(3.0, 3.0, 3.0)
    assert quantiles([], [0.5]) == [None]
    assert spread("x", UNKNOWN) == {"x": None, "x_low": None, "x_high": None}


@given(HISTOGRAMS, st.lists(st.integers(1, 100), min_size=1, max_size=5))
def test_quantiles_are_the_smallest_values_not_exceeded_often_enough(
    histogram: dict[int, int], percents: list[int]
) -> None:
    values = values_of(histogram)
    found = quantiles(list(histogram.items()), [percent / 100 for percent in percents])
    for percent, quantile in zip(percents, found, strict=True):
        wanted = next(
            value
            for value in values
            if 100 * sum(other <= value for other in values) >= percent * len(values)
        )
        assert quantile == wanted


def test_quantiles_do_not_depend_on_order_or_on_empty_bins() -> None:
    assert quantiles([(30, 1), (10, 1), (20, 0), (40, 2)], [0.25, 0.5, 0.75]) == [10, 30, 40]
