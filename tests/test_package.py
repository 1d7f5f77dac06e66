"""The package's names: imported when they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import partwise
import partwise.estimators


@pytest.mark.parametrize("name", partwise.__all__)
def test_every_public_name_is_there(name):
    assert getattr(partwise, name) is not None
    assert name in dir(partwise)


def test_estimators_have_the_names_they_are_found_by():
    for name in partwise.estimators.__all__:
        assert getattr(partwise, name).__name__ == name


def test_modules_are_there_without_an_import_of_their_own():
    script = "import partwise; print(partwise.metrics.purity([0, 1], [1, 0]), partwise.terms.L2(1).strength)"
    assert subprocess.check_output([sys.executable, "-c", script], text=True).split() == ["1.0", "1"]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'NFM'"):
        _ = partwise.NFM


def test_importing_the_package_imports_no_estimator():
    script = "import sys, partwise; print(*(name for name in sys.modules if name in ('numba', 'sklearn', 'numpy')))"
    assert subprocess.check_output([sys.executable, "-c", script], text=True).split() == []
