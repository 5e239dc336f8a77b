// SPDX-License-Identifier: Apache-2.0
// NCCL: versions, errors, communicators, memory.
#include <atomic>
#include <cstddef>
#include <cstring>
#include <random>

#include "virtual_gpu/nccl/communicator.hpp"

using namespace ullage::vgpu;
using namespace ullage::vgpu::nccl;

namespace {

constexpr int version = 22809;
constexpr int split_no_color = -1;  // NCCL_SPLIT_NOCOLOR
constexpr int first_custom_op = 5;

thread_local std::string last_error;

struct UniqueId {
  char internal[128];
};

int initialise(void** out, int ranks, int rank) {
  if (out == nullptr || ranks < 1 || rank < 0 || rank >= ranks)
    return fail(invalid_argument, "communicator: no place for it, or a rank outside the world");
  if (ranks > 1)
    return fail(invalid_usage, "several ranks (here " + std::to_string(ranks) +
                                   ") are not supported yet by this virtual GPU: run the script as one process");
  *out = handles<Communicator>().create(Communicator{ranks, rank, 0});
  return success;
}

int destroy(void* communicator) {
  return handles<Communicator>().destroy(communicator) ? success : fail(invalid_argument, "unknown communicator");
}

int field(const void* communicator, int Communicator::*member, int* out) {
  if (out == nullptr) return fail(invalid_argument, "null pointer");
  const bool found = handles<Communicator>().with(communicator, [&](Communicator& c) { *out = c.*member; });
  return found ? success : fail(invalid_argument, "unknown communicator");
}

int fresh_handle(const void* communicator, void** out) {
  if (out == nullptr || !known(communicator)) return fail(invalid_argument, "unknown communicator");
  *out = reinterpret_cast<void*>(ullage_machine()->new_handle());
  return success;
}

}  // namespace

namespace ullage::vgpu::nccl {

int fail(int result, std::string text) {
  last_error = std::move(text);
  return result;
}

}  // namespace ullage::vgpu::nccl

extern "C" {

int ncclGetVersion(int* out) {
  if (out == nullptr) return fail(invalid_argument, "null pointer");
  *out = version;
  return success;
}

int ncclGetUniqueId(UniqueId* id) {
  if (id == nullptr) return fail(invalid_argument, "null pointer");
  std::random_device random;
  std::memset(id->internal, 0, sizeof id->internal);
  for (std::size_t i = 0; i < 16; i += sizeof(unsigned)) {
    const unsigned value = random();
    std::memcpy(id->internal + i, &value, sizeof value);
  }
  return success;
}

const char* ncclGetErrorString(int result) {
  const char* const texts[] = {"no error",
                               "unhandled cuda error",
                               "unhandled system error",
                               "internal error",
                               "invalid argument",
                               "invalid usage",
                               "remote process exited or there was a network error",
                               "NCCL operation in progress"};
  return result >= 0 && result < 8 ? texts[result] : "unknown result code";
}

const char* ncclGetLastError(void* /*communicator*/) {
  return last_error.c_str();
}

int ncclCommInitRank(void** out, int ranks, UniqueId /*id*/, int rank) {
  return initialise(out, ranks, rank);
}
int ncclCommInitRankConfig(void** out, int ranks, UniqueId /*id*/, int rank, void* /*config*/) {
  return initialise(out, ranks, rank);
}
int ncclCommInitRankScalable(void** out, int ranks, int rank, int /*ids*/, UniqueId*, void* /*config*/) {
  return initialise(out, ranks, rank);
}
int ncclCommInitAll(void** out, int devices, const int* /*list*/) {
  return initialise(out, devices, 0);
}

int ncclCommSplit(void* communicator, int color, int /*key*/, void** out, void* /*config*/) {
  if (out == nullptr || !known(communicator)) return fail(invalid_argument, "unknown communicator");
  *out = nullptr;
  return color == split_no_color ? success : initialise(out, 1, 0);
}

int ncclCommShrink(void* communicator, int* /*excluded*/, int count, void** out, void* /*config*/, int /*flags*/) {
  if (!known(communicator) || count != 0) return fail(invalid_argument, "nobody can leave a world of one");
  return initialise(out, 1, 0);
}

int ncclCommFinalize(void* communicator) {
  return known(communicator) ? success : fail(invalid_argument, "unknown communicator");
}
int ncclCommDestroy(void* communicator) {
  return destroy(communicator);
}
int ncclCommAbort(void* communicator) {
  return destroy(communicator);
}

int ncclCommGetAsyncError(void* communicator, int* error) {
  if (error == nullptr || !known(communicator)) return fail(invalid_argument, "unknown communicator");
  *error = success;
  return success;
}

int ncclCommCount(void* communicator, int* out) {
  return field(communicator, &Communicator::ranks, out);
}
int ncclCommUserRank(void* communicator, int* out) {
  return field(communicator, &Communicator::rank, out);
}
int ncclCommCuDevice(void* communicator, int* out) {
  return field(communicator, &Communicator::device, out);
}

int ncclCommRegister(void* communicator, void*, std::size_t, void** out) {
  return fresh_handle(communicator, out);
}
int ncclCommDeregister(void*, void*) {
  return success;
}
int ncclCommWindowRegister(void* communicator, void*, std::size_t, void** out, int /*flags*/) {
  return fresh_handle(communicator, out);
}
int ncclCommWindowDeregister(void*, void*) {
  return success;
}

int ncclRedOpCreatePreMulSum(int* op, void*, int, int, void* communicator) {
  static std::atomic<int> next{first_custom_op};
  if (op == nullptr || !known(communicator)) return fail(invalid_argument, "unknown communicator");
  *op = next++;
  return success;
}
int ncclRedOpDestroy(int op, void*) {
  return op >= first_custom_op ? success : fail(invalid_argument, "this reduction was not created");
}

int ncclMemAlloc(void** out, std::size_t bytes) {
  if (out == nullptr) return fail(invalid_argument, "null pointer");
  Address address = 0;
  if (ullage_machine()->allocate(bytes, MemoryKind::device, &address) != Status::ok)
    return fail(unhandled_cuda_error, "out of memory");
  *out = reinterpret_cast<void*>(address);
  return success;
}

int ncclMemFree(void* pointer) {
  if (ullage_machine()->release(reinterpret_cast<Address>(pointer)) == Status::ok) return success;
  return fail(invalid_argument, "this pointer was not allocated here");
}

}  // extern "C"
