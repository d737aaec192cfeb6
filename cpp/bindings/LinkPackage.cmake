# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DFROM=python/xetile -DTO=<package> -DSCHEDULES=schedules -DLIB=<build>/lib -DBIN=<build>/bin
#   -P LinkPackage.cmake
# Makes TO hold a link to each of FROM's files and folders, to the schedules, to the native libraries as _lib and to
# programs as _bin: what is beside __file__ here is there in an installed package too. FROM's folder mlir is built, not linked.
cmake_minimum_required(VERSION 3.25)
file(MAKE_DIRECTORY ${TO})
file(GLOB _entries RELATIVE ${FROM} ${FROM}/*)
list(REMOVE_ITEM _entries mlir __pycache__)
file(GLOB _old RELATIVE ${TO} ${TO}/*)
foreach(_entry ${_old})
  if(IS_SYMLINK ${TO}/${_entry} AND NOT _entry IN_LIST _entries)
    file(REMOVE ${TO}/${_entry})
  endif()
endforeach()
foreach(_entry ${_entries})
  file(CREATE_LINK ${FROM}/${_entry} ${TO}/${_entry} SYMBOLIC)
endforeach()
file(CREATE_LINK ${SCHEDULES} ${TO}/schedules SYMBOLIC)
file(CREATE_LINK ${LIB} ${TO}/_lib SYMBOLIC)
file(CREATE_LINK ${BIN} ${TO}/_bin SYMBOLIC)
