// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fields of a matmul's configuration, once. `#xetile.matmul_config`, the C++ struct's visitor, the JSON of the pass
// `deep-tile-matmul`, `transform.xetile.deep_tile_matmul` and Python's `xetile.cpu.MatmulConfig` take names, order and
// meaning from here.
#ifndef XETILE_IR_MATMULFIELDS_TD
#define XETILE_IR_MATMULFIELDS_TD

class MatmulField<string fieldName, string fieldMember, string fieldDoc, int openValue = 0> {
  string name = fieldName;
  // Its place in `xetile::MatmulFields`.
  string member = fieldMember;
  string doc = fieldDoc;
  // What leaves the choice to the cost model where a value has to be given, as in a schedule's parameters.
  int open = openValue;
  string row = "    - `" # name # "`: " # doc # "\n";
  string visit = "    visit(\"" # name # "\", fields." # member # ", \"" # doc # "\", " # open # ");\n";
}

// The values of `loopOrder`, from 0 on: dimensions from the outermost loop over blocks to the innermost.
defvar matmulLoopOrders = ["mnk", "mkn", "nmk", "nkm", "kmn", "knm"];
defvar matmulLoopOrderDoc =
  !interleave(!foreach(n, !range(matmulLoopOrders), !strconcat(!repr(n), " ", matmulLoopOrders[n])), ", ");
defvar matmulLoopOrderTable = !interleave(!foreach(order, matmulLoopOrders, "\"" # order # "\""), ", ");

// In the order in which they are printed.
defvar matmulFields = [
  MatmulField<"MThreads", "threads[kM]", "threads that share m">,
  MatmulField<"NThreads", "threads[kN]", "threads that share n">,
  MatmulField<"KThreads", "threads[kK]", "threads that share k">,
  MatmulField<"MBlock", "block[kM]", "rows of A per block, a multiple of innermostMBlock">,
  MatmulField<"NBlock", "block[kN]", "columns of B per block, a multiple of innermostNBlock">,
  MatmulField<"KBlock", "block[kK]", "k per block, a multiple of innermostKBlock">,
  MatmulField<"innermostMBlock", "innermost[kM]", "rows of C per call of the microkernel">,
  MatmulField<"innermostNBlock", "innermost[kN]", "columns of C per call of the microkernel">,
  MatmulField<"innermostKBlock", "innermost[kK]", "step that blocks of k are multiples of">,
  MatmulField<"loopOrder", "loopOrder", !strconcat("loops over blocks: ", matmulLoopOrderDoc), -1>
];

defvar matmulFieldRows = !interleave(!foreach(entry, matmulFields, entry.row), "");
defvar matmulFieldNames = !interleave(!foreach(entry, matmulFields, entry.name), ", ");
defvar matmulFieldVisits = !interleave(!foreach(entry, matmulFields, entry.visit), "");

#endif // XETILE_IR_MATMULFIELDS_TD
