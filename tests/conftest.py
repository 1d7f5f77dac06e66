"""What takes long is skipped, visibly, unless it is asked for."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run what takes minutes, as `make test-full` does")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="takes minutes; run by `make test-full`"))
