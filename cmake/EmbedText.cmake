# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DFOLDER=... -DFILES=... -DTO=... -P: writes files below FOLDER as rows {"name", "text"} for C++.
file(WRITE ${TO} "")
foreach(_file ${FILES})
  file(READ ${FOLDER}/${_file} _text)
  file(APPEND ${TO} "{\"${_file}\", R\"text(${_text})text\"},\n")
endforeach()
