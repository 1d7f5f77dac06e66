"""Every case on every estimator to which it applies."""

import pytest
from case import put
from catalogue import CASES

PAIRS = [(case, name) for case in CASES for name in case.subjects()]


@pytest.mark.parametrize(("case", "name"), PAIRS, ids=[f"{case.group}-{case.name}-{name}" for case, name in PAIRS])
def test_case(case, name):
    put(case, name)
