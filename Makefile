# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Everything that a person types. Each target first makes the machine ready; that takes no time when it is.
BUILD := build
PYTHON := .venv/bin/python
# Debian's own CMake and Ninja before others on PATH: a version manager's may need a version to be chosen first.
CMAKE := $(firstword $(wildcard /usr/bin/cmake) cmake)
NINJA := $(firstword $(wildcard /usr/bin/ninja) ninja)
LIT_FLAGS := -sv
# How many random cases of each kind `make fuzz` checks; SEED=7 and KIND=ir choose, test/fuzz/README.md tells more.
N := 1000
# A run that is cut short has told what failed until then.
PYTEST_FLAGS := -q --instafail
WITH_TORCH := PYTHONPATH=$(BUILD)/python_packages .venv-torch/bin/python

# Each takes all cores: with -j, too, one target after the other.
.NOTPARALLEL:
.PHONY: build build-sanitized test test-all test-exhaustive test-machines test-sanitized test-sanitized-fuzz test-torch \
  test-triton test-without-cpu torch-ops linalg-ops fuzz check check-all demo docs bench kernelbench wheel test-wheel clean bootstrap

build: bootstrap
	@[ -e $(BUILD)/build.ninja ] || $(CMAKE) -G Ninja -S . -B $(BUILD) -DCMAKE_MAKE_PROGRAM=$(NINJA) \
	  $(if $(MLIR_DIR),-DMLIR_DIR=$(MLIR_DIR))
	@$(NINJA) -C $(BUILD)

test: build
	.venv/bin/lit $(LIT_FLAGS) $(BUILD)/test
	$(PYTHON) -m pytest $(PYTEST_FLAGS) -n auto

# What takes minutes, too, in parts that aim at less than an hour on two cores. A part first builds what it needs.
test-all: check-all test test-without-cpu test-exhaustive test-machines test-sanitized test-sanitized-fuzz

# Every configuration of the conformance table, many more random cases, kernels under AddressSanitizer; with PyTorch where
# scripts/bootstrap-torch made its environment.
test-exhaustive: build
	$(PYTHON) -m pytest $(PYTEST_FLAGS) -n auto -m exhaustive
	[ ! -d .venv-torch ] || $(WITH_TORCH) -m pytest $(PYTEST_FLAGS) -n auto -m exhaustive test/torch

# The code that the cost model would choose for other machines (test/python/machines.py).
test-machines: build
	for machine in EPYC Xeon; do \
	  XETILE_TEST_MACHINE=$$machine $(PYTHON) -m pytest $(PYTEST_FLAGS) -n auto test/python/targets/cpu/test_deep_tile*.py || exit 1; done

# The C++ core under AddressSanitizer and UBSan, built for that into a directory of its own: all lit tests, refusals; and
# SANITIZED_N mutated files. LLVM poisons memory in headers; only our side would be told of it.
SANITIZED := ASAN_OPTIONS=exitcode=99:allow_user_poisoning=0:detect_leaks=0 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1
SANITIZED_OPT := $(CURDIR)/$(BUILD)-asan/bin/xetile-opt
SANITIZED_N := 2000
build-sanitized: build
	@$(CMAKE) -G Ninja -S . -B $(BUILD)-asan -DCMAKE_MAKE_PROGRAM=$(NINJA) \
	  -DXETILE_ENABLE_PYTHON=OFF -DXETILE_SANITIZE=ON $(if $(MLIR_DIR),-DMLIR_DIR=$(MLIR_DIR)) > /dev/null
	@$(NINJA) -C $(BUILD)-asan xetile-opt XeTileRuntime xetile-layout-test xetile-target-info-test

test-sanitized: build-sanitized
	$(SANITIZED) .venv/bin/lit $(LIT_FLAGS) $(BUILD)-asan/test
	$(SANITIZED) XETILE_OPT=$(SANITIZED_OPT) $(PYTHON) -m pytest $(PYTEST_FLAGS) -n auto \
	  -m "exhaustive or not exhaustive" test/python/targets/cpu/test_deep_tile_refusals.py

test-sanitized-fuzz: build-sanitized
	$(SANITIZED) XETILE_FUZZ_OPT=$(SANITIZED_OPT) $(PYTHON) test/fuzz --kind ir -n $(SANITIZED_N) \
	  $(if $(SEED),--seed $(SEED))

# The core without the targets cpu and sm_90a (XETILE_ENABLE_CPU=OFF, XETILE_ENABLE_NVIDIA=OFF), in a directory of its own: a
# target can be left out, and nothing else notices. Most of it is what the plain build compiled.
test-without-cpu: build
	@$(CMAKE) -G Ninja -S . -B $(BUILD)-gpu -DCMAKE_MAKE_PROGRAM=$(NINJA) -Wno-dev \
	  -DXETILE_ENABLE_PYTHON=OFF -DXETILE_ENABLE_CPU=OFF -DXETILE_ENABLE_NVIDIA=OFF $(if $(MLIR_DIR),-DMLIR_DIR=$(MLIR_DIR)) > /dev/null
	@$(NINJA) -C $(BUILD)-gpu
	.venv/bin/lit $(LIT_FLAGS) $(BUILD)-gpu/test

# With PyTorch, in an environment of its own, .venv-torch, which takes a minute to install.
test-torch: build
	@scripts/bootstrap-torch
	$(WITH_TORCH) -m pytest $(PYTEST_FLAGS) -n auto test/torch

# With Triton for Intel GPUs, in a folder of its own, .triton-xpu, if .venv has the CPython that it is for.
test-triton: build
	@scripts/bootstrap-torch
	@scripts/bootstrap-triton
	[ ! -d .triton-xpu ] || XETILE_TRITON=$(CURDIR)/.triton-xpu $(WITH_TORCH) -m pytest $(PYTEST_FLAGS) test/triton_kernels

# PyTorch's own operator database against eager: FLAGS="--draw 100 --seed 7", test/torch_ops/README.md tells more.
torch-ops: build
	@scripts/bootstrap-torch
	@$(WITH_TORCH) test/torch_ops $(FLAGS)

# Every op that linalg registers, for GPUs, against NumPy: FLAGS="--draw 100 --op matmul", test/linalg_ops/README.md tells more.
linalg-ops: build
	@$(PYTHON) test/linalg_ops $(FLAGS)

# Random cases: mutated files, programs, schedules, calls. `make fuzz N=20000 SEED=7 KIND=ir`.
fuzz: build
	@$(PYTHON) test/fuzz -n $(N) $(if $(SEED),--seed $(SEED)) $(if $(KIND),--kind $(KIND)) \
	  $(if $(SECONDS),--seconds $(SECONDS))

# Formatting, spelling and static checks; some ask what was built.
check: build
	@scripts/check

# clang-tidy of every C++ file that is not known to be clean; where none is, that takes over half an hour on two cores.
check-all: check
	@$(PYTHON) scripts/clang_tidy.py

# The site, in build/site: tutorial, reference, levels of some programs. Links that lead nowhere fail it.
docs: build
	@scripts/install-docs
	@$(PYTHON) scripts/docs.py
	@echo "build/site/index.html"

demo: build
	@$(PYTHON) -m xetile.demo

# What is measured, in parts of less than ten minutes each on two cores: PART="code programs" chooses some.
BENCH_compile := layout_plan workgroup_compile program_compile
BENCH_cpu := deep_tile_config deep_tile
BENCH_layers := fused_mlp small_sizes regret
BENCH_code := machine_code predicted_speed
BENCH_programs := program_code
BENCH_run := run launches
PART := compile cpu layers code programs run triton

bench: build
	@[ -z "$(filter-out compile cpu layers code programs run triton,$(PART))" ] || \
	  { echo "expected PART of compile, cpu, layers, code, programs, run and triton, got $(PART)"; exit 2; }
	@set -e; for name in $(foreach part,$(PART),$(BENCH_$(part))); do $(PYTHON) test/bench/$$name.py; done
	@[ -z "$(filter triton,$(PART))" ] || [ ! -d .triton-xpu ] || \
	  XETILE_TRITON=$(CURDIR)/.triton-xpu $(WITH_TORCH) test/bench/triton_peers.py

# KernelBench through torch.compile(backend="xetile"): KERNELBENCH=DIR is a checkout of it, LEVEL="1 2" chooses, TARGET=pvc a GPU
# instead of this CPU (right or wrong counts then: without a GPU its kernels run on this CPU), FLAGS="..." are more of its options (test/kernelbench). Needs the packages of xetile[torch] in .venv.
kernelbench: build
	@[ -n "$(KERNELBENCH)" ] || { echo "expected KERNELBENCH=DIR, a checkout of KernelBench"; exit 2; }
	@PYTHONPATH=$(BUILD)/python_packages $(PYTHON) test/kernelbench $(KERNELBENCH) $(if $(LEVEL),--level $(LEVEL)) \
	  $(if $(TARGET),--target $(TARGET)) $(FLAGS)

# Wheels in dist, for the Python of .venv and every newer CPython that is found; PYTHONS="python3.12 /opt/x/bin/python3"
# chooses others. And the sources of them.
wheel: build
	@rm -rf dist
	@$(PYTHON) scripts/wheel.py --sdist $(if $(PYTHONS),$(foreach python,$(PYTHONS),--python $(python)),--all)

# The wheels in fresh environments outside of the tree, on other Linuxes where debootstrap can make them. SHORT=1 tries
# the wheel for the Python of .venv only, as .ci/run does.
test-wheel: build
	$(PYTHON) -m pytest $(PYTEST_FLAGS) test/wheel $(if $(SHORT),-m "not exhaustive",-m "exhaustive or not exhaustive")

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-gpu

bootstrap:
	@scripts/bootstrap
