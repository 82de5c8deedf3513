# Slipway: meson and ninja behind a few words. `make help` lists them.
#
# BUILD        build directory
# PREFIX       where `make install` puts things, below DESTDIR
# T            only tests (or checks) that have this in their name
# MESON_FLAGS  for a build directory that does not exist yet
# JOBS         how many suites of `make test-cluster` run beside each other
# SEEDS        how many of `make soak`
# SECONDS      of `make chaos`: for so long there are faults
# NODES        of `make chaos`
# PLANTS       of `make soak`: 1 tests the oracles instead, with faults built in
BUILD = build
PREFIX = /usr/local
DESTDIR =
T =
MESON_FLAGS =
JOBS = 3
SEEDS = 1000
PLANTS =
SECONDS = 600
NODES = 50

WHICH =
SANITIZE = -Db_sanitize=address,undefined -Db_lundef=false
PROGRAMS = SLIPWAY='$(abspath $(BUILD))/slipway' PROBE='$(abspath $(BUILD))/tests/cluster/probe'

.PHONY: all test test-asan test-cluster test-fresh fuzz demo bench soak chaos lint format install clean help
all: ready-build ## build the program: build/slipway
	ninja -C $(BUILD) slipway

# Packages of a set, and a configured build directory.
ready-%:
	@tools/setup.sh $*
	@[ -e $(BUILD)/build.ninja ] || meson setup $(MESON_FLAGS) $(BUILD)

test: ready-test ## unit, command line and tool tests; T=pattern picks some
	ninja -C $(BUILD)
	@python3 tests/run.py --build $(BUILD) $(WHICH) $(T)

test-asan: ## the same with the address and undefined behaviour sanitizers
	@$(MAKE) --no-print-directory test BUILD=build-asan MESON_FLAGS='$(MESON_FLAGS) $(SANITIZE)' WHICH=--built

test-cluster: ready-test ## tests against a real Kubernetes control plane (needs Go once)
	ninja -C $(BUILD)
	@$(PROGRAMS) python3 tests/cluster/run.py --jobs $(JOBS) $(T)

test-fresh: ## `make demo` and `make test` in a fresh minimal Debian (needs root, debootstrap)
	@tools/fresh.sh

fuzz: ready-fuzz ## look for inputs that break the decoders, FUZZ_SECONDS for each target
	@tools/fuzz.sh $(T)

demo: all ## build it and show what it can do, on simulated clusters
	@tools/demo.sh $(BUILD)/slipway

bench: ready-test ## measure beside client-go and kubectl (needs Go once); prints ratios
	ninja -C $(BUILD)
	@$(PROGRAMS) python3 bench/run.py

soak: ready-test ## SEEDS random clusters under faults, drained and kept by controllers, watched by oracles
	ninja -C $(BUILD) tests/sim/soak tests/sim/soak-fleet
	@$(if $(PLANTS),python3 tests/sim/plants.py --build $(BUILD) --seeds $(SEEDS),\
	    $(BUILD)/tests/sim/soak --seeds $(SEEDS) --jobs $$(nproc) --table && \
	    $(BUILD)/tests/sim/soak-fleet --seeds $(SEEDS) --jobs $$(nproc) --table)

chaos: ready-test ## two controllers killed and frozen for SECONDS while the clients of NODES nodes ask
	ninja -C $(BUILD)
	@$(PROGRAMS) SLIPWAY_CLUSTER_REQUIRED=1 SLIPWAY_CHAOS_SECONDS=$(SECONDS) SLIPWAY_CHAOS_NODES=$(NODES) \
	    python3 tests/cluster/run.py --real fleetlock_chaos.killed_and_frozen

lint: ready-lint ## layout, static analysis, layers, scripts; T=pattern picks some checks
	ninja -C $(BUILD)
	@python3 tools/lint.py --build $(BUILD) $(T)

format: ready-lint ## let clang-format lay out every C file
	@python3 tools/lint.py --build $(BUILD) --format

install: ready-build ## program, man pages and completions, into $(DESTDIR)$(PREFIX)
	@meson configure $(BUILD) --prefix='$(PREFIX)'
	ninja -C $(BUILD) installed
	meson install -C $(BUILD) --no-rebuild --strip --destdir '$(abspath $(DESTDIR))'

clean: ## remove the build directories
	rm -rf build build-asan build-ci

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /  make \1\t/p' Makefile | expand -t 22
