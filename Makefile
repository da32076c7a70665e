# Everything runs inside .venv, made from nothing but python3 and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# One worker more than there are cores: many tests wait for processes.
JOBS   ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")

# The tests start hundreds of Python processes, each of which would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install demo test lint types unit conformance conformance-slow attacks isolation faults faults-peers dialects load fuzz shell-million coverage coverage-map mutants \
	docs house web-test web-pictures adapters fleet bench-fleet bench bench-check bench-peers bench-replay bench-daemon lock clean

help:            ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

install: $(STAMP)  ## set up .venv with locked versions

$(STAMP): pyproject.toml requirements/dev.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q src
	touch $@

# The demo needs the core and the reader of shell commands, and runs from the source.
$(VENV)/.demo: requirements/dev.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -e $(STAMP) || $(BIN)/python -m pip install --quiet --disable-pip-version-check \
		-c requirements/dev.lock msgspec tree-sitter tree-sitter-bash
	touch $@

demo: $(VENV)/.demo  ## run the main job in a temporary project
	@PYTHONPATH=src $(BIN)/python -m hookwright.cli demo

# The types are checked while tests wait for processes.
test: install lint  ## everything that must pass
	$(MAKE) --no-print-directory -j 2 types unit
	$(MAKE) --no-print-directory conformance

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

unit: install
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup

conformance: install  ## the conformance cases, through the command line
	$(BIN)/python tests/conformance/run.py engine -j 12
	$(BIN)/python tests/conformance/run.py session -j 12

conformance-slow: install  ## the conformance cases that wait for default time limits; eleven minutes, nearly all of it waiting
	$(BIN)/python tests/conformance/run.py session --slow --match 'deftimeout-*' -j 8

attacks: install      ## attack the product: tried and held per area; 1 if an attack got through
	@cd tests && ../$(BIN)/python -m attacks

faults: install       ## hostile hooks and environments: the whole table, a few minutes
	@cd tests && ../$(BIN)/python -m faults

faults-peers: install ## the same hostile hooks on other engines, installed into bench/.peers
	$(BIN)/python bench/faults_peers.py

dialects: install     ## other coding agents with a scripted model: answer × agent, alone and through the bridge; minutes
	@cd bench && ../$(BIN)/python -m dialects $(if $(RECORD),--record) $(AGENT)

load: install         ## 64 sessions at once, eight hooks per event, one minute
	$(BIN)/python bench/load.py

isolation: install    ## hostile hooks and random writes at every level of isolation that this machine allows; a few minutes
	HOOKWRIGHT_EXAMPLES=$(or $(EXAMPLES),1000) nice $(BIN)/python -m pytest -q -rs -n0 tests/replay/isolation
	nice $(BIN)/python bench/isolation.py

.fuzz/.installed: requirements/dev.lock
	$(PYTHON) -m venv .fuzz
	-.fuzz/bin/python -m pip install --quiet --disable-pip-version-check -c requirements/dev.lock \
		atheris==3.0.0 msgspec tree-sitter tree-sitter-bash ruamel.yaml && touch $@

fuzz: install .fuzz/.installed  ## a million inputs for each parser of untrusted bytes, guided by coverage; an hour or two
	@cd tests && if test -e ../.fuzz/.installed; then PYTHONPATH=../src nice ../.fuzz/bin/python -m fuzz $(FUZZ); \
		else nice ../$(BIN)/python -m fuzz $(FUZZ); fi

CORE_TESTS := $(patsubst %,tests/test_%.py,aggregate background callbacks command conditions engine interpret journal \
	jsontext jsregex load matchers otel paths scenarios schema selection session shell spill storage text visibility \
	wire) tests/config

shell-million: install  ## a million random scripts, read by us and run by Bash; half an hour
	nice $(BIN)/python tests/bash_scripts.py $(or $(SCRIPTS),1000000)

coverage: install     ## branch coverage of the core; fails below the figure in pyproject.toml
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q -n0 $(CORE_TESTS)
	$(BIN)/coverage combine
	$(BIN)/coverage report

coverage-map: install ## requirement rows that no test names
	@$(BIN)/python tests/coverage_map.py

mutants: install      ## small changes of the pure core; fails if the tests notice less than 95 % of them; a few minutes
	@cd tests && nice ../$(BIN)/python -m mutants $(MUTANTS)
	@cd tests && nice ../$(BIN)/python -m mutants --rows
	@cd tests && nice ../$(BIN)/python -m mutants --prove

.adapters/%/.installed: requirements/adapters/%.lock
	$(PYTHON) -m venv .adapters/$*
	.adapters/$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	.adapters/$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# Frameworks that do not fit the development environment have one each, installed on demand: one lock file, one target.
ADAPTERS := $(patsubst requirements/adapters/%.lock,adapter-%,$(wildcard requirements/adapters/*.lock))

adapters: $(ADAPTERS)  ## the adapters for other frameworks, each with the real packages; one alone: make adapter-langchain

.PHONY: $(ADAPTERS)
$(ADAPTERS): adapter-%: .adapters/%/.installed
	.adapters/$*/bin/python -m pytest -q tests/adapters/test_scenarios.py tests/adapters/test_$(subst -,_,$*).py -k $(subst -,_,$*)

.browser/.installed: requirements/dev.lock requirements/browser.lock
	$(PYTHON) -m venv .browser
	.browser/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.lock -r requirements/browser.lock
	.browser/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

web-test: .browser/.installed  ## the console in a real browser: Debian's chromium, with playwright
	.browser/bin/python -m pytest -q -rs -n 0 tests/web

web-pictures: .browser/.installed  ## draw the pictures of docs/web.md
	.browser/bin/python docs/pictures/web.py

.fleet/.installed: requirements/fleet.lock
	$(PYTHON) -m venv .fleet
	.fleet/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	.fleet/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

fleet: .fleet/.installed  ## replay on a dask cluster, from and to URLs, and to Parquet, with the real packages
	nice .fleet/bin/python -m pytest -q -rs tests/replay/fleet "tests/test_docs.py::test_what_a_page_shows_is_what_happens[docs/fleet.md-0]"

bench-fleet: .fleet/.installed  ## what a dask cluster costs over a pool of processes
	.fleet/bin/python bench/fleet.py

docs: install         ## write the generated source and the generated pages of docs/
	$(BIN)/python tools/generate.py
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/generate_rules.py

house: install        ## figures about the source tree, and the modules that one denied tool call crosses
	@$(BIN)/python tools/house.py
	@$(BIN)/python tools/walk.py

bench: install        ## measure, as ratios inside one run, and write docs/benchmarks.md
	$(BIN)/python bench/run.py

bench-check: install  ## fail when a key ratio is clearly worse than the committed baseline
	$(BIN)/python bench/check.py

bench-peers: install  ## the same hook through other engines, installed into bench/.peers
	$(BIN)/python bench/peers.py

bench-replay: install ## how fast the past is read: megabytes of transcript per second of processor time, from 100 MB to 1 GB
	$(BIN)/python bench/replay.py --megabytes 100 300 1000

bench-daemon: install ## `hook --from` through the daemon as a ratio to `sh -c true`, and the cold path over bare Python
	$(BIN)/python bench/daemon.py

lock:                 ## resolve requirements/dev.lock again (needs uv)
	uv pip compile --universal --quiet --emit-build-options --python-version 3.11 pyproject.toml --extra all requirements/dev.in --no-header -o requirements/dev.lock --upgrade
	for one in $(ADAPTERS:adapter-%=requirements/adapters/%); do \
		uv pip compile --universal --quiet --python-version 3.11 $$one.in --no-header -o $$one.lock --upgrade; done
	uv pip compile --universal --quiet --python-version 3.11 requirements/fleet.in -c requirements/dev.lock --no-header -o requirements/fleet.lock --upgrade

clean:
	rm -rf $(VENV) .fuzz .adapters .fleet .pytest_cache .mypy_cache .ruff_cache .coverage* build dist
