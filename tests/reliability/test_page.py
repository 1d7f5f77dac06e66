"""The page in docs is that of these cases."""

from collections import Counter

import pytest
from catalogue import CASES
from page import PAGE, text


@pytest.mark.skipif("config.getoption('--page', default=False)", reason="it is being written")
def test_page_is_current():
    trials = sum(len(case.subjects()) for case in CASES)
    current = text(Counter(passed=trials))
    assert PAGE.read_text(encoding="utf-8") == current, "Run python -m docs.reliability."


def test_there_are_many_cases_and_no_two_are_the_same():
    names = [(case.group, case.name) for case in CASES]
    assert len(set(names)) == len(names) >= 150
    assert all(case.subjects() for case in CASES)
