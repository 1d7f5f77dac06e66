"""A step on all rows, block by block in several threads: all write to the same arrays."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np

from partwise.core.row_pass import RowPass


class Copies:
    """The product is the codes."""

    n_results = 1

    def __call__(self, rows, product, given, out):
        out[0][:] = product
        return out[0]

    def of(self, rows):
        return self


def test_threads_that_begin_at_once_share_the_results():
    wanted = np.arange(40.0).reshape(8, 5)

    def slow():
        time.sleep(0.05)
        return (np.zeros_like(wanted),)

    run, start = RowPass(Copies(), (wanted,), slow), Barrier(4)

    def part(i):
        start.wait()
        run(slice(2 * i, 2 * i + 2), wanted[2 * i : 2 * i + 2])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(part, range(4)))
    np.testing.assert_array_equal(run.results[0], wanted)
