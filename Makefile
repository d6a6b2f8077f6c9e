# Two commands do everything: `make build` runs the main job, `make test` passes the tests. Both set up what they need.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: build test check lint types imports bench schemas docs dist sbom locks oldest audit fuzz mutants verdicts \
  conformance conformance-tensorflow clean

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

# Builds the wheel and the sdist of a release into dist/, twice, and fails if the bytes differ.
dist: export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct)
dist: $(VENV)/.installed-dev
	rm -rf dist
	$(BIN)/hatchling build --directory dist
	$(BIN)/hatchling build --directory dist/again
	cd dist && for file in again/*; do cmp "$$file" "$${file#again/}" || exit 1; done && rm -r again && sha256sum *

# Builds a release, and lists what the image installs, as CycloneDX.
sbom: export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct)
sbom: dist $(VENV)-release/.installed
	@$(PYTHON) -m venv --without-pip dist/image
	@$(BIN)/python -m pip --python dist/image/bin/python $(INSTALL) --require-hashes --requirement requirements/package.txt
	@$(BIN)/python -m pip --python dist/image/bin/python $(INSTALL) --no-deps dist/*.whl
	$(VENV)-release/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  --output-file dist/tfgitops.cdx.json dist/image/bin/python
	@rm -r dist/image

# Resolves the newest versions that pyproject.toml allows, and writes them with their hashes: for all systems at once.
LOCK = UV_CUSTOM_COMPILE_COMMAND="make locks" $(VENV)-release/bin/uv pip compile --quiet --universal --python-version 3.11 \
  --generate-hashes --no-annotate --upgrade
locks: $(VENV)-release/.installed
	$(LOCK) pyproject.toml --group dev --output-file requirements/dev.txt
	$(LOCK) pyproject.toml --constraints requirements/dev.txt --output-file requirements/package.txt
	@for group in build fuzz release; do \
	  $(LOCK) --group $$group --constraints requirements/dev.txt --output-file requirements/$$group.txt || exit 1; \
	done

# Tries the oldest versions that pyproject.toml allows, on the tests that are quick.
QUICK ?= tests/test_cases.py tests/admission tests/compiler tests/planning tests/provenance tests/report tests/spec tests/targets
oldest: $(VENV)-oldest/.installed
	PYTHONDONTWRITEBYTECODE= $(VENV)-oldest/bin/pytest --quiet --numprocesses auto --dist loadfile $(QUICK)

# Looks for known vulnerabilities of what is locked; without the service it is skipped, and says why.
audit: $(VENV)-release/.installed
	@$(VENV)-release/bin/python tools/audit.py requirements/*.txt

# Runs the fuzz tests for MINUTES with new seeds: hypothesis, then Atheris where there is a wheel of it.
MINUTES ?= 10
fuzz: $(VENV)/.installed-dev
	@$(BIN)/python $(LOCKED) requirements/fuzz.txt --only-binary :all: \
	  || echo "fuzz: Atheris cannot be installed here"
	$(BIN)/python tools/fuzz.py --minutes $(MINUTES)

# Changes one thing of a module at a time, and lists the changes that no test notices; goes on where it stopped.
mutants: $(VENV)/.installed-dev
	$(BIN)/python tools/mutants.py --minutes $(MINUTES) $(MODULES)

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

INSTALL = install --quiet --disable-pip-version-check
PIP     = -m pip $(INSTALL)
LOCKED  = $(PIP) --require-hashes --requirement
MYSELF  = $(PIP) --no-deps --no-build-isolation --editable .

$(VENV)/bin/python:
	@echo "setting up $(VENV), once"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml requirements/package.txt requirements/build.txt | $(VENV)/bin/python
	@$(BIN)/python $(LOCKED) requirements/package.txt --requirement requirements/build.txt
	@$(BIN)/python $(MYSELF)
	@touch $@

$(VENV)/.installed-dev: requirements/dev.txt $(VENV)/.installed
	@echo "installing the tools for tests and checks, once"
	@$(BIN)/python $(LOCKED) requirements/dev.txt
	@touch $@

$(VENV)-release/.installed: requirements/release.txt
	@$(PYTHON) -m venv $(VENV)-release
	@$(VENV)-release/bin/python $(LOCKED) requirements/release.txt
	@touch $@

# The tools for tests stay new: only the package itself is old.
$(VENV)-oldest/.installed: pyproject.toml requirements/oldest.txt requirements/build.txt
	@$(PYTHON) -m venv $(VENV)-oldest
	@$(VENV)-oldest/bin/python $(LOCKED) requirements/build.txt
	@$(VENV)-oldest/bin/python $(PIP) --group dev --constraint requirements/oldest.txt
	@$(VENV)-oldest/bin/python $(PIP) --no-build-isolation --editable . --constraint requirements/oldest.txt
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-* .mutants .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
