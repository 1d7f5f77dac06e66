"""Every case on every estimator to which it applies."""

from dataclasses import replace

import pytest
from case import Answered, put
from catalogue import CASES

PAIRS = [(case, name) for case in CASES for name in case.subjects()]
# What a strength that is chosen by default must take as a fixed one does: whatever is answered.
CHOOSING = [
    case for case in CASES if isinstance(case.expected, Answered) and case.act is None and "GraphNMF" in case.subjects()
]


@pytest.mark.parametrize(("case", "name"), PAIRS, ids=[f"{case.group}-{case.name}-{name}" for case, name in PAIRS])
def test_case(case, name):
    put(case, name)


@pytest.mark.parametrize("case", CHOOSING, ids=[f"{case.group}-{case.name}" for case in CHOOSING])
def test_a_strength_that_is_chosen(case):
    put(replace(case, expected=Answered()), "GraphNMF", graph_strength="auto")
