//===- MatmulConfig.cpp - the fields of a matmul configuration ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: names and values, JSON. Out: a MatmulConfig, JSON. Refused: JSON that is no object of known
// fields with integers or names of loop orders; the attribute's verifier and the rewrite judge the
// integers.
//===----------------------------------------------------------------------===//
#include "xetile/IR/MatmulConfig.h"
#include "xetile/IR/XeTileAttrs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace xetile;

llvm::ArrayRef<MatmulField> xetile::allMatmulFields() {
  static const llvm::SmallVector<MatmulField> fields = [] {
    llvm::SmallVector<MatmulField> list;
    MatmulConfigAttr::visitFields(MatmulConfig(),
                                  [&](llvm::StringRef name, int64_t, llvm::StringRef doc,
                                      int64_t open) { list.push_back({name, doc, open}); });
    // A field that only the struct has would not be read, printed or checked.
    assert(list.size() * sizeof(int64_t) == sizeof(MatmulConfig));
    return list;
  }();
  return fields;
}

std::string xetile::joinFieldNames() {
  return llvm::join(
      llvm::map_range(allMatmulFields(), [](const MatmulField &field) { return field.name; }),
      ", ");
}

void PartialConfig::overrideBy(const PartialConfig &other) {
  MatmulConfigAttr::visitFields(
      other, [&](llvm::StringRef name, const std::optional<int64_t> &value, auto...) {
        if (value)
          *findField(*this, name) = value;
      });
}

llvm::hash_code xetile::hash_value(const PartialConfig &config) {
  llvm::hash_code hash(0);
  MatmulConfigAttr::visitFields(config, [&](llvm::StringRef, const std::optional<int64_t> &value,
                                            auto...) { hash = llvm::hash_combine(hash, value); });
  return hash;
}

std::optional<int64_t> *xetile::findField(PartialConfig &config, llvm::StringRef name) {
  std::optional<int64_t> *found = nullptr;
  MatmulConfigAttr::visitFields(config,
                                [&](llvm::StringRef next, std::optional<int64_t> &value, auto...) {
                                  if (next == name)
                                    found = &value;
                                });
  return found;
}

int64_t xetile::openValueOf(llvm::StringRef name) {
  return llvm::find_if(allMatmulFields(),
                       [&](const MatmulField &field) { return field.name == name; })
      ->open;
}

template <typename Config, typename Value>
static llvm::StringRef nameOf(const Config &config, const Value &field) {
  llvm::StringRef found;
  MatmulConfigAttr::visitFields(config, [&](llvm::StringRef name, const Value &value, auto...) {
    if (&value == &field)
      found = name;
  });
  return found;
}

llvm::StringRef xetile::fieldName(const MatmulConfig &config, const int64_t &field) {
  return nameOf(config, field);
}

llvm::StringRef xetile::fieldName(const PartialConfig &config,
                                  const std::optional<int64_t> &field) {
  return nameOf(config, field);
}

llvm::ArrayRef<llvm::StringLiteral> xetile::loopOrderNames() {
  return MatmulConfigAttr::kLoopOrders;
}

std::optional<int64_t> xetile::findLoopOrder(llvm::StringRef name) {
  const auto *found = llvm::find(loopOrderNames(), name);
  if (found == loopOrderNames().end())
    return std::nullopt;
  return found - loopOrderNames().begin();
}

bool xetile::isLoopOrder(int64_t number) {
  return number >= 0 && number < static_cast<int64_t>(loopOrderNames().size());
}

std::string xetile::describeLoopOrders() {
  return llvm::formatv("0 to {0}, or one of {1}", loopOrderNames().size() - 1,
                       llvm::join(loopOrderNames(), ", "));
}

std::array<MatmulDim, 3> MatmulConfig::middleLoops() const {
  std::array<MatmulDim, 3> loops;
  for (auto [dim, letter] : llvm::zip_equal(loops, loopOrderNames()[loopOrder]))
    dim = letter == 'm' ? kM : letter == 'n' ? kN : kK;
  return loops;
}

Problem xetile::readConfig(llvm::StringRef json, PartialConfig &config) {
  llvm::StringRef text = json.trim();
  if (text.empty())
    return {};
  // Pass options lose their outer braces on the way.
  std::string whole = text.starts_with("{") ? text.str() : ("{" + text + "}").str();
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(whole);
  if (!parsed)
    return "matmul config: expected a JSON object, got " + whole + ": " +
           llvm::toString(parsed.takeError());
  const llvm::json::Object *object = parsed->getAsObject();
  if (!object)
    return "matmul config: expected a JSON object, got " + whole;
  for (const auto &[key, value] : *object) {
    llvm::StringRef name = key;
    std::optional<int64_t> *field = findField(config, name);
    if (!field)
      return llvm::formatv("matmul config: unknown field '{0}'; expected {1}", name,
                           joinFieldNames());
    bool isOrder = field == &config.loopOrder;
    std::optional<int64_t> number = value.getAsInteger();
    if (std::optional<llvm::StringRef> order = value.getAsString(); order && isOrder)
      number = findLoopOrder(*order);
    if (!number)
      return llvm::formatv("matmul config: {0} = {1}: expected {2}", name, value,
                           isOrder ? describeLoopOrders() : "an integer of 64 bits");
    *field = number;
  }
  return {};
}

std::string xetile::writeConfig(const MatmulConfig &config) {
  std::string text = "{";
  MatmulConfigAttr::visitFields(config, [&](llvm::StringRef name, int64_t value, auto...) {
    text += llvm::formatv("{0}\"{1}\": {2}", text == "{" ? "" : ", ", name, value);
  });
  return text + "}";
}
