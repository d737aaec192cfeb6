// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each linalg op of a program gets the name of the schedule of kernels that it is the anchor of, as the attribute
// xetile.anchor. For each op, the first that fits:
//
//   S[.., n, ..] = S[.., n - 1, ..] + A[.., n, ..]               -> scan
//   S[.., row[n], ..] += A[n, ..], or = A[n, ..]                 -> scatter
//   C[.., m, n] += A[.., m, k] * B[.., k, n], on a matrix unit   -> matmul
//   a convolution that adds up over channels                     -> convolution    // 1D to 3D, strides, dilations, groups
//   each element by itself, read at indices that are computed    -> gather
//   each element of the result by itself                         -> elementwise
//   sums, maxima, ... along dimensions                           -> rows           // products of f32 and f64, too
//   sums, maxima, ... over windows                               -> windows        // poolings, depthwise convolutions
//
// The names of the matchers are those of match.mlir. assign_kernels reads the anchors: an op that joins no other kernel starts
// one of its own schedule. To change what happens to ops of a kind write another name behind the arrow, or a matcher of your
// own before it; a name that no step of gpu_model.mlir is for wants a step of its own there.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @match_kernels(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %matched = transform.foreach_match in %module
        @is_scan -> @anchors_scan,
        @is_scatter -> @anchors_scatter,
        @is_product -> @anchors_matmul,
        @is_convolution -> @anchors_convolution,
        @is_gather -> @anchors_gather,
        @is_elementwise -> @anchors_elementwise,
        @is_rows -> @anchors_rows,
        @is_windows -> @anchors_windows,
        @is_linalg -> @anchors_rows
        : (!transform.any_op) -> !transform.any_op
    transform.yield %matched : !transform.any_op
  }

  // What ops are.

  transform.named_sequence private @is_scan(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.xetile.match_scan %op : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence private @is_scatter(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.xetile.match_scatter %op : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence private @is_product(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.xetile.match_product %op : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence private @is_convolution(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.xetile.match_convolution %op : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence private @is_gather(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.xetile.match_gather %op : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence private @is_elementwise(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.structured %op : !transform.any_op {
    ^bb0(%linalg: !transform.any_op):
      transform.match.structured.dim %linalg[all] {parallel} : !transform.any_op
    }
    transform.yield %op : !transform.any_op
  }
  // Whose loops are not all parallel: those that are were matched before.
  transform.named_sequence private @is_rows(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.structured %op : !transform.any_op {
    ^bb0(%linalg: !transform.any_op):
      transform.match.structured.input %linalg[all] {projected_permutation} : !transform.any_op
    }
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence private @is_windows(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.structured %op : !transform.any_op {
    ^bb0(%linalg: !transform.any_op):
      %batch, %image, %channel, %window, %summed, %depth, %strides, %dilations =
          transform.match.structured.classify_convolution_dims %linalg : (!transform.any_op)
          -> (!transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
              !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>)
    }
    transform.yield %op : !transform.any_op
  }
  // The rest are reductions of other forms.
  transform.named_sequence private @is_linalg(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.structured %op : !transform.any_op {
    ^bb0(%linalg: !transform.any_op):
      transform.match.structured.yield
    }
    transform.yield %op : !transform.any_op
  }

  // The schedule of kernels that they are anchors of.

  transform.named_sequence private @anchors_scan(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "scan" -> !transform.any_param
    transform.annotate %op "xetile.anchor" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence private @anchors_scatter(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "scatter" -> !transform.any_param
    transform.annotate %op "xetile.anchor" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence private @anchors_matmul(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "matmul" -> !transform.any_param
    transform.annotate %op "xetile.anchor" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence private @anchors_convolution(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "convolution" -> !transform.any_param
    transform.annotate %op "xetile.anchor" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence private @anchors_gather(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "gather" -> !transform.any_param
    transform.annotate %op "xetile.anchor" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence private @anchors_elementwise(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "elementwise" -> !transform.any_param
    transform.annotate %op "xetile.anchor" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence private @anchors_rows(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "rows" -> !transform.any_param
    transform.annotate %op "xetile.anchor" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence private @anchors_windows(%op: !transform.any_op {transform.readonly}) {
    %name = transform.param.constant "windows" -> !transform.any_param
    transform.annotate %op "xetile.anchor" = %name : !transform.any_op, !transform.any_param
    transform.yield
  }
}
