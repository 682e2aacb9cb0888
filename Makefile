# The two commands of the README: `make demo` and `make test`. Each makes .venv when it is missing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-all lint format speed docs clean

$(VENV)/ready: requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

demo: $(VENV)/ready                ## simulate payments, fit, score, write demo/report.html
	$(BIN)/sdgad demo --out demo

lint: $(VENV)/ready-dev            ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# A process per core, each with one thread; the tests of a file stay together, since they share what was fitted for them.
PYTEST := OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=5000 $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadfile

test: lint                         ## lint, type-check, and every test that is not slow
	$(PYTEST) -m "not slow"

test-all: lint                     ## all of it
	$(PYTEST)

format: $(VENV)/ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

speed: $(VENV)/ready               ## events per second beside the peers'; adds lines to results/speed.jsonl
	$(BIN)/python benchmarks/speed.py --encoder tcl,graphmixer,dygformer,tgat --out results/speed.jsonl

docs: $(VENV)/ready                ## write docs/api.md anew from the code, docs/speed.md, docs/encoders.md and docs/baselines.md from results/
	$(BIN)/python docs/make_api.py
	$(BIN)/python docs/make_speed.py
	$(BIN)/python docs/make_encoders.py
	$(BIN)/python docs/make_baselines.py

clean:
	rm -rf $(VENV) demo build dist .mypy_cache .ruff_cache
