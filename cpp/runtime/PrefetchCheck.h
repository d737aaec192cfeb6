// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PrefetchCheck.h: prefetches by address payloads, and the check of where prefetches point.
// Input: imported prefetch functions; output: OpenCL C that does nothing, or that keeps a record of
// each prefetch, and what that record says after a launch. Refused: records that tell of a prefetch
// outside of the matrix that it names.
#ifndef XETILE_RUNTIME_PREFETCHCHECK_H
#define XETILE_RUNTIME_PREFETCHCHECK_H

#include "BuiltinText.h"
#include "OpenCL.h"

#include <cstdint>
#include <string>

namespace xetile::runtime {

/// Of the last checked launch: all prefetches, those of them that lie wholly behind the right or
/// the bottom edge, and a sum over all that is equal for equal prefetches in any order.
struct PrefetchCounters {
  uint64_t prefetches = 0, ahead = 0, sum = 0;
};

/// True if XETILE_CHECK_PREFETCHES=1 asks for checks. Throws an Error for other values than 0, 1
/// and none.
bool checksPrefetches();

/// The definition of a function of the family `__builtin_IB_subgroup_*`.
void addPayload(BuiltinText &out, const SpirvImport &import, const PayloadCall &call);
/// The definition of a plain 2D block prefetch.
void addPrefetch(BuiltinText &out, const SpirvImport &import, const BlockIo &block);

/// The common text of the checked definitions.
std::string prefetchRecordText();

/// Reads and clears the record of the prefetches since the last call; the queue is idle afterwards.
/// Throws an Error that describes the first prefetch of `kernel` that does not point into its
/// matrix.
void examinePrefetches(cl_context context, cl_program program, cl_command_queue queue,
                       const std::string &kernel);

PrefetchCounters lastPrefetches();

} // namespace xetile::runtime
#endif
