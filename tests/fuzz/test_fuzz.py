"""A few inputs for every fuzz target; `make fuzz` tries many more."""

import pytest
from hypothesis import HealthCheck, given, settings

targets = pytest.importorskip("targets")


@pytest.mark.parametrize("name", targets.TARGETS)
def test_target(name):
    target, inputs = targets.TARGETS[name]

    @settings(max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(inputs)
    def run(case):
        target(case)

    run()
