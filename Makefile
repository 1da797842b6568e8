# `make` alone lists the targets.

PYTHON ?= python3      # interpreter for a new .venv (3.11 or newer)
UV ?= uv               # required by `make lock` only; the set-up uses it if it is available
SNAKEMAKE_FLAGS ?=     # e.g. "-n" or "--cores 4"
PYTEST_FLAGS ?=        # e.g. "-n 0 --pdb tests/agents"
PAGE ?=                 # of `make browser-test`: a report; by default that of the study, or of the smoke run
LOCK_FLAGS ?=          # e.g. "--upgrade"
ROWS ?=                 # of `make artifact-check`: numbers of rows of ARTIFACT.md; by default the short ones
PARTS ?=               # of `make torture`: some of config,commands,files,agents,surroundings,kernels,kills

# Rules call `python -m befrl`, so the environment has to come first on the PATH. There is no global `export`: the
# set-up must not find the interpreter of the .venv that it is about to replace.
run := PATH="$(CURDIR)/.venv/bin:$$PATH" .venv/bin/python -m
# Snakemake, after what an interrupted run left is cleared. Its default scheduler would use a third of a core for a
# thousand short jobs, hence another. The run is shown in one line (src/snakemake_logger_plugin_progress); Snakemake's own
# lines go to .snakemake/log/. $(1) is the name of the study: the seconds that its jobs took before are in
# workflow/seconds/$(1).csv, and in .snakemake/seconds/ those of this machine.
snakemake = .venv/bin/python -P -m befrl.study.runner $(1) $(SNAKEMAKE_FLAGS)
# On all cores, file by file, so that what the tests of a file share is made once. In the order of the folders: ordered by
# their number of tests, the few long tests of the workflow would come last, and everything would wait for them.
pytest := $(run) pytest --numprocesses logical --dist loadfile --no-loadscope-reorder

# The tables that are committed: no measured seconds, no curves, no single points; and a copy of files named on stdin.
small_tables := find . -name '*.csv' ! -path './timings/*' ! -path './reference/*' ! -path './full/*' \
    ! -name curves.csv ! -name certificate_curves.csv ! -name points.csv -print0
copied_to = (mkdir -p $(CURDIR)/$(1) && tar -cf - --null -T - | tar -xf - -C $(CURDIR)/$(1))
# $(1).lock with versions and hashes of the packages that $(1).in names.
compile = $(UV) pip compile --quiet --universal --fork-strategy fewest --generate-hashes --no-emit-index-url \
    --no-emit-find-links --python-version 3.11 --custom-compile-command "make $@" $(2) $(LOCK_FLAGS) $(1).in -o $(1).lock

.DEFAULT_GOAL := help
.PHONY: help setup reproduce verify artifact-check artifact smoke full test site browser-test torture kill-test test-all
.PHONY: references references-study references-full schema lint format
.PHONY: bench bench-peers cluster-test lock lock-peers lock-site lock-slurm clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' Makefile | awk -F ': ' '{printf "  make %-16s %s\n", $$1, $$2}'

setup: .venv/.ready ## create .venv from requirements.lock (PYTHON=... selects the interpreter)

reproduce: .venv/.ready ## run the study in config/config.yaml (SNAKEMAKE_FLAGS=...)
	@$(call snakemake,study)
	@echo "Report: results/report.html"

verify: .venv/.ready ## compare results/ and figures/ with results/reference and list the differences
	@.venv/bin/python tools/verify.py results results/reference --figures figures

artifact-check: .venv/.ready ## make the numbers of the claims in ARTIFACT.md and compare them (ROWS="1 12")
	@.venv/bin/python tools/artifact.py check $(ROWS)

artifact: .venv/.ready ## pack the last commit and its results into build/artifact as a Workflow RO-Crate
	@.venv/bin/python tools/crate.py build/artifact

smoke: .venv/.ready ## run the whole graph at toy size into build/smoke
	@$(call snakemake,smoke) --configfile config/smoke.yaml
	@echo "Report: build/smoke/results/report.html"

full: .venv/.ready ## run the study at full size into build/full, some hours on two cores
	@$(call snakemake,full) --configfile config/full.yaml
	@echo "Report: build/full/results/report.html"

test: .venv/.ready ## run the fast tests, a few minutes (PYTEST_FLAGS=...)
	$(pytest) -m "not slow" $(PYTEST_FLAGS)

site: .venv/.ready build/mkdocs/.ready ## make a site of the documents in build/site/html, half a minute
	rm -rf build/site && mkdir -p build/site/pages
	cp -R *.md *.toml Containerfile .github config docs figures build/site/pages
	PYTHONPATH=build/mkdocs NO_MKDOCS_2_WARNING=1 .venv/bin/python -m mkdocs build --quiet --config-file tools/site/mkdocs.yml
	@echo "Site: build/site/html/index.html"

browser-test: ## test the report in Chromium, half a minute (PAGE=...; needs node and npm)
	@cd tests/browser && sh run.sh "$(or $(abspath $(PAGE)),$(firstword $(wildcard $(CURDIR)/results/report.html $(CURDIR)/build/smoke/results/report.html)))"

torture: .venv/.ready ## inject faults such as damaged configs and files, and kills, 23 minutes (PARTS=config,commands,files,agents,surroundings,kernels,kills)
	PATH="$(CURDIR)/.venv/bin:$$PATH" PYTHONPATH=tools .venv/bin/python tools/torture $(if $(PARTS),--parts $(PARTS))

kill-test: .venv/.ready ## kill the study three times in a clone and resume it with `make reproduce`, half an hour
	rm -rf build/kill-test
	PYTHONPATH=tools .venv/bin/python tools/torture/three_kills.py build/kill-test

test-all: .venv/.ready ## run all tests, with the slow ones (PYTEST_FLAGS=...)
	$(pytest) $(PYTEST_FLAGS)

references: ## make the tables of build/smoke the reference
	rm -rf tests/reference/smoke
	cd build/smoke/results && find . -name '*.csv' ! -path './timings/*' ! -name claims.csv -print0 \
	    | $(call copied_to,tests/reference/smoke)
	mkdir -p workflow/seconds && cp .snakemake/seconds/smoke.csv workflow/seconds/

references-study: ## make the study what `make verify`, README and the pages of docs show
	@test -e results/report.html || { echo "there are no results: run make reproduce first"; exit 2; }
	rm -rf results/reference
	cd results && $(small_tables) | $(call copied_to,results/reference)
	cd figures && grep -lZ '"plotted"' $$(grep -l '"measured": false' *.json) | $(call copied_to,results/reference/figures)
	cp results/errata.md docs/errata.md
	PYTHONPATH=src .venv/bin/python tools/write_claim_pages.py results
	PYTHONPATH=src .venv/bin/python -m befrl findings --update README.md docs/findings.md docs/agents.md docs/repair.md docs/gallery.md docs/statistics.md
	mkdir -p workflow/seconds && cp .snakemake/seconds/study.csv workflow/seconds/
	.venv/bin/python tools/artifact.py update

references-full: ## copy the small tables of build/full to results/full
	@test -e build/full/results/report.html || { echo "there are no results: run make full first"; exit 2; }
	find results/full -name '*.csv' -delete
	cd build/full/results && $(subst -print0,! -name claims.csv -print0,$(small_tables)) | $(call copied_to,results/full)
	mkdir -p workflow/seconds && cp .snakemake/seconds/full.csv workflow/seconds/

schema: .venv/.ready ## make config/schema.json and the table of config/README.md from the schema
	PYTHONPATH=src .venv/bin/python -m befrl.study.schema_text config

lint: .venv/.ready ## check the style of Python and Snakemake files, types, and the direction of imports
	$(run) ruff check
	.venv/bin/lint-imports --no-cache
	$(run) ruff format --check
	$(run) mypy
	$(run) snakefmt --check Snakefile workflow
	.venv/bin/python tools/lint_workflow.py

format: .venv/.ready ## format Python and Snakemake files
	$(run) ruff check --fix-only
	$(run) ruff format
	$(run) snakefmt Snakefile workflow

bench: .venv/.ready ## measure steps per second of every algorithm into results/timings/bench.csv, two minutes
	$(run) befrl bench --out results/timings/bench.csv

bench-peers: .venv/.ready build/peers/.ready ## compare the speed of befrl with rlberry-scool and a naive BEF-RLSVI, three minutes
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=build/peers .venv/bin/python tools/bench_peers/measure.py \
	    --out results/timings/peers.csv

cluster-test: .venv/.ready ## run the smoke study on a Slurm of two nodes on this host, which needs root and Debian
	tools/cluster/test.sh

lock: ## update requirements.lock from requirements.in (LOCK_FLAGS=--upgrade; needs uv)
	$(call compile,requirements)

lock-peers: ## update the lock of `make bench-peers` (LOCK_FLAGS=--upgrade; needs uv)
	$(call compile,tools/bench_peers/requirements,--no-deps)

lock-site: ## update the lock of `make site` (LOCK_FLAGS=--upgrade; needs uv)
	$(call compile,tools/site/requirements,-c requirements.lock)

lock-slurm: ## update the lock of the Slurm profile's plugin (LOCK_FLAGS=--upgrade; needs uv)
	$(call compile,workflow/profiles/slurm/requirements,-c requirements.lock)

# The lock is that of src/befrl/study/runner.py, which may not be installed here.
free := import fcntl; fcntl.flock(open(".snakemake/befrl.lock"), fcntl.LOCK_EX | fcntl.LOCK_NB)

clean: ## remove .venv, build/ and caches, but keep results/ and figures/
	@test ! -e .snakemake/befrl.lock || $(PYTHON) -c '$(free)' 2> /dev/null \
	    || { echo "a run is active in this folder: wait for its end, or stop it" >&2; exit 2; }
	rm -rf .venv build .pytest_cache .ruff_cache .hypothesis src/*.egg-info
	find src tests workflow -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is written last, so an interrupted set-up is repeated and a finished one is kept.
.venv/.ready: requirements.lock pyproject.toml tools/setup.sh
	@PYTHON="$(strip $(PYTHON))" sh tools/setup.sh

# A folder that comes before .venv on the path of Python: the peers need an older Gymnasium.
build/peers/.ready: tools/bench_peers/requirements.lock
	rm -rf build/peers
	$(PYTHON) -m pip install --quiet --no-deps --require-hashes --target build/peers -r $<
	touch $@

build/mkdocs/.ready: tools/site/requirements.lock
	rm -rf build/mkdocs
	$(PYTHON) -m pip install --quiet --require-hashes --target build/mkdocs -r $<
	touch $@

# An environment contains absolute paths: a copied or moved project must not import the code of its old folder.
ifneq "$(shell cat .venv/.ready 2>/dev/null)" "$(CURDIR)"
.venv/.ready: FORCE
endif
FORCE:
