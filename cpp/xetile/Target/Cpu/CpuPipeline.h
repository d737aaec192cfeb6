//===- CpuPipeline.h - from matmuls on tensors to the LLVM dialect -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_CPUPIPELINE_H
#define XETILE_TARGET_CPU_CPUPIPELINE_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
}

namespace xetile {

/// Which results are written to memory that the caller passes.
enum class ResultMemory {
  OwnForAll,
  CallersForAll,
  CallersWhereStatic, // of functions all of whose results have static sizes
};

// Option groups; each pipeline takes those that concern it.
struct CpuThreadOptions : virtual mlir::detail::PassOptions {
  Option<int64_t> threads{*this, "threads",
                          llvm::cl::desc("Threads to use; 0 for the machine's cores"),
                          llvm::cl::init(0)};
};

struct CpuTilingOptions : virtual CpuThreadOptions {
  Option<std::string> config{
      *this, "config", llvm::cl::desc("A JSON object of fields of the matmuls' configuration"),
      llvm::cl::init("")};
  Option<std::string> pack{*this, "pack",
                           llvm::cl::desc("Copy blocks of A and B: auto, always or never"),
                           llvm::cl::init("auto")};
  Option<bool> fuse{
      *this, "fuse",
      llvm::cl::desc("Compute elementwise ops before and after a matmul inside its loops"),
      llvm::cl::init(true)};
  Option<bool> attention{
      *this, "attention",
      llvm::cl::desc("Compute attention block by block of its rows, unless a config is given"),
      llvm::cl::init(true)};
};

struct CpuBufferizeOptions : virtual CpuThreadOptions {
  Option<ResultMemory> resultsAsArguments{
      *this,
      "results-as-arguments",
      llvm::cl::desc("Results are written to memory that the caller passes, after the arguments: "
                     "true, false, or auto (where all sizes are static)"),
      llvm::cl::init(ResultMemory::OwnForAll),
      llvm::cl::values(
          clEnumValN(ResultMemory::CallersWhereStatic, "auto", "where all sizes are static"),
          clEnumValN(ResultMemory::CallersForAll, "true", "all of them"),
          clEnumValN(ResultMemory::OwnForAll, "false", "none"),
          clEnumValN(ResultMemory::CallersForAll, "", "true")),
      llvm::cl::ValueOptional};
};

struct CpuLoweringOptions : virtual mlir::detail::PassOptions {
  Option<int64_t> vectorBits{
      *this, "vector-bits", llvm::cl::desc("Bits of a vector register; 0 for what the machine has"),
      llvm::cl::init(512)};
  Option<int64_t> registers{*this, "registers", llvm::cl::desc("Vector registers"),
                            llvm::cl::init(32)};
  Option<bool> bf16Dot{*this, "bf16-dot",
                       llvm::cl::desc("Multiply pairs of bf16 by AVX-512 BF16 instructions"),
                       llvm::cl::init(false)};
  Option<bool> int8Dot{*this, "int8-dot",
                       llvm::cl::desc("Multiply four bytes at once by VNNI instructions"),
                       llvm::cl::init(false)};
  Option<bool> amx{*this, "amx",
                   llvm::cl::desc("Keep sums of bf16 and of bytes in AMX tile registers"),
                   llvm::cl::init(false)};
  Option<bool> libmvec{*this, "libmvec",
                       llvm::cl::desc("Call glibc's math functions on vectors; without, libm's for "
                                      "each lane"),
                       llvm::cl::init(true)};
  Option<bool> shareScratch{*this, "share-scratch",
                            llvm::cl::desc("Allocate the scratch memory of a block at once; "
                                           "without, a checker of memory sees each buffer's end"),
                            llvm::cl::init(true)};
};

// All on builtin.module.

/// One function on tensors, and beside it those that check sizes.
void buildPrepareForCpu(mlir::OpPassManager &pm);

/// From tensors to memory, scratch freed. Arguments that are marked as writable stay so unless
/// `keepArguments`.
void buildBufferizeForCpu(mlir::OpPassManager &pm, const CpuBufferizeOptions &options,
                          bool keepArguments = false);

/// From memory to the LLVM dialect.
void buildLowerToCpu(mlir::OpPassManager &pm, const CpuLoweringOptions &options);

/// xetile-prepare-for-cpu, xetile-bufferize-for-cpu and xetile-lower-to-cpu.
void registerCpuPipelines();

} // namespace xetile

#endif // XETILE_TARGET_CPU_CPUPIPELINE_H
