# Two commands set everything up: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= $(shell nproc)
TORCH  ?= torch==2.13.0
VERSION ?= dev
# What is imported is compiled then; compiling all of 200 MB of Python takes longer than unpacking it.
PIP    := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile

.PHONY: env demo docs docs-version screenshots sdk lint types test pytest clean

$(BIN)/rocport: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	$(BIN)/python -m compileall -q -j 0 src
	@touch $@

# The test environment adds torch (a CPU build is enough) and the development tools.
$(VENV)/.dev: $(BIN)/rocport pyproject.toml
	$(PIP) "$(TORCH)" -e ".[dev,test]"
	@touch $@

env: $(VENV)/.dev

sdk: $(BIN)/rocport
	$(BIN)/rocport sdk install

# The demo runs the port as machine code: tinygrad's tables decode it.
demo: $(BIN)/rocport sdk
	$(PIP) -e ".[isa]"
	$(BIN)/python examples/demo.py

docs: env
	$(PIP) -e ".[docs]"
	$(BIN)/mkdocs build --strict

# The site of a version, committed to the branch gh-pages of this clone beside those of other versions.
docs-version: docs
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/mike deploy --update-aliases $(VERSION) latest

screenshots: env
	$(BIN)/pytest -q -n 0 tests/report/test_html.py tests/fleet -k screenshot
	cp build/screenshots/*.png docs/

lint: env
	$(BIN)/ruff check src tests tools benchmarks examples
	$(BIN)/ruff format --check src tests tools benchmarks examples

types: env
	$(BIN)/mypy

# The SDK is fetched while the test environment is installed, and the types are checked beside the tests: no core waits.
test:
	$(MAKE) --no-print-directory -j2 --output-sync=target sdk lint
	$(MAKE) --no-print-directory -j2 types pytest

# Tests that start a make of their own must not meet this one's settings. The children of the tests import torch from
# its bytecode, kept by the first: compiled each time, an import takes twice as long.
pytest: env
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
