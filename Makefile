# Each target does its own set-up into a local environment (.venv); nothing but Python 3.11, pip and make is needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-dev
BASE_STAMP := $(VENV)/.installed

.PHONY: demo test test-all check fix bench docs rates torture cover clean

$(BASE_STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(BASE_STAMP) $@

demo: $(BASE_STAMP)           ## the main job on shipped files
	$(BIN)/preset-engine demo

test: $(STAMP)                ## the quick suite
	$(BIN)/python -m pytest -q -n auto --dist loadfile -m "not full"

test-all: $(STAMP)            ## the full suite; parts that need more skip with a reason
	$(BIN)/python -m pytest -q

check: $(STAMP)               ## lint, format, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

fix: $(STAMP)                 ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

rates: $(STAMP)               ## pass rate of each topic and kind of the golden, cases and corpus folders
	$(BIN)/python -m pytest -q -m truth --rates

bench: $(STAMP)               ## budgets as ratios in one run, a peer beside them
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	$(BIN)/python -m benchmarks

torture: $(STAMP)             ## writers killed with -9, 200 times for each back end
	$(BIN)/python -m tests.torture --kills 200

docs: $(STAMP)                ## write the generated pages (macros, notes, schemas)
	$(BIN)/python -m docs.generate

cover: $(STAMP)
	$(BIN)/python -m pytest -q -m "not full" --cov --cov-report=term-missing:skip-covered

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
