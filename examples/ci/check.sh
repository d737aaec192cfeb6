#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What a pipeline does with xetile's wheels: install, apply a schedule and look at what it made, run it.
# usage: XETILE_WHEELS=FOLDER check.sh [WORK]        (WORK: a folder for the environment; default: a temporary one)
# On any x86-64 Linux with glibc 2.36 or newer and CPython 3.11 or newer ($PYTHON); no LLVM, no compiler, no GPU.
set -euo pipefail
wheels=$(realpath "${XETILE_WHEELS:?expected the folder of the wheels that 'make wheel' of xetile made}")
work=$(realpath "${1:-$(mktemp -d)}")
cd "$(dirname "$0")"

# [run] brings an OpenCL device for this CPU: the kernel's SPIR-V is run, whatever GPU it is for.
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --find-links "$wheels" 'xetile[run]'
PATH=$work/venv/bin:$PATH
xetile doctor

# The schedule still makes the tiles that matmul.mlir expects.
schedules=$(xetile where schedules)
xetile-opt matmul.mlir --transform-preload-library="transform-library-paths=$schedules/parts,$schedules/matmul.mlir" \
  --transform-interpreter | FileCheck matmul.mlir

# Both targets compute what NumPy computes.
xetile run matmul.mlir --target pvc --check
xetile run matmul.mlir --target cpu --check

# The machine code is no worse than it was when baseline.json was written, by more than 5 %. Wheels have no ocloc: it is
# Intel's offline compiler, of a distribution's package intel-ocloc, on PATH or named by XETILE_OCLOC.
if command -v "${XETILE_OCLOC:-ocloc}" > /dev/null; then
  xetile compile matmul.mlir --target pvc -o "$work/matmul.spv"
  if [ -e baseline.json ]; then
    xetile report "$work/matmul.spv" --device pvc --check baseline.json --tolerance 5%
  else
    xetile report "$work/matmul.spv" --device pvc --json > baseline.json
    echo "check.sh: wrote $PWD/baseline.json: commit it"
  fi
else
  echo "check.sh: no ocloc here: machine code is not compared"
fi
