# Two commands set everything up: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= $(shell nproc)
TORCH  ?= torch==2.13.0

.PHONY: env demo docs screenshots sdk lint types test bench clean

$(BIN)/rocport: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	$(BIN)/python -m compileall -q src
	@touch $@

# The test environment adds torch (a CPU build is enough) and the development tools.
$(VENV)/.dev: $(BIN)/rocport pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check "$(TORCH)"
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[dev,test]"
	@touch $@

env: $(VENV)/.dev

sdk: $(BIN)/rocport
	$(BIN)/rocport sdk install

demo: $(BIN)/rocport sdk
	$(BIN)/python examples/demo.py

docs: env
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[docs]"
	$(BIN)/mkdocs build --strict

screenshots: env
	$(BIN)/pytest -q -n 0 tests/report/test_html.py tests/fleet -k screenshot
	cp build/screenshots/*.png docs/

lint: env
	$(BIN)/ruff check src tests tools benchmarks examples
	$(BIN)/ruff format --check src tests tools benchmarks examples

types: env
	$(BIN)/mypy

# The SDK is fetched while the test environment is installed, and the types are checked beside it.
test:
	$(MAKE) --no-print-directory -j2 --output-sync=target sdk lint types
	$(BIN)/pytest -n $(JOBS) --dist loadgroup

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
