# make demo   see it work            make test    every check there is
# make bench  the speed figures      make format  lay out the sources
# make train  the shipped models from seeds, interrupted or not: it goes on where it was
# make papers every figure and table of the papers, as pages in build/papers
# make test-kubernetes  the part of `make test` that runs against a control plane built from source
# make testbed       a cluster of real nodes on this machine (root; docs/testbed.md), make testbed-down ends it
# make test-testbed  the part of `make test` that runs on such nodes; says why where it cannot
# make fuzz   damaged input to every reader of the wire, FUZZ_SECONDS (60) for each
# make tsan   what has threads of its own, under ThreadSanitizer
# make golden writes the golden traces anew, to be reviewed as a diff
# Set-up is part of every target: tools/bootstrap installs what is missing, and is silent when nothing is.

JOBS ?= $(shell nproc)
# SANITIZE=0 runs the tests of single folders in the release build instead of under ASan and UBSan.
SANITIZE ?= 1
EVENKEEL := build/release/evenkeel
SOURCES = $(shell find src tests tools/testbed/links -name '*.h' -o -name '*.cpp')

.PHONY: build demo bench train papers test golden format clean bootstrap check-format check-layers \
        test-alone test-release test-dev test-units test-kubernetes tsan fuzz build-fuzz tidy build-checks build-units build-dev \
        control-plane testbed testbed-down test-testbed bench-testbed testbed-programs

demo: build
	$(EVENKEEL) demo $(ARGS)

bench: build-checks
	PATH="$(CURDIR)/.cache/prometheus/usr/bin:$$PATH" $(EVENKEEL) bench --report build/growth.html $(ARGS)

# RECIPE and MODEL make another: make train RECIPE=drs MODEL=build/drs.ekm
RECIPE ?= evenkeel
MODEL ?= models/evenkeel.ekm
train: build
	@mkdir -p $(dir $(MODEL))
	$(EVENKEEL) train --recipe $(RECIPE) --out $(MODEL) --resume --report build/train.html $(ARGS)
ifeq ($(RECIPE),evenkeel)
	$(EVENKEEL) train --recipe dscaler --out models/dscaler.ekm --resume --report build/train-dscaler.html $(ARGS)
	$(EVENKEEL) train --recipe marl-shared --out models/marl-shared.ekm --resume --report build/train-marl.html $(ARGS)
endif

papers: build
	$(EVENKEEL) papers --all --out-dir build/papers $(ARGS)

# One after the other, the cheapest first, so that a failure shows early and output stays whole. Kubernetes, the first
# time a quarter of an hour of Go, is built beside what does not need it: it takes what the others leave of the machine.
test: bootstrap
	@$(MAKE) --no-print-directory check-format
	@$(MAKE) --no-print-directory check-layers
	@+tools/kube/meanwhile build/kube.log $(MAKE) --no-print-directory test-alone
	@$(MAKE) --no-print-directory test-kubernetes
	@$(MAKE) --no-print-directory test-testbed
	@echo "all checks passed"

# What needs no control plane.
test-alone:
	@$(MAKE) --no-print-directory test-release
	@$(MAKE) --no-print-directory $(if $(filter 0,$(SANITIZE)),test-units,test-dev)
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=1
	@$(MAKE) --no-print-directory tidy TIDY_SAMPLE=6

bootstrap:
	@tools/bootstrap

check-format: bootstrap
	@clang-format-19 --dry-run -Werror $(SOURCES)
	@echo "format: clean"

check-layers: bootstrap
	@tools/check_layers

# ninja re-runs cmake itself when a list of sources changes.
build/%/build.ninja: CMakePresets.json
	cmake --preset $*

build-dev build-fuzz: build-%: bootstrap
	@$(MAKE) --no-print-directory build/$*/build.ninja
	@cmake --build --preset $* -j $(JOBS)

# What users run, that with what tests/ needs besides, and that with the tests of single folders.
CHECKS := evenkeel tests/all tools/testbed/links/all
build: TARGETS := evenkeel
build-checks: TARGETS := $(CHECKS)
build-units: TARGETS := all
build build-checks build-units: bootstrap
	@$(MAKE) --no-print-directory build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target $(TARGETS)

# Kubernetes itself, which tests run against: a quarter of an hour the first time, nothing later.
control-plane: bootstrap
	@tools/kube/build >/dev/null

# What waits until Kubernetes is built: it runs against it, or measures and wants the machine to itself.
LATER := kubernetes|conformance|testbed|monitor
# A machine that stutters for seconds fails what waits for threads and programs: once more, then it counts; ctest shows the
# first failure as well. Tests of single folders (label `unit`) run under sanitizers; what makes whole worlds of them, and
# what measures, as users run it too. `make test-units` runs the former in the release build.
test-release: build-checks
	ctest --preset release -j $(JOBS) --progress --repeat until-pass:2 -LE '$(LATER)|unit' -E _NOT_BUILT

test-dev: build-dev
	ctest --preset dev -j $(JOBS) --progress --repeat until-pass:2 -LE '$(LATER)'

test-units: build-units
	ctest --preset release -j $(JOBS) --progress --repeat until-pass:2 -L unit

# Against a real API server, against kube-scheduler's own code, and what measures.
test-kubernetes: build-checks control-plane
	ctest --preset release -j 2 --progress --repeat until-pass:2 -L 'kubernetes|conformance|monitor' -E _NOT_BUILT

# Real nodes. ARGS go to tools/testbed/up: make testbed ARGS='--nodes 2 --cpu 500m'
TESTBED ?= build/testbed
testbed: testbed-programs
	@tools/testbed/up $(TESTBED) $(ARGS)

testbed-down:
	@tools/testbed/down

# Only where nodes can be had at all: a container without rights need not fetch and build what it cannot run.
testbed-programs: build-checks
	@if tools/testbed/possible; then tools/bootstrap --testbed && tools/kube/build kubelet >/dev/null; fi

test-testbed: testbed-programs
	ctest --preset release --progress --repeat until-pass:2 -L testbed -E _NOT_BUILT

# The parts that have threads of their own, under ThreadSanitizer; no other tests are built for it.
TSAN_TESTS := online_learner_test online_learning_test history_test messaging_test
tsan: bootstrap
	@$(MAKE) --no-print-directory build/tsan/build.ninja
	@cmake --build --preset tsan -j $(JOBS) --target $(TSAN_TESTS)
	@for test in $(TSAN_TESTS); do $$(find build/tsan -type f -name $$test) --gtest_brief=1 || exit 1; done

# The papers' experiments there, two seeds of each: half a day of one machine. ARGS='--seeds 1' and others: docs/testbed.md
bench-testbed: testbed-programs
	tools/testbed/experiment even random cpu uniform kernels peak services profiles \
	  --schedulers kube-scheduler,horizon,ppo-lrt,evenkeel,evenkeel+moves --out build/testbed-results $(ARGS)

FUZZ_SECONDS ?= 60
fuzz: build-fuzz
	@tests/fuzz/run build/fuzz/wire_fuzzer $(FUZZ_SECONDS)

# All of it takes a quarter of an hour with cold stamps; `make test` looks at every sixth source.
TIDY_SAMPLE ?= 1
tidy: build
	@tools/tidy build/release --jobs $(JOBS) --sample $(TIDY_SAMPLE)

golden: build-checks
	EVENKEEL_REGENERATE=1 build/release/tests/golden_test --gtest_brief=1
	@git --no-pager diff --stat -- tests/golden

format: bootstrap
	clang-format-19 -i $(SOURCES)

clean: bootstrap
	rm -rf build
