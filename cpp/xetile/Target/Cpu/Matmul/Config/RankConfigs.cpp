//===- RankConfigs.cpp - configurations worth measuring -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction, what is asked for. Out: variations of the configuration that the cost model
// chooses, each completed and judged by it. Refused: what decideConfig refuses; variations that are
// not legal are left out.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Config/RankConfigs.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace xetile;

using Pack = DeepTileRequest::Pack;

namespace {
class Ranking {
public:
  Ranking(const Contraction &matmul, const DeepTileRequest &request)
      : matmul(matmul), request(request) {}

  /// The configuration that completes `given`; none if it is not legal, with an error if it is the
  /// first.
  std::optional<MatmulConfig> add(Pack pack, const PartialConfig &given);
  SmallVector<RankedConfig> best(unsigned count) const;

  SmallVector<RankedConfig> found;

private:
  bool isNew(const RankedConfig &candidate) const;

  const Contraction &matmul;
  const DeepTileRequest &request;
};
} // namespace

bool Ranking::isNew(const RankedConfig &candidate) const {
  return llvm::none_of(found, [&](const RankedConfig &other) {
    return other.config == candidate.config && other.copies == candidate.copies;
  });
}

std::optional<MatmulConfig> Ranking::add(Pack pack, const PartialConfig &given) {
  DeepTileRequest varied = request;
  varied.pack = pack;
  varied.given = given;
  // Errors of variations are not the user's.
  std::optional<ScopedDiagnosticHandler> quiet;
  if (!found.empty())
    quiet.emplace(matmul.op.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<ConfigChoice> choice = decideConfig(matmul, varied);
  if (failed(choice))
    return std::nullopt;
  RankedConfig candidate = {
      choice->config, pack, {choice->packA, choice->packB, choice->turnB}, choice->cycles};
  if (isNew(candidate))
    found.push_back(candidate);
  return choice->config;
}

SmallVector<RankedConfig> Ranking::best(unsigned count) const {
  std::multimap<double, RankedConfig> ranked;
  for (const RankedConfig &candidate : ArrayRef<RankedConfig>(found).drop_front())
    ranked.emplace(candidate.cycles, candidate);
  SmallVector<RankedConfig> chosen = {found.front()};
  // The model's errors are those of a kind of configuration: no more than two of a kind.
  constexpr int64_t kAlike = 2;
  // The model is least accurate about whether packing pays.
  for (const auto &[cycles, candidate] : ranked)
    if (chosen.size() < std::min(count, 2u) && candidate.copies != found.front().copies)
      chosen.push_back(candidate);
  for (const auto &[cycles, candidate] : ranked) {
    if (chosen.size() >= count)
      break;
    auto isAlike = [&own = candidate](const RankedConfig &other) {
      return other.copies == own.copies && other.config.innermost == own.config.innermost;
    };
    // Orders of loops that run once are one.
    auto isEqual = [&own = candidate, isAlike](const RankedConfig &other) {
      return isAlike(other) && other.cycles == own.cycles &&
             other.config.threads == own.config.threads;
    };
    if (llvm::count_if(chosen, isAlike) < kAlike && llvm::none_of(chosen, isEqual))
      chosen.push_back(candidate);
  }
  return chosen;
}

FailureOr<SmallVector<RankedConfig>>
xetile::rankConfigs(const Contraction &matmul, const DeepTileRequest &request, unsigned count) {
  Ranking ranking(matmul, request);
  if (!ranking.add(request.pack, {}))
    return failure();
  // Rows and vectors of C in registers; none leaves both to the model.
  constexpr std::array<std::array<int64_t, 2>, 7> kTiles = {
      {{0, 0}, {4, 64}, {6, 64}, {8, 48}, {12, 32}, {6, 32}, {24, 16}}};
  SmallVector<Pack> packs = {request.pack};
  if (request.pack == Pack::Auto)
    packs.append({Pack::Always, Pack::Never});
  for (Pack pack : packs)
    for (auto [rows, columns] : kTiles) {
      PartialConfig tile;
      if (rows) {
        tile.innermost[kM] = rows;
        tile.innermost[kN] = columns;
      }
      std::optional<MatmulConfig> base = ranking.add(pack, tile);
      if (!base)
        continue;
      for (int64_t eighths : {2, 4, 16}) {
        PartialConfig varied = tile;
        int64_t steps = base->block[kK] / base->innermost[kK] * eighths / 8;
        varied.block[kK] = std::max<int64_t>(steps, 1) * base->innermost[kK];
        // Larger ones are cut to what there is.
        if (!ShapedType::isDynamic(matmul.extent(kK)) &&
            *varied.block[kK] - base->innermost[kK] >= matmul.extent(kK))
          continue;
        ranking.add(pack, varied);
      }
      PartialConfig turned = tile;
      turned.threads = {base->threads[kN], base->threads[kM], base->threads[kK]};
      ranking.add(pack, turned);
      for (int64_t order = 0; isLoopOrder(order); ++order) {
        PartialConfig varied = tile;
        varied.loopOrder = order;
        ranking.add(pack, varied);
      }
    }
  return ranking.best(count);
}

std::string xetile::describeMatmul(const Contraction &matmul) {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto size = [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      out << '?';
    else
      out << extent;
  };
  llvm::interleave(matmul.sizes, out, size, "x");
  for (unsigned operand : {0, 1, 2})
    out << ' ' << matmul.map(operand) << ' '
        << (operand < 2 && matmul.isUnsigned(operand) ? "unsigned " : "")
        << matmul.elementType(operand);
  return text;
}
