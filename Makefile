# Everything that a person types. Each target first makes the machine ready; that takes no time when it is.
BUILD := build
PYTHON := .venv/bin/python
# Debian's own CMake and Ninja before others on PATH: a version manager's may need a version to be chosen first.
CMAKE := $(firstword $(wildcard /usr/bin/cmake) cmake)
NINJA := $(firstword $(wildcard /usr/bin/ninja) ninja)
LIT_FLAGS := -sv
PYTEST_FLAGS := -q

.PHONY: build test check demo bench clean bootstrap

build: bootstrap
	@[ -e $(BUILD)/build.ninja ] || $(CMAKE) -G Ninja -S . -B $(BUILD) -DCMAKE_MAKE_PROGRAM=$(NINJA) \
	  $(if $(MLIR_DIR),-DMLIR_DIR=$(MLIR_DIR))
	@$(NINJA) -C $(BUILD)

test: build
	.venv/bin/lit $(LIT_FLAGS) $(BUILD)/test
	$(PYTHON) -m pytest $(PYTEST_FLAGS)

# Formatting and static checks; compiles nothing.
check: bootstrap
	@scripts/check

demo: build
	@$(PYTHON) -m xetile.demo

bench: build
	@$(PYTHON) test/bench/layout_plan.py
	@$(PYTHON) test/bench/deep_tile.py
	@$(PYTHON) test/bench/run.py

clean:
	rm -rf $(BUILD)

bootstrap:
	@scripts/bootstrap
