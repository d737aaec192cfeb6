// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver of Nvidia's GPUs that computes nothing: it writes what it is asked for to the file FAKE_DRIVER_LOG. Memory is the
// host's; FAKE_DRIVER_CAPABILITY is the GPU's (90 by default), FAKE_DRIVER_REFUSES makes it refuse PTX,
// FAKE_DRIVER_OWNS_MEMORY says of all memory that it is the GPU's. What fakeDriverHook is given is called for each launch, with
// the PTX, the kernel's name, six sizes and bytes of shared memory, the parameters; fakeDriverMemory tells what is allocated. A
// tensor map holds what it was made of, which ptx_ring.py reads.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *out(void) {
  static FILE *file;
  if (!file) {
    file = fopen(getenv("FAKE_DRIVER_LOG"), "a");
    setvbuf(file, NULL, _IOLBF, 0);
  }
  return file;
}
static void *current;
static int64_t live;
typedef void (*Hook)(const char *ptx, const char *name, const unsigned *sizes, void **parameters);
typedef struct {
  char *ptx, *name;
} Function;
static Hook hook;
static struct {
  uint64_t start, size;
} memory[1024];
void fakeDriverHook(Hook given) { hook = given; }
int fakeDriverMemory(int number, uint64_t *start, uint64_t *size) {
  return *start = memory[number].start, *size = memory[number].size, number + 1 < 1024;
}

int cuInit(unsigned flags) { return (int)flags; }
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuDeviceGet(int *device, int number) { return *device = number, 0; }
int cuDeviceGetName(char *name, int size, int device) { return snprintf(name, (size_t)size, "Fake %d", device), 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  const char *given = getenv("FAKE_DRIVER_CAPABILITY");
  int capability = given ? atoi(given) : 90;
  *value = attribute == 16 ? 4 : attribute == 75 ? capability / 10 : capability % 10;
  return device;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = &current, device; }
int cuCtxGetCurrent(void **context) { return *context = current, 0; }
int cuCtxSetCurrent(void *context) { return current = context, 0; }
int cuCtxGetDevice(int *device) { return *device = 0, 0; }
int cuCtxSynchronize(void) { return fprintf(out(), "synchronize\n"), 0; }
int cuModuleLoadDataEx(void **module, const void *ptx, unsigned count, int *options, void **values) {
  fprintf(out(), "load %zu bytes\n", strlen(ptx));
  Function *made = calloc(1, sizeof(Function));
  made->ptx = strdup(ptx);
  *module = made;
  if (!getenv("FAKE_DRIVER_REFUSES"))
    return 0;
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == 5)
      strcpy(values[i], "ptxas application ptx input, line 1; error : no such thing");
  return 218;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  fprintf(out(), "function %s\n", name);
  Function *made = malloc(sizeof(Function));
  *made = *(Function *)module;
  made->name = strdup(name);
  return *function = made, 0;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  return fprintf(out(), "attribute %d = %d\n", attribute, value), function == NULL;
}
int cuMemAlloc_v2(uint64_t *pointer, size_t size) {
  *pointer = (uint64_t)aligned_alloc(256, (size + 255) / 256 * 256);
  for (int i = 0; i < 1024; ++i)
    if (!memory[i].start) {
      memory[i].start = *pointer;
      memory[i].size = size;
      break;
    }
  return fprintf(out(), "allocate %zu, %lld live\n", size, (long long)++live), 0;
}
int cuMemFree_v2(uint64_t pointer) {
  for (int i = 0; i < 1024; ++i)
    if (memory[i].start == pointer)
      memory[i].start = memory[i].size = 0;
  free((void *)pointer);
  return fprintf(out(), "free, %lld live\n", (long long)--live), 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) {
  memcpy((void *)to, from, size);
  return fprintf(out(), "copy %zu to device\n", size), 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) {
  memcpy(to, (void *)from, size);
  return fprintf(out(), "copy %zu to host\n", size), 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream) {
  memcpy((void *)to, (void *)from, size);
  return fprintf(out(), "copy %zu on the device, stream %p\n", size, stream), 0;
}
int cuStreamSynchronize(void *stream) { return fprintf(out(), "synchronize stream %p\n", stream), 0; }
int cuMemcpy(uint64_t to, uint64_t from, size_t size) { return memcpy((void *)to, (void *)from, size), 0; }
int cuPointerGetAttribute(void *value, int attribute, uint64_t pointer) {
  (void)pointer;
  if (!getenv("FAKE_DRIVER_OWNS_MEMORY"))
    return 1;
  return *(unsigned *)value = attribute == 2 ? 2 : 0, 0;
}
int cuTensorMapEncodeTiled(void *map, int kind, uint32_t rank, void *address, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                           int swizzle, int promotion, int fill) {
  struct {
    uint64_t address, sizes[5], strides[4];
    uint32_t rank, kind, swizzle, box[5];
  } described = {.address = (uint64_t)address, .rank = rank, .kind = (uint32_t)kind, .swizzle = (uint32_t)swizzle};
  memcpy(described.sizes, sizes, rank * sizeof *sizes);
  memcpy(described.strides, strides, (rank - 1) * sizeof *strides);
  memcpy(described.box, box, rank * sizeof *box);
  memset(map, 0, 128);
  memcpy(map, &described, sizeof described);
  fprintf(out(), "map kind %d rank %u sizes %llu x %llu pitch %llu box %u x %u swizzle %d fill %d aligned %d steps %u\n",
          kind, rank, (unsigned long long)sizes[0], (unsigned long long)sizes[1], (unsigned long long)strides[0], box[0],
          box[1], swizzle, fill, (uint64_t)address % 16 == 0, steps[0] + steps[1] + (unsigned)(interleave + promotion));
  return 0;
}
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
                   unsigned shared, void *stream, void **parameters, void **extra) {
  fprintf(out(), "launch %u x %u x %u of %u x %u x %u, %u bytes", x, y, z, tx, ty, tz, shared);
  if (stream)
    fprintf(out(), ", stream %p", stream);
  fprintf(out(), "\n");
  const unsigned sizes[] = {x, y, z, tx, ty, tz, shared};
  if (hook && function)
    hook(((Function *)function)->ptx, ((Function *)function)->name, sizes, parameters);
  return function == NULL || extra != NULL || *parameters == NULL;
}
int cuGetErrorString(int error, const char **text) { return *text = error == 218 ? "invalid PTX" : "some error", 0; }
