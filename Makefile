# Slipway: meson and ninja behind a few words. `make help` lists them.
#
# BUILD        build directory
# PREFIX       where `make install` puts things, below DESTDIR
# T            only tests (or checks) that have this in their name
# MESON_FLAGS  for a build directory that does not exist yet
# SEEDS        how many of `make soak`
# PLANTS       of `make soak`: 1 tests the oracle instead, with faults built in
BUILD = build
PREFIX = /usr/local
DESTDIR =
T =
MESON_FLAGS =
SEEDS = 1000
PLANTS =

SANITIZE = -Db_sanitize=address,undefined -Db_lundef=false
PROGRAMS = SLIPWAY='$(abspath $(BUILD))/slipway' PROBE='$(abspath $(BUILD))/tests/cluster/probe'

.PHONY: all test test-asan test-cluster test-fresh fuzz demo bench soak lint format install clean help
all: ready-build ## build the program: build/slipway
	ninja -C $(BUILD) slipway

# Packages of a set, and a configured build directory.
ready-%:
	@tools/setup.sh $*
	@[ -e $(BUILD)/build.ninja ] || meson setup $(MESON_FLAGS) $(BUILD)

test: ready-test ## unit, command line and tool tests; T=pattern picks some
	ninja -C $(BUILD)
	@python3 tests/run.py --build $(BUILD) $(T)

test-asan: ## the same with the address and undefined behaviour sanitizers
	@$(MAKE) --no-print-directory test BUILD=build-asan MESON_FLAGS='$(MESON_FLAGS) $(SANITIZE)'

test-cluster: ready-test ## tests against a real Kubernetes control plane (needs Go once)
	ninja -C $(BUILD)
	@$(PROGRAMS) python3 tests/cluster/run.py $(T)

test-fresh: ## `make demo` and `make test` in a fresh minimal Debian (needs root, debootstrap)
	@tools/fresh.sh

fuzz: ready-fuzz ## look for inputs that break the decoders, FUZZ_SECONDS for each target
	@tools/fuzz.sh $(T)

demo: all ## build it and show what it can do, on simulated clusters
	@tools/demo.sh $(BUILD)/slipway

bench: ready-test ## measure beside client-go and kubectl (needs Go once); prints ratios
	ninja -C $(BUILD)
	@$(PROGRAMS) python3 bench/run.py

soak: ready-test ## SEEDS random drains of random clusters under faults, watched by an oracle
	ninja -C $(BUILD) tests/sim/soak
	@$(if $(PLANTS),python3 tests/sim/plants.py --build $(BUILD) --seeds $(SEEDS),\
	    $(BUILD)/tests/sim/soak --seeds $(SEEDS) --jobs $$(nproc) --table)

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
