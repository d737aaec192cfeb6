// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which schedule takes which op of a model on a CPU. Each linalg op gets its name as the attribute xetile.schedule:
//
//   for each op, the first that fits:
//     C[.., m, n] += A[.., m, k] * B[.., k, n]        -> cpu_matmul         // in any form
//     a convolution that adds up over channels        -> cpu_convolution    // 1D to 3D, strides, dilations, groups
//     each element of the result by itself            -> cpu_elementwise    // fills and transposes, too
//     sums, maxima, ... along dimensions              -> cpu_rows           // of softmax, norms
//     sums, maxima, ... over windows                  -> cpu_windows        // poolings, depthwise convolutions
//
// What has the name is what steps look for: `cpu_model.mlir` has a step for each. To change what happens to ops of a kind
// write another name behind the arrow, or a matcher of your own before it. `@none` is for ops that no step shall take:
// `@is_rows -> @none` leaves a softmax's sums alone, `@is_convolution -> @none` convolutions, as loops of their own.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @match(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %matched = transform.foreach_match in %module
        @is_matmul -> @cpu_matmul,
        @is_convolution -> @cpu_convolution,
        @is_elementwise -> @cpu_elementwise,
        @is_rows -> @cpu_rows,
        @is_windows -> @cpu_windows,
        @is_linalg -> @cpu_rows
        : (!transform.any_op) -> !transform.any_op
    transform.yield %matched : !transform.any_op
  }

  // What ops are.

  transform.named_sequence @is_matmul(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.xetile.match_matmul %op : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @is_convolution(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.xetile.match_convolution %op : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @is_elementwise(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.structured %op : !transform.any_op {
    ^bb0(%linalg: !transform.any_op):
      transform.match.structured.dim %linalg[all] {parallel} : !transform.any_op
    }
    transform.yield %op : !transform.any_op
  }
  // Whose loops are not all parallel: those that are were matched before.
  transform.named_sequence @is_rows(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.structured %op : !transform.any_op {
    ^bb0(%linalg: !transform.any_op):
      transform.match.structured.input %linalg[all] {projected_permutation} : !transform.any_op
    }
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @is_windows(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.structured %op : !transform.any_op {
    ^bb0(%linalg: !transform.any_op):
      %batch, %image, %channel, %window, %summed, %depth, %strides, %dilations =
          transform.match.structured.classify_convolution_dims %linalg : (!transform.any_op)
          -> (!transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
              !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>)
    }
    transform.yield %op : !transform.any_op
  }
  // The rest are reductions of other forms: dimensions of size one, indexed by 0, are dropped later.
  transform.named_sequence @is_linalg(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.structured %op : !transform.any_op {
    ^bb0(%linalg: !transform.any_op):
      transform.match.structured.yield
    }
    transform.yield %op : !transform.any_op
  }

  // The name of what takes them.

  transform.named_sequence @cpu_matmul(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "cpu_matmul" -> !transform.any_param
    transform.annotate %op "xetile.schedule" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @cpu_convolution(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "cpu_convolution" -> !transform.any_param
    transform.annotate %op "xetile.schedule" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @cpu_elementwise(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "cpu_elementwise" -> !transform.any_param
    transform.annotate %op "xetile.schedule" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @cpu_rows(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "cpu_rows" -> !transform.any_param
    transform.annotate %op "xetile.schedule" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @cpu_windows(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "cpu_windows" -> !transform.any_param
    transform.annotate %op "xetile.schedule" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @none(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "none" -> !transform.any_param
    transform.annotate %op "xetile.schedule" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
}
