# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# libMLIR stays as it is: reads and writes in the core's own code are checked, in tools that link it.
option(XETILE_SANITIZE "Build the C++ core with AddressSanitizer and UBSan" OFF)

# Nine tenths of what the compiler does for one of our files is reading MLIR's headers. They are read once, for all.
option(XETILE_PRECOMPILED_HEADERS "Read MLIR's headers once for all files of the C++ core" ON)

# xetile_library(NAME sources... [NO_IR] [DEPENDS tablegen-targets...] [LINK libs...])
# A static library of the C++ core; NO_IR: one that includes no header of MLIR. It links libMLIR and libLLVM only as
# shared libraries: a second, static copy would bring a second set of type ids (facts: the stock standalone example does
# that).
function(xetile_library name)
  cmake_parse_arguments(ARG "NO_IR" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_property(GLOBAL APPEND PROPERTY XETILE_LIBRARIES ${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  xetile_sanitize(${name})
  if(XETILE_PRECOMPILED_HEADERS AND NOT ARG_NO_IR)
    target_precompile_headers(${name} REUSE_FROM XeTileHeaders)
  endif()
endfunction()

function(xetile_sanitize name)
  if(XETILE_SANITIZE)
    # MLIR's classes are built without run-time type information for every user: no vptr checks.
    target_compile_options(${name} PRIVATE
      -fsanitize=address,undefined -fno-sanitize=vptr,function -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    target_link_options(${name} INTERFACE -fsanitize=address,undefined -fno-sanitize=vptr,function)
  endif()
endfunction()
