// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-split-reductions{rows=0})" --verify-diagnostics

// expected-error @below {{shortest = 16384, rows = 0: expected both to be positive}}
module {}
