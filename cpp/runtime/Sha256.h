// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sha256.h: the hash that names cached programs.
// Input: bytes; output: 64 hexadecimal digits. Refused: nothing.
#ifndef XETILE_RUNTIME_SHA256_H
#define XETILE_RUNTIME_SHA256_H

#include <cstddef>
#include <string>

namespace xetile::runtime {

/// SHA-256 (FIPS 180-4) in hexadecimal.
std::string sha256(const void *data, size_t size);

} // namespace xetile::runtime
#endif
