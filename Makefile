# make figures: the environment if there is none, then the default run. make test: the environment, then every test.
PYTHON ?= python3
CORES ?= $(shell getconf _NPROCESSORS_ONLN)
VENV := .venv
READY := $(VENV)/.ready

.PHONY: figures test test-portable lint clean

figures: $(READY)
	$(VENV)/bin/snakemake --cores $(CORES)

test: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check --quiet .
	$(VENV)/bin/mypy
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n $(CORES) --dist loadgroup

test-portable: $(READY)  # other instruction sets, threads, orders, a path with a space: hours
	tests/portability.sh

lint: $(READY)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	$(VENV)/bin/mypy
	$(VENV)/bin/snakemake --lint

$(READY): pyproject.toml envs/constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --upgrade pip
	$(VENV)/bin/python -m pip install --quiet -c envs/constraints.txt -e ".[dev,slurm]"
	touch $@

clean:
	rm -rf results/metrics results/models results/perturbed results/figures .snakemake
