# xetile_library(NAME sources... [DEPENDS tablegen-targets...] [LINK libs...])
# A static library of the C++ core. It links libMLIR and libLLVM only as shared libraries: a second, static copy would
# bring a second set of type ids (facts: the stock standalone example does that).
function(xetile_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
endfunction()
