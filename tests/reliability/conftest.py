"""`pytest tests/reliability --page` writes docs/reliability.md from what happened."""

from collections import Counter

OUTCOMES = Counter()


def pytest_addoption(parser):
    parser.addoption("--page", action="store_true", help="write docs/reliability.md")


def pytest_runtest_logreport(report):
    if report.when == "call" and "test_cases.py::test_case[" in report.nodeid:
        OUTCOMES[report.outcome] += 1


def pytest_sessionfinish(session):
    on_a_worker = hasattr(session.config, "workerinput")
    if session.config.getoption("--page", default=False) and not on_a_worker:
        from page import PAGE, text

        PAGE.write_text(text(OUTCOMES), encoding="utf-8")
