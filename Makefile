# `make test` needs only a Python 3.10+ (and, for the tests on real nodes, what tools/nodes finds on the machine).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
# Or each of the many processes would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE
EXTRAS := chinese,elasticsearch,fast,gate,html,mcp,metrics,murmur3,opensearch,parquet,tracing,zstd
INSTALLED := $(VENV)/.installed
NATIVE_INSTALLED := $(VENV)/.native-installed
NATIVE_SOURCES := $(shell git ls-files native)
DEMO_INSTALLED := $(VENV)/.demo-installed
BENCH_INSTALLED := $(VENV)/.bench-installed
MUTANTS_INSTALLED := $(VENV)/.mutants-installed
RELEASE := $(VENV)-release
RELEASE_INSTALLED := $(RELEASE)/.installed

CLIENT8 := $(VENV)-client8
LOWEST := $(VENV)-lowest
# Frameworks that we have parts for, by their extras, and what more their tests need.
FRAMEWORKS := langchain llama-index haystack
WITH_langchain := langchain-classic
, := ,
LOWEST_INSTALLED := $(LOWEST)/.installed
CLIENT8_INSTALLED := $(CLIENT8)/.installed

.PHONY: demo test quick native native-check native-miri test-all fuzz coverage mutants test-dist test-min test-extras dist release-check lint types pytest pytest-all pytest-client8 pytest-spark soak soak-hours docs docs-pictures bench bench-check node-opensearch node-elasticsearch clean

# Types are checked together with all else.
test: lint
	$(MAKE) --jobs=2 types pytest

# Tests in another order: make test SHUFFLED=7
ORDER := $(if $(SHUFFLED),--shuffled $(SHUFFLED))

# Finds near-duplicates among the stories of examples/; needs no development tools.
demo: $(DEMO_INSTALLED)
	$(BIN)/es-simhash dedup examples/news.jsonl

$(DEMO_INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet 'uv>=0.8'
	$(UV) --editable '.[$(EXTRAS)]' --group dev
	touch $@

# The compiled kernels (native/README.md), where there is a Rust compiler. Without one, numpy does all.
native: $(NATIVE_INSTALLED)

$(NATIVE_INSTALLED): $(INSTALLED) $(NATIVE_SOURCES)
	@if command -v cargo > /dev/null; then \
		$(UV) --reinstall-package es-simhash-native ./native && touch $@; \
	elif [ "$$CI" = true ]; then \
		echo "The compiled kernels are not tested: cargo is missing. Install Rust, see https://rustup.rs" >&2; exit 1; \
	else \
		echo "The compiled kernels are left out: cargo is missing."; \
	fi

# The Rust code by itself: its form, its lints, its tests, and the crates that it is built from where cargo-deny is
# installed (native/deny.toml).
native-check:
	cd native && cargo fmt --check
	cd native && cargo clippy --release --all-targets -- -D warnings
	cd native && cargo test --release --quiet -p es-simhash-kernels
	@if command -v cargo-deny > /dev/null; then cd native && cargo deny check; else echo "cargo-deny is missing."; fi

# The kernels' tests in an interpreter that stops at undefined behaviour; ten minutes, and a nightly toolchain with miri.
native-miri:
	cd native && cargo +nightly miri test -p es-simhash-kernels

$(BENCH_INSTALLED): $(NATIVE_INSTALLED)
	$(UV) --group bench
	touch $@

$(MUTANTS_INSTALLED): $(INSTALLED)
	$(UV) --group mutants
	touch $@

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/mypy

# The unit tests, in a minute and a half: no node, no browser, nothing to install.
quick: $(INSTALLED)
	ES_SIMHASH_TEST_NODES=none $(BIN)/python -m pytest -n 2 tests/unit

# What the compiled kernels do is tested by numpy's way, too, with half of the examples of each law. Each kernel is also
# compared with it (tests/unit/native), so that what stands on both need be tested at night only.
BOTH_WAYS := $(addprefix tests/unit/,text sketches documents test_golden.py)
BOTH_WAYS_AT_NIGHT := $(BOTH_WAYS) $(addprefix tests/unit/,scheme groups quality)

# In one more process than there are cores on a small machine (tests/support/sharing_out.py), since each often waits for
# its node.
pytest: $(NATIVE_INSTALLED)
	$(BIN)/python -m pytest -n 3 $(ORDER)
	ES_SIMHASH_NATIVE=0 $(BIN)/python -m pytest -n 2 --hypothesis-profile=again $(BOTH_WAYS)

# Each on both servers (tests/support/by_turns.py), also on those before the current ones, through the client of
# Elasticsearch 8, and what takes long (tests/support/nightly.py).
test-all: NIGHTLY := --nightly
test-all: lint types pytest-all pytest-client8 pytest-spark test-dist test-min test-extras

pytest-all: $(NATIVE_INSTALLED)
	$(BIN)/python -m pytest -n 2 --all-nodes --nightly $(ORDER)
	ES_SIMHASH_NATIVE=0 $(BIN)/python -m pytest -n 2 --hypothesis-profile=nightly $(BOTH_WAYS_AT_NIGHT)

pytest-client8: $(CLIENT8_INSTALLED)
	$(CLIENT8)/bin/python -m pytest --all-nodes --nightly tests/system/test_index_conformance.py tests/system/engines tests/unit/engines -k 'lasticsearch'

$(CLIENT8_INSTALLED): $(INSTALLED)
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(CLIENT8)
	$(BIN)/uv pip install --quiet --python $(CLIENT8)/bin/python --editable '.[$(EXTRAS)]' 'elasticsearch<9' --group dev
	touch $@

# PySpark is half a gigabyte, so that it is not installed for the other tests.
pytest-spark: $(INSTALLED)
	$(UV) --editable '.[spark]'
	$(BIN)/python -m pytest -n 2 $(NIGHTLY) tests/system/integrations/spark/test_spark*.py

# The parts for frameworks, each with its framework in an environment of its own.
test-extras: $(FRAMEWORKS:%=test-extra-%)

$(FRAMEWORKS:%=test-extra-%): test-extra-%: $(VENV)-%/.installed
	$(VENV)-$*/bin/mypy es_simhash/integrations/$(subst -,_,$*).py
	ES_SIMHASH_TEST_EXTRA=$* $(VENV)-$*/bin/python -m pytest tests/system/integrations/test_*.py

$(FRAMEWORKS:%=$(VENV)-%/.installed): $(VENV)-%/.installed: $(INSTALLED) pyproject.toml
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)-$*
	$(BIN)/uv pip install --quiet --python $(VENV)-$*/bin/python --editable '.[$*]' $(WITH_$*) --group dev
	touch $@

# The wheel and the sdist, in dist/.
dist: $(INSTALLED)
	rm -rf dist
	$(BIN)/uv build

# All that is released, of the last commit: built twice, the same byte for byte, installed, tried, and left in dist/ with
# an SBOM and checksums (CONTRIBUTING.md, Releases). Needs Rust and a package index.
release-check: $(RELEASE_INSTALLED)
	$(RELEASE)/bin/python -m tools.release $(if $(TAG),--tag $(TAG))

$(RELEASE_INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(RELEASE)/bin/python -m pip install --quiet --group release
	touch $@

# Builds both and installs the wheel in an environment without development tools; downloads what they require.
test-dist: $(INSTALLED)
	$(BIN)/python -m pytest --build tests/system/installed

# The lowest versions of requirements that pyproject.toml allows; the newest of everything else. Nodes are left out, since
# their tests are the slowest; to include them: make test-min NODES= TESTS=tests/system/test_index_conformance.py
# The site is left out, since what builds it wants newer packages than ours does, and the page of the command line, which
# newer ones write.
LEFT_OUT := --ignore tests/unit/tools/test_site.py --ignore tests/system/pages/test_site.py \
	--deselect tests/unit/pages/test_cli_reference.py::test_the_page_has_the_help_of_now
NODES := none
TESTS := tests

test-min: $(LOWEST_INSTALLED)
	ES_SIMHASH_TEST_NODES=$(NODES) $(LOWEST)/bin/python -m pytest -n 2 $(LEFT_OUT) $(TESTS)

$(LOWEST_INSTALLED): $(INSTALLED) pyproject.toml
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip compile --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --no-deps \
		$(patsubst %,--extra %,$(subst $(,), ,$(EXTRAS))) --output-file $(LOWEST)/lowest.txt pyproject.toml > /dev/null
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --constraint $(LOWEST)/lowest.txt \
		--editable '.[$(EXTRAS)]' --group tests
	touch $@

# Branches of the folders without I/O (tests/layers.py) that the unit tests run through, in numpy's loops: those of
# compiled ones cannot be counted.
coverage: $(INSTALLED)
	ES_SIMHASH_NATIVE=0 $(BIN)/coverage run --include="$$($(BIN)/python -m tests.layers)" -m pytest tests/unit
	$(BIN)/coverage report

# Each test with forty times as many examples, in five minutes.
fuzz: $(INSTALLED)
	ES_SIMHASH_TEST_NODES=none $(BIN)/python -m pytest -n 2 --hypothesis-profile=fuzz -k fuzz tests/unit

# Changes the modules that all else stands on, one change at a time, and lists the changes that no test notices. Two
# processes for a quarter of an hour; to show a mutant: .venv/bin/mutmut show NAME
mutants: $(MUTANTS_INSTALLED)
	ES_SIMHASH_NATIVE=0 ES_SIMHASH_TEST_NODES=none $(BIN)/mutmut run --max-children 2
	$(BIN)/mutmut results

# Backfills of 200,000 documents that are killed, restarted and refused again and again, thousands of random histories
# of each command (tests/system/histories), and hundreds on clusters that fail (tests/system/clusters); takes hours.
soak: $(INSTALLED)
	$(BIN)/python -m pytest tests/system/soak tests/system/histories tests/system/clusters --soak

# Users, jobs and faults at once, for hours, on a node of each server; writes docs/soak.md, and its state and logs to
# build/soak as it goes. For one night: nohup make soak-hours HOURS=8 > soak.log &
HOURS := 2
SERVERS := opensearch elasticsearch

soak-hours: $(INSTALLED)
	$(BIN)/python -m tests.system.soak.hours $(SERVERS) --hours $(HOURS)

# The site of the documentation, into site/; the tests build it too.
docs: $(INSTALLED)
	$(BIN)/python -m tools.site

# All pictures but those of measurements: of the README and the dashboards, in docs/pictures/, by a node of its
# own; and of the site's pages, into build/pages/. Fails where a page does not fit the window or asks other hosts.
docs-pictures: $(INSTALLED)
	$(BIN)/python -m tools.report_picture
	$(BIN)/python -m tools.dashboard_pictures
	$(BIN)/python -m tools.site_pictures

# Measurements: peers in the same run, ratios. Takes some minutes; use a quiet machine.
bench: $(BENCH_INSTALLED)
	$(BIN)/python -m benchmarks

# The most important ratios, compared with those of the pages: ten minutes on the machine that these were measured on.
bench-check: $(BENCH_INSTALLED)
	$(BIN)/python -m benchmarks check

# A real node to play with, until Ctrl-C.
node-opensearch: $(INSTALLED)
	$(BIN)/python -m tools.nodes opensearch --port 9200

node-elasticsearch: $(INSTALLED)
	$(BIN)/python -m tools.nodes elasticsearch --port 9200

clean:
	rm -rf $(VENV) $(VENV)-peers $(CLIENT8) $(LOWEST) $(RELEASE) $(FRAMEWORKS:%=$(VENV)-%) .pytest_cache .mypy_cache .ruff_cache .hypothesis .cache build dist site mutants
