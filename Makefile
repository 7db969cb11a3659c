# make demo | test | test-all | check | bench | build | clean: each does the set-up that it needs.
PYTHON ?= python3
VENV := .venv
BUILD := build
# nproc heeds OMP_NUM_THREADS, which is set below.
JOBS ?= $(shell env -u OMP_NUM_THREADS nproc)
BIN := $(VENV)/bin

# Material for MkDocs advertises its successor at every build.
export NO_MKDOCS_2_WARNING := 1
# Without compiled modules each of the many Python processes of an experiment compiles its libraries anew, which doubles
# the time of a small one; uv installs none.
unexport PYTHONDONTWRITEBYTECODE
export MANYNODE_BUILD_DIR := $(abspath $(BUILD))
# Threads of numerical libraries would fight the MPI ranks for cores.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1

.PHONY: help demo build-demo test test-all check bench build setup setup-run setup-test docs site format clean

help:
	@echo "make demo      set up, build, run the demo experiment (configs/demo.yaml), print where its report is"
	@echo "make test      set up, build, run the checks and the tests but the long ones"
	@echo "make test-all  the same with the long ones, native tests under the sanitizers: what CI runs"
	@echo "make check     formatters, linters, types, spelling, generated files, links of the documentation"
	@echo "make bench     measure the figures of benchmarks/ that this host can (hours; NAME=... for one)"
	@echo "make build     the native part only"
	@echo "make docs      generate the default experiment, the JSON schema, the reference pages and the drawings"
	@echo "make site      build the documentation as a site: build/site/index.html"
	@echo "make format    rewrite sources as the formatters want them"

demo: setup-run build-demo
	$(BIN)/manynode demo --cores $(JOBS)

# The checks take one core for as long as the build leaves one idle.
test-all: extent := all
test test-all: setup-test
	$(MAKE) --no-print-directory --output-sync=target -j 2 build check
	tests/run.sh "$(BIN)" "$(BUILD)" $(extent)

check: setup-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile $$(git ls-files "*.smk")
	$(BIN)/snakemake --lint --configfile configs/demo.yaml
	git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs $(BIN)/clang-format --dry-run --Werror
	$(BIN)/manynode config generate --check
	$(BIN)/codespell $$(git ls-files "*.md" "*.py" "*.yaml" "*.yml" "*.smk" "*.c" "*.h" "*.cpp" "*.hpp" Makefile)
	$(BIN)/mkdocs build --strict --quiet

bench: setup-test build
	$(BIN)/python benchmarks/run.py $(if $(NAME),--name $(NAME))

setup: setup-test build

setup-run: $(VENV)/.installed-run
	./setup.sh run

setup-test: $(VENV)/.installed-test
	./setup.sh run test

# System packages come first: the venv module is one of them.
$(VENV)/bin/python:
	./setup.sh run
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or later is needed; PYTHON=... names another"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# uv needs a tenth of pip's time. pip follows where uv fails: it alone reads pip's settings, such as another index.
$(BIN)/uv: | $(VENV)/bin/python
	-$(BIN)/pip install --quiet --disable-pip-version-check uv

install = $(BIN)/uv pip install --quiet --python $(BIN)/python --editable $(1) || \
  $(BIN)/pip install --quiet --disable-pip-version-check --editable $(1)

# Without what it depends on: tests read the axe-core in it, and nothing drives its browser.
install_alone = $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps $(1) || \
  $(BIN)/pip install --quiet --disable-pip-version-check --no-deps $(1)

$(VENV)/.installed-run: pyproject.toml | $(BIN)/uv
	$(call install,.)
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/uv
	$(call install,'.[test]')
	$(call install_alone,axe-playwright-python==0.1.8)
	touch $(VENV)/.installed-run $@

# `build-demo` leaves out the other applications and engines, which `build` adds.
build: target := all
build-demo: target := demo
# The build reads the applications' declarations with the installed package.
build build-demo: $(VENV)/.installed-run
	cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@grep -h 'left out' $(BUILD).log || true
	cmake --build $(BUILD) -j $(JOBS) --target $(target) >> $(BUILD).log 2>&1 || { tail -n 60 $(BUILD).log; exit 1; }

docs: setup-test
	$(BIN)/manynode config generate

site: docs
	$(BIN)/mkdocs build --strict --quiet
	@echo $(BUILD)/site/index.html

format: setup-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile $$(git ls-files "*.smk")
	git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs $(BIN)/clang-format -i

clean:
	rm -rf $(BUILD) $(BUILD)*.log build-sanitize build-sanitize.log results .snakemake
