# Two commands do everything: `make build` runs the main job, `make test` passes the tests. Both set up what they need.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: build test check lint types imports bench schemas docs verdicts conformance conformance-tensorflow clean

build: $(VENV)/.installed
	@$(BIN)/tfgitops build environments/prod

# COVER=1 make test measures how much of the code the tests run, and fails below the gate.
# Bytecode is kept, whatever the environment says: without it, each of some 200 processes compiles its modules anew.
test: $(VENV)/.installed-dev
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder $(if $(COVER),--cov --cov-report=term:skip-covered)

check: lint types imports
	COVER=1 $(MAKE) test

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.installed-dev
	$(BIN)/mypy
	@for package in tests/plugins/external/*/; do echo "mypy $$package" && \
	  (cd $$package && $(abspath $(BIN))/mypy --config-file= --strict --cache-dir=$(CURDIR)/.mypy_cache/external .) || exit 1; \
	done  # each by itself, as its author would run it

imports: $(VENV)/.installed-dev
	$(BIN)/lint-imports

# PAGE=1 make bench writes its tables into docs/benchmarks.md, too.
bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/bench.py $(if $(PAGE),--write)

# Regenerates Kubernetes's pod schema, and the schemas for editors.
schemas: $(VENV)/.installed-dev
	$(BIN)/python tools/pod_schema.py
	$(BIN)/tfgitops schema environment -o schemas/environment.schema.json
	$(BIN)/tfgitops schema job -o schemas/job.schema.json

# Regenerates the reference pages of docs/: from the schema, the command line, the codes and compiled pairs of specs.
docs: $(VENV)/.installed-dev
	$(BIN)/python tools/reference.py
	$(BIN)/python conformance/updates.py

# Tries the admission model on recorded verdicts of the real Volcano; VERDICTS=DIR names other ones.
verdicts: $(VENV)/.installed-dev
	$(BIN)/python conformance/verdicts.py $(if $(VERDICTS),"$(VERDICTS)")

# Lets Kubernetes's own code judge the committed manifests and EXAMPLES generated specs; VOLCANO_CRDS has the CRDs.
EXAMPLES ?= 300
SEED     ?= 0
export VOLCANO_CRDS
conformance: $(VENV)/.installed-dev
	@$(BIN)/python conformance/judge.py --examples $(EXAMPLES) --seed $(SEED)

# Starts Jobs as local processes with a real TensorFlow, in an environment of its own; CASES="NAME …" plays only those.
conformance-tensorflow: $(VENV)/.installed-dev
	@$(BIN)/python conformance/trainings.py --install --or-skip $(CASES)

$(VENV)-tensorflow/.installed: pyproject.toml
	@echo "installing TensorFlow, once: 1.5 GB"
	@$(PYTHON) -m venv $(VENV)-tensorflow
	@$(VENV)-tensorflow/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(VENV)-tensorflow/bin/pip install --quiet --disable-pip-version-check --group tensorflow
	@touch $@

$(VENV)/bin/python:
	@echo "setting up $(VENV), once"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/.installed
	@echo "installing the tools for tests and checks, once"
	@$(BIN)/pip install --quiet --disable-pip-version-check --group dev
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-tensorflow .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
