// What is wrong with a schedule whatever the payload is: found before it runs, at its line.
//
// RUN: split-file --leading-lines %s %t
// RUN: not xetile-opt %t/payload.mlir --xetile-apply-schedule=files=%t/yield.mlir 2>&1 | FileCheck %s --check-prefix=YIELD
// RUN: not xetile-opt %t/payload.mlir --xetile-apply-schedule=files=%t/region.mlir 2>&1 | FileCheck %s --check-prefix=REGION
// RUN: not xetile-opt %t/payload.mlir --xetile-apply-schedule=files=%t/missing.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not xetile-opt %t/payload.mlir --xetile-apply-schedule=files=%t/recursion.mlir 2>&1 | FileCheck %s --check-prefix=RECURSION
// RUN: not xetile-opt %t/payload.mlir --xetile-apply-schedule=files=%t/arguments.mlir 2>&1 | FileCheck %s --check-prefix=ARGUMENTS
// RUN: xetile-opt %t/payload.mlir --xetile-apply-schedule=files=%t/ways.mlir | FileCheck %s --check-prefix=WAYS

//--- payload.mlir
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

//--- yield.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @part(%m: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %r = transform.apply_registered_pass "canonicalize" to %m : (!transform.any_op) -> !transform.any_op
    // YIELD: yield.mlir:[[#@LINE + 1]]:5: error: operand #0 is a handle that was consumed before; expected the handle that the consuming op gives
    transform.yield %m : !transform.any_op
    // YIELD: yield.mlir:[[#@LINE - 3]]:10: note: consumed by transform.apply_registered_pass
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.consumed}) {
    %r = transform.include @part failures(propagate) (%m) : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

//--- region.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.consumed}) {
    %f = transform.structured.match ops{["func.func"]} in %m : (!transform.any_op) -> !transform.any_op
    %r = transform.apply_registered_pass "canonicalize" to %m : (!transform.any_op) -> !transform.any_op
    transform.foreach %f : !transform.any_op {
    ^bb0(%each: !transform.any_op):
      // REGION: region.mlir:[[#@LINE + 1]]:7: error: operand #0 is a handle that was consumed before
      transform.debug.emit_remark_at %m, "late" : !transform.any_op
    }
    transform.yield
  }
}

//--- missing.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @no_such_step(!transform.any_op {transform.readonly})
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    // MISSING: missing.mlir:[[#@LINE + 1]]:5: error: calls @no_such_step, which is not defined; expected it in the schedule, in parts/
    transform.include @no_such_step failures(propagate) (%m) : (!transform.any_op) -> ()
    transform.yield
  }
}

//--- recursion.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @a(%m: !transform.any_op {transform.readonly}) {
    transform.include @b failures(propagate) (%m) : (!transform.any_op) -> ()
    transform.yield
  }
  // RECURSION: recursion.mlir:[[#@LINE + 1]]:3: error: recursion not allowed in named sequences
  transform.named_sequence private @b(%m: !transform.any_op {transform.readonly}) {
    transform.include @a failures(propagate) (%m) : (!transform.any_op) -> ()
    transform.yield
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    transform.include @a failures(propagate) (%m) : (!transform.any_op) -> ()
    transform.yield
  }
}

//--- arguments.mlir
module attributes {transform.with_named_sequence} {
  // ARGUMENTS: arguments.mlir:[[#@LINE + 1]]:3: error: expected one argument, the handle of the module; got 2
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}, %n: !transform.any_op {transform.readonly}) {
    transform.yield
  }
}

// Each way consumes the handle, and only one is taken.
//--- ways.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} in %m : (!transform.any_op) -> !transform.any_op
    transform.alternatives %f : !transform.any_op {
    ^bb0(%scope: !transform.any_op):
      %c = transform.structured.match ops{["scf.for"]} in %scope : (!transform.any_op) -> !transform.op<"scf.for">
      transform.loop.unroll %c {factor = 2} : !transform.op<"scf.for">
    }, {
    ^bb0(%scope: !transform.any_op):
      transform.annotate %scope "test.second" : !transform.any_op
    }
    // WAYS: func.func @f
    transform.yield
  }
}
