//===- DescribeAttention.h - sizes of an attention, how it lies in memory -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_DESCRIBEATTENTION_H
#define XETILE_SCHEDULE_DESCRIBEATTENTION_H

#include "xetile/Linalg/Online/Online.h"
#include "xetile/Target/AttentionTiling.h"

namespace xetile::transform_ops {

/// The sizes that a target with tiles of its own asks of an attention whose products multiply f16
/// or bf16; none for reductions that end in no product of powers and values.
std::optional<AttentionProblem> describeAttention(const Online &online);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_DESCRIBEATTENTION_H
