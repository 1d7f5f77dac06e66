# `make demo` and `make test` set everything up by themselves; a second run installs nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-full fuzz reliability lint types unit bench bench-full clean

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

# Also what takes minutes: fits that are killed at random moments, and long fuzzing.
test-full: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses auto --slow
	$(MAKE) fuzz

# Damaged and hostile input for everything that reads files or graphs; SECONDS for each of the targets.
SECONDS ?= 20
fuzz: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python tests/fuzz --seconds $(SECONDS)

# Every hard case on every estimator, and the page that says what was tried.
reliability: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/pytest tests/reliability --numprocesses auto --page

# Peers that cannot be installed are named in the table.
bench bench-full: $(READY)
	test -e $(VENV)/.peers || { $(BIN)/python -m pip install --quiet --editable '.[bench]' && touch $(VENV)/.peers; } || true
	$(BIN)/python -m benchmarks $(if $(filter bench-full,$@),--full)

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else f"partwise needs Python 3.11 or newer, this is {v.major}.{v.minor}; set PYTHON=/path/to/python")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
