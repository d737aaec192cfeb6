//===- NativeElf.cpp - what machine code for Intel GPUs holds ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an ELF file, as ocloc writes it, and the names of its kernels. Out: spills and registers.
// Refused: other files, files without the kernels, calls of functions that no one defines.
#include "xetile/Target/Xe/Binary/NativeElf.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ELF.h"

using namespace llvm;
using namespace xetile;
using ElfFile = object::ELF64LEFile;

namespace {

/// The largest "key: number" in the YAML text of section .ze_info.
int64_t largest(StringRef info, StringRef key) {
  int64_t result = 0, value;
  for (; !info.empty(); info = info.split('\n').second) {
    StringRef line = info.split('\n').first.ltrim(" -");
    if (line.consume_front(key) && line.consume_front(":") && !line.trim().getAsInteger(10, value))
      result = std::max(result, value);
  }
  return result;
}

/// Functions that machine code calls and no one defines: ocloc leaves what it does not know to a
/// linking step that there is none of. Intel's own placeholders are filled by the driver.
Expected<SmallVector<std::string>> undefinedFunctions(const ElfFile &file,
                                                      ElfFile::Elf_Shdr_Range sections) {
  SmallVector<std::string> undefined;
  for (const ElfFile::Elf_Shdr &section : sections) {
    if (section.sh_type != ELF::SHT_SYMTAB)
      continue;
    Expected<ElfFile::Elf_Sym_Range> symbols = file.symbols(&section);
    if (!symbols)
      return symbols.takeError();
    Expected<StringRef> names = file.getStringTableForSymtab(section);
    if (!names)
      return names.takeError();
    for (const ElfFile::Elf_Sym &symbol : *symbols) {
      Expected<StringRef> name = symbol.getName(*names);
      if (!name)
        return name.takeError();
      if (symbol.isUndefined() && !name->empty() && !name->starts_with("__INTEL_"))
        undefined.push_back(name->str());
    }
  }
  return undefined;
}

Expected<std::optional<std::string>> read(StringRef bytes, ArrayRef<StringRef> kernels,
                                          NativeFacts &facts) {
  Expected<ElfFile> file = ElfFile::create(bytes);
  if (!file)
    return file.takeError();
  if (!file->getHeader().checkMagic() || file->getHeader().e_machine != ELF::EM_INTELGT)
    return "it is for machine " + utostr(file->getHeader().e_machine) + ", expected " +
           utostr(ELF::EM_INTELGT) + " (Intel GPUs)";
  Expected<ElfFile::Elf_Shdr_Range> sections = file->sections();
  if (!sections)
    return sections.takeError();
  std::optional<StringRef> info;
  StringSet<> code;
  for (const ElfFile::Elf_Shdr &section : *sections) {
    Expected<StringRef> name = file->getSectionName(section);
    if (!name)
      return name.takeError();
    bool isCode = name->starts_with(".text.");
    if (!isCode && *name != ".ze_info")
      continue;
    Expected<ArrayRef<uint8_t>> content = file->getSectionContents(section);
    if (!content)
      return content.takeError();
    if (!isCode)
      info = toStringRef(*content);
    else if (!content->empty())
      code.insert(name->drop_front(strlen(".text.")));
  }
  // A module without kernels has neither code nor a description.
  bool isEmpty = !info && code.empty() && kernels.empty();
  if (!isEmpty && (!info || !info->contains("kernels:")))
    return std::string("it has no section .ze_info that lists kernels");
  for (StringRef kernel : kernels)
    if (!code.contains(kernel))
      return ("it has no code for the kernel '" + kernel + "'").str();
  Expected<SmallVector<std::string>> undefined = undefinedFunctions(*file, *sections);
  if (!undefined)
    return undefined.takeError();
  if (!undefined->empty())
    return "it calls functions that the driver does not have: " + join(*undefined, ", ");
  facts.spillBytes = largest(info.value_or(""), "spill_size");
  facts.registers = largest(info.value_or(""), "grf_count");
  return std::nullopt;
}

} // namespace

std::optional<std::string> xetile::readNativeElf(StringRef bytes, ArrayRef<StringRef> kernels,
                                                 NativeFacts &facts) {
  if (!bytes.starts_with(ELF::ElfMagic))
    return "it is not an ELF file";
  Expected<std::optional<std::string>> why = read(bytes, kernels, facts);
  if (!why)
    return "its ELF file is damaged: " + toString(why.takeError());
  return *why;
}
