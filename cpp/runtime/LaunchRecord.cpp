// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LaunchRecord.cpp: what a launch left in a program's own memory.
// Input: a program with a kernel that copies and clears a record; output: the record.
// Refused: a program without that kernel.
#include "LaunchRecord.h"

namespace xetile::runtime {

std::vector<uint32_t> takeRecord(cl_context context, cl_program program, cl_command_queue queue,
                                 const char *kernel, size_t words, const std::string &action) {
  cl_int status = CL_SUCCESS;
  cl_kernel take = clCreateKernel(program, kernel, &status);
  check(status, action);
  std::vector<uint32_t> record(words);
  size_t bytes = words * sizeof(uint32_t), one = 1;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_WRITE_ONLY, bytes, nullptr, &status);
  if (status == CL_SUCCESS)
    status = clSetKernelArg(take, 0, sizeof(cl_mem), &buffer);
  if (status == CL_SUCCESS)
    status = clEnqueueNDRangeKernel(queue, take, 1, nullptr, &one, &one, 0, nullptr, nullptr);
  if (status == CL_SUCCESS)
    status =
        clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, record.data(), 0, nullptr, nullptr);
  if (buffer)
    clReleaseMemObject(buffer);
  clReleaseKernel(take);
  check(status, action);
  return record;
}

} // namespace xetile::runtime
