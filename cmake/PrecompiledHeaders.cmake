# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The target XeTileHeaders, whose compiled headers every xetile_library uses.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/XeTileHeaders.cpp CONTENT "")
add_library(XeTileHeaders STATIC ${CMAKE_BINARY_DIR}/XeTileHeaders.cpp)
target_precompile_headers(XeTileHeaders PRIVATE ${CMAKE_CURRENT_LIST_DIR}/PrecompiledHeaders.h)
# A file of headers names its own directory: without the time it was made it is the same whenever it is made again,
# but another build directory's copy would not do.
set_target_properties(XeTileHeaders PROPERTIES CXX_COMPILER_LAUNCHER "")
target_compile_options(XeTileHeaders PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
target_link_libraries(XeTileHeaders PRIVATE MLIR LLVM)
xetile_sanitize(XeTileHeaders)
# CMake's own options name the headers' list again, by its full path, which ccache would take for a part of the file.
set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
# ccache takes this file's content for that of the compiled headers, which differ from one build directory to another.
find_library(_libmlir MLIR HINTS ${LLVM_LIBRARY_DIR} NO_CACHE REQUIRED)
file(TIMESTAMP ${_libmlir} _time)
file(SIZE ${_libmlir} _size)
file(SHA256 ${CMAKE_CURRENT_LIST_DIR}/PrecompiledHeaders.h _hash)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/CMakeFiles/XeTileHeaders.dir/cmake_pch.hxx.pch.sum
  CONTENT "${_hash} ${LLVM_PACKAGE_VERSION} ${_time} ${_size} ${CMAKE_CXX_COMPILER_VERSION}\n")
