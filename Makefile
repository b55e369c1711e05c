# make setup  the environment .venv with milsim and all tools
# make demo   a million deals, two tables, charts, in out/demo/
# make test   the test suite
# make check  format, lint, types, imports, tests
# make tables the tables of all hands that milsim hand reads, and what corrects them to stronger
#             models: some 35 minutes a core and rule set
# make docs   the generated pages of docs/
# make analysis-strength  the study of how strong the policies are; fifty minutes
# make analysis-bidding   the study of how high to bid; ten minutes
# make analysis-marriages the study of what marriages are worth; four minutes

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
# Any Python from 3.11 on: PYTHON=... chooses one.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
DEMO := out/demo
STAMP := $(VENV)/.milsim-installed

.PHONY: setup demo test test-slow format check lint types imports docs tables bench analysis-strength analysis-bidding \
	analysis-marriages clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "make: no Python from 3.11 on found; set PYTHON=/path/to/python3" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing milsim and its tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

demo: $(STAMP)
	@rm -rf $(DEMO)
	@$(BIN)/milsim simulate --rules mil --mode declarer --deals 1e6 --seed 1 --out $(DEMO)/run
	@$(BIN)/milsim report bidding $(DEMO)/run
	@$(BIN)/milsim report marriages $(DEMO)/run
	@for kind in png svg; do \
		$(BIN)/milsim chart bid-strength $(DEMO)/run --out $(DEMO)/bid-strength.$$kind && \
		$(BIN)/milsim chart marriages $(DEMO)/run --out $(DEMO)/marriages.$$kind || exit $$?; \
	done
	@echo "the run and the charts are in $(DEMO)/"

# Files of tests are shared out between the processors; each file stays in one process.
test: $(STAMP)
	@$(BIN)/python -m pytest -n auto --dist loadfile

test-slow: $(STAMP)
	@$(BIN)/python -m pytest -m slow

format: $(STAMP)
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lint: $(STAMP)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: $(STAMP)
	@$(BIN)/mypy

imports: $(STAMP)
	@$(BIN)/lint-imports

check: lint types imports test

docs: $(STAMP)
	@$(BIN)/python docs/make_rules.py

# What lies in out/tables/ is not played again.
tables: $(STAMP)
	@for rules in mil gamerules; do \
		$(BIN)/milsim table build --rules $$rules --out out/tables/$$rules && \
		$(BIN)/milsim table pack out/tables/$$rules --out milsim/tables/data/$$rules-expert.hands && \
		$(BIN)/milsim table sample --rules $$rules --out out/tables/$$rules-models && \
		$(BIN)/milsim table pack out/tables/$$rules-models \
			--out milsim/tables/data/$$rules-expert.models.json || exit $$?; \
	done

bench: $(STAMP)
	@$(BIN)/milsim bench

# Deals that lie in out/strength/ are not played again.
analysis-strength: $(STAMP)
	@$(BIN)/python analysis/strength/collect.py
	@sh analysis/strength/bias.sh
	@$(BIN)/python analysis/strength/tables.py
	@$(BIN)/python analysis/strength/chart.py

# Deals that lie in out/bidding/ are not played again.
analysis-bidding: $(STAMP)
	@$(BIN)/python analysis/bidding/collect.py
	@$(BIN)/python analysis/bidding/check.py
	@$(BIN)/python analysis/bidding/tables.py
	@$(BIN)/python analysis/bidding/chart.py

# Runs that lie in out/marriages/ are not played again.
analysis-marriages: $(STAMP)
	@$(BIN)/python analysis/marriages/collect.py
	@$(BIN)/python analysis/marriages/tables.py
	@$(BIN)/python analysis/marriages/chart.py

clean:
	rm -rf $(VENV) out dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
