"""How much samples count in a stream."""

import numpy as np
import pytest

from partwise.core.past import QuadraticPast
from partwise.core.stream import AUTO_POWER, Stream, joined


def weights(sizes, forget_factor):
    """What every batch counts in the end, by making all steps."""
    stream, counts = Stream(np.ones((2, 1))), []
    for size in sizes:
        stream, share, lead = stream.faded(size, forget_factor)
        counts = [share * count for count in counts] + [lead]
    return np.array(counts)


def test_a_number_forgets_geometrically():
    np.testing.assert_allclose(weights([5, 9, 2, 4], 0.5), [0.125, 0.25, 0.5, 1])
    np.testing.assert_allclose(weights([5, 9, 2, 4], 1.0), 1)


def test_auto_counts_by_the_place_in_the_stream_and_stands_for_all():
    sizes = np.array([5, 9, 2, 40, 4])
    found, places = weights(sizes, "auto"), np.cumsum(sizes)
    np.testing.assert_allclose(found / found[-1], (places / places[-1]) ** AUTO_POWER)
    assert sizes @ found == pytest.approx(sizes.sum())


def test_small_batches_count_as_large_ones():
    small, large = weights([1] * 1000, "auto"), weights([10] * 100, "auto")
    np.testing.assert_allclose(small[9::10], large, rtol=0.06)


def test_only_pasts_of_one_kind_and_term_are_added():
    one, two = QuadraticPast("fit before", 1.0), QuadraticPast("penalty before", 2.0)
    assert [past.constant for past in joined((one, two), (one,))] == [2.0, 2.0]
