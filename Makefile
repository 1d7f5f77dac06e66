# `make demo` and `make test` set everything up by themselves; a second run installs nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-full test-oldest test-cpus kills fuzz reliability coverage mutation lint types unit bench \
	bench-full pages docs docs-serve docs-check clean

demo: $(READY)
	$(BIN)/partwise compare digits --output partwise-digits.html

test: lint types unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

unit: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses auto  # processes instead of threads

# Also the long ones: fits killed at random moments, long fuzzing, coverage, wrong code that tests must detect, the site.
test-full: test kills fuzz coverage mutation docs-check

# The tests with the oldest versions that pyproject.toml allows, in their own environment.
OLDEST := .venv-oldest
test-oldest: $(OLDEST)/.ready
	OMP_NUM_THREADS=1 NUMBA_CACHE_DIR=$(CURDIR)/$(OLDEST)/numba $(OLDEST)/bin/pytest --numprocesses auto

# The tests with the kernels of other processors, as far as this one can run them; before every release.
test-cpus: $(READY)
	$(BIN)/python tests/cpus

# Lines that tests run. Compiled kernels have none: small tests of the rooms that use them run again without numba.
KERNEL_TESTS := tests/kernels tests/graphs tests/terms tests/solvers/test_missing.py -k "not digits and not memory and not searches"
SLOW_TESTS := tests/benchmarks tests/reliability/test_cases.py tests/reliability/test_properties.py \
	tests/estimators/test_common.py tests/oracles/test_against_sklearn.py tests/solvers/test_never_rises.py \
	tests/solvers/test_baselines_never_rise.py
coverage: $(READY)
	$(BIN)/coverage erase
	OMP_NUM_THREADS=1 NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest --numprocesses auto $(KERNEL_TESTS)
	OMP_NUM_THREADS=1 $(BIN)/coverage run -m pytest --numprocesses auto $(addprefix --ignore=,$(SLOW_TESTS))
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --show-missing --fail-under=95
	$(BIN)/python -m docs.quality --coverage

# Whether tests detect wrong code: SAMPLE changes of each of terms, solvers and metrics, one at a time.
SAMPLE ?= 60
mutation: $(READY)
	test -x $(BIN)/mutmut || $(BIN)/python -m pip install --quiet --editable '.[mutation]'
	OMP_NUM_THREADS=1 $(BIN)/python tests/mutation --sample $(SAMPLE)
	$(BIN)/python -m docs.quality

# Fits that are killed and resumed, and fits whose workers are killed, compared with uninterrupted fits.
kills: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python tests/callbacks/kill_trials.py --trials 42 --record
	OMP_NUM_THREADS=1 $(BIN)/python tests/core/worker_kill_trials.py --trials 21 --record
	$(BIN)/python -m docs.quality

# Damaged and hostile input for everything that reads files or graphs; SECONDS for each of the targets.
SECONDS ?= 20
fuzz: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python tests/fuzz --seconds $(SECONDS) --record
	$(BIN)/python -m docs.quality

# Every hard case on every estimator, and the page that says what was tried.
reliability: $(READY)
	$(BIN)/python -m docs.reliability

# The pages of docs made from files in the repository; reliability and duplicates run fits for minutes or more.
pages: $(READY)
	for page in methods quality house reproduction selection stated; do $(BIN)/python -m docs.$$page || exit 1; done

# The site in docs/site/_build/html, in an environment of its own; the build needs no network, and warnings are errors.
DOCS := .venv-docs
SITE := docs/site/_build/html
docs: $(DOCS)/.ready
	OMP_NUM_THREADS=1 $(DOCS)/bin/python -m sphinx -b html -W --keep-going --jobs 2 docs/site $(SITE)

# Links and pictures of the site, and its pages and search in a headless Chromium.
docs-check: docs
	$(DOCS)/bin/python tests/docs/check_site.py $(SITE)

docs-serve: docs
	$(DOCS)/bin/python -m http.server --directory $(SITE) 8000

# Peers that cannot be installed are named in the table.
bench bench-full: $(READY)
	test -e $(VENV)/.peers || { $(BIN)/python -m pip install --quiet --editable '.[bench]' && touch $(VENV)/.peers; } || true
	$(BIN)/python -m benchmarks $(if $(filter bench-full,$@),--full)

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else f"partwise needs Python 3.11 or newer, this is {v.major}.{v.minor}; set PYTHON=/path/to/python")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(READY)

$(DOCS)/.ready: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --editable '.[docs]'
	touch $@

$(OLDEST)/.ready: pyproject.toml tests/oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --only-binary :all: --constraint tests/oldest.txt --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST) $(DOCS) docs/site/_build docs/site/_pictures docs/site/gallery docs/site/api/generated mutants .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
