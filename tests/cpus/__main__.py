"""Do the tests pass on other processors? ``python tests/cpus`` runs them with every kernel that this one can run.

What OpenBLAS computes differs in the last digits between its kernels, and what numba compiles between processors; no
test may depend on that. All tests are run once per kernel, with as many processes as there are cores:

    python tests/cpus                                  all kernels; docs/quality.md gets each as it is done
    python tests/cpus --only Prescott                  one of them, which takes the place of its counts there
    python tests/cpus --only Prescott tests/graphs     some tests; writes nothing
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from processors import blas_kernels, compiled_kernels

ROOT = Path(__file__).resolve().parents[2]
MEASURED = ROOT / "docs" / "measured" / "cpus.json"


def run(kernel, tests, folder):
    """How many tests passed, failed and were skipped."""
    report = Path(folder) / "report.xml"
    command = [sys.executable, "-m", "pytest", "--numprocesses", "auto", "-p", "no:cacheprovider"]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", **kernel.variables}
    subprocess.run([*command, f"--junitxml={report}", *tests], cwd=ROOT, env=variables, check=False)
    return counts(report)


def counts(report):
    """From what pytest has written; expected failures count as skipped."""
    total = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        for name in total:
            total[name] += int(suite.get(name))
    failed = total["failures"] + total["errors"]
    return {"passed": total["tests"] - failed - total["skipped"], "failed": failed, "skipped": total["skipped"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="KERNEL", help="one of the kernels; may be repeated")
    parser.add_argument("tests", nargs="*", help="what pytest runs (default: everything)")
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for kernel in [*blas_kernels(), compiled_kernels(Path(folder) / "numba")]:
            if options.only and kernel.name not in options.only:
                continue
            print(f"\n{kernel.name}: {kernel.reason or 'all tests'}", flush=True)
            results[kernel.name] = {"reason": kernel.reason} if kernel.reason else run(kernel, options.tests, folder)
            if not options.tests:
                known = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
                MEASURED.write_text(json.dumps({**known, **results}, indent=1) + "\n", encoding="utf-8")
                # A test compares the page with these counts: it must hold for the next kernel, too.
                subprocess.run([sys.executable, "-m", "docs.quality"], cwd=ROOT, check=True)
    print()
    for name, result in results.items():
        shown = result.get("reason") or ", ".join(f"{count} {what}" for what, count in result.items())
        print(f"{name:>16}: {shown}")
    failed = any(result.get("failed") or result.get("passed") == 0 for result in results.values())
    sys.exit(1 if failed or not results else 0)


if __name__ == "__main__":
    main()
