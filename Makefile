# make figures: the environment if there is none, then the default run. make test: the environment, then every test but the weekly ones.
# LOCK=1 makes an environment that is not there yet from envs/lock.txt, and each file of a package must have its hash.
PYTHON ?= python3
CORES ?= $(shell getconf _NPROCESSORS_ONLN)
# one more than cores: tests of whole runs wait for processes half of their time
WORKERS ?= $(shell expr $(CORES) + 1)
VENV := .venv
READY := $(VENV)/.ready

.PHONY: help figures test quicktest test-weekly test-portable lint clean

figures: export TENSORLDP_COMMAND = make figures$(if $(ARGS), ARGS="$(ARGS)")
figures: $(READY)  ## the figures, tables and report of config.yaml; ARGS="..." goes to Snakemake, as in ARGS="--config scale=desk"
	@$(VENV)/bin/python -m tensorldp_papers.run.at_work
	@$(VENV)/bin/snakemake --cores $(CORES) --quiet rules host $(ARGS)

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|'

test: CHOSEN = not weekly
test:  ## lint, types, docs and every test but the weekly ones
quicktest: CHOSEN = not workflow and not slow and not weekly
quicktest:  ## lint, types and the tests that are quick: two to three minutes on two cores
test quicktest test-weekly: export PYTHONDONTWRITEBYTECODE =  # the same modules are imported by hundreds of processes
test quicktest: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check --quiet .
	@echo "Types are checked beside the tests; what mypy says comes after them"
	@$(VENV)/bin/mypy > $(VENV)/types.txt 2>&1 & types=$$!; \
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n $(WORKERS) --dist loadgroup -m "$(CHOSEN)"; tests=$$?; \
	wait $$types; types=$$?; cat $(VENV)/types.txt; exit $$((tests ? tests : types))

test-weekly: $(READY)  ## the tests that take minutes each: twenty kills, dying nodes
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n $(CORES) --dist loadgroup -m weekly

test-portable: $(READY)  ## the tests under other instruction sets, threads, orders, a path with a space: hours
	tests/portability.sh

lint: $(READY)  ## mend what ruff can, then ruff, mypy and snakemake --lint
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	$(VENV)/bin/mypy
	$(VENV)/bin/snakemake --lint

$(READY): pyproject.toml envs/constraints.txt $(if $(LOCK),envs/lock.txt)
	@echo "Installing PyTorch, Snakemake and what they need into $(VENV), once: this takes minutes"
	$(PYTHON) -m venv $(VENV)
ifdef LOCK
	$(VENV)/bin/python -m pip install --quiet --require-hashes --no-deps -r envs/lock.txt
	$(VENV)/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .
	$(VENV)/bin/python -m pip check
else
	$(VENV)/bin/python -m pip install --quiet --upgrade pip
	$(VENV)/bin/python -m pip install --quiet -c envs/constraints.txt -e ".[pipeline,dev,slurm]"
endif
	touch $@

clean:  ## delete what runs made, but not downloads and the kept reference results
	[ ! -d results ] || find results -mindepth 1 -maxdepth 1 ! -name reference -exec rm -rf {} +
	rm -rf .snakemake
