//===- FreshBlockNumbers.cpp - block numbers that LLVM never saw ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: machine functions after instruction selection. Out: the same blocks, with higher numbers.
// Refused: nothing.
#include "xetile/Target/Xe/Llvm/FreshBlockNumbers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace llvm;

namespace {

struct FreshBlockNumbers : MachineFunctionPass {
  FreshBlockNumbers() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "number blocks as never before"; }

  bool runOnMachineFunction(MachineFunction &function) override {
    static std::mutex mutex;
    static DenseMap<const MachineFunction *, unsigned> usedNumbers;
    std::lock_guard<std::mutex> lock(mutex);
    unsigned &used = usedNumbers[&function];
    while (function.getNumBlockIDs() < used)
      function.addToMBBNumbering(nullptr);
    for (MachineBasicBlock &block : function) {
      function.removeFromMBBNumbering(block.getNumber());
      block.setNumber(static_cast<int>(function.addToMBBNumbering(&block)));
    }
    used = function.getNumBlockIDs();
    return true;
  }

  static char ID;
};

char FreshBlockNumbers::ID = 0;

} // namespace

void xetile::numberBlocksAfresh() {
  // Nothing after instruction selection adds blocks or numbers them again.
  static const RegisterTargetPassConfigCallback callback(
      [](TargetMachine &machine, PassManagerBase &, TargetPassConfig *config) {
        if (machine.getTargetTriple().isSPIRV())
          config->insertPass(&FinalizeISelID, new FreshBlockNumbers());
      });
}
