"""Which kernels tests are run with, on computers of all kinds."""

import importlib.util
import platform
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def load(name, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    spec = importlib.util.spec_from_file_location(f"cpus_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


NEW = {"Prescott": ["Katmai"], "Haswell": ["Haswell"], "Zen": ["Haswell"], "SkylakeX": ["SkylakeX"]}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (NEW, ["", "", "has those of Haswell", ""]),
        ({**NEW, "Zen": ["Zen"], "SkylakeX": None}, ["", "", "", "cannot run them"]),
        ({**NEW, "SkylakeX": ["Haswell"]}, ["", "", "has those of Haswell", "has those of Haswell"]),
        ({name: ["Armv8"] for name in NEW}, ["takes those of Armv8"] * 4),
        ({name: [] for name in NEW}, ["another BLAS"] * 4),
        ({name: ["Haswell", "Zen"] for name in NEW}, ["disagree: Haswell and Zen"] * 4),
    ],
    ids=["AVX-512", "AVX2", "old OpenBLAS", "ARM", "no OpenBLAS", "two builds"],
)
def test_kernels_of_a_computer(found, expected, monkeypatch):
    kernels = list(load("processors", monkeypatch).blas_kernels(found.__getitem__))
    assert [kernel.name for kernel in kernels] == list(NEW)
    for kernel, reason in zip(kernels, expected, strict=True):
        assert reason in kernel.reason
        assert bool(reason) == bool(kernel.reason)
        assert kernel.variables == ({} if reason else {"OPENBLAS_CORETYPE": kernel.name})


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="kernels of other processors have other names"
)
def test_openblas_takes_the_kernels_it_is_asked_for(monkeypatch):
    kernels = load("processors", monkeypatch)
    assert set(kernels.probe("Prescott")) <= set(kernels.BLAS["Prescott"])


def test_counts(monkeypatch, tmp_path):
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite tests="9" failures="1" errors="2" skipped="3"/></testsuites>', "utf-8")
    assert load("__main__", monkeypatch).counts(report) == {"passed": 3, "failed": 3, "skipped": 3}
