// SPDX-License-Identifier: Apache-2.0
// NCCL collectives in a world of one: the device works, and what a rank sends it receives.
#include <cstddef>
#include <deque>

#include "virtual_gpu/nccl/communicator.hpp"

using namespace ullage::vgpu;
using namespace ullage::vgpu::nccl;

namespace ullage::vgpu::nccl {

std::uint64_t element_bytes(int data_type) {
  constexpr std::uint64_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return data_type >= 0 && data_type < 12 ? bytes[data_type] : 0;
}

}  // namespace ullage::vgpu::nccl

namespace {

struct Buffers {
  const void* send;
  void* receive;
  std::size_t count;
  int data_type;
};

int check(const Buffers& buffers, const void* communicator) {
  if (!known(communicator)) return fail(invalid_argument, "unknown communicator");
  if (element_bytes(buffers.data_type) == 0) return fail(invalid_argument, "unknown data type");
  return success;
}

int collective(const char* function, const Buffers& buffers, const void* communicator, const void* stream) {
  const int result = check(buffers, communicator);
  if (result != success) return result;
  const std::uint64_t bytes = buffers.count * element_bytes(buffers.data_type);
  Machine* machine = ullage_machine();
  machine->collective(function, bytes, 1, stream_id(stream));
  if (bytes > 0 && buffers.send != buffers.receive && buffers.send != nullptr && buffers.receive != nullptr)
    machine->copy(buffers.receive, buffers.send, bytes, stream_id(stream), false);
  return success;
}

/// Sends of this thread that no receive has met yet; a rank may only send to itself here.
thread_local std::deque<Buffers> pending_sends;
thread_local std::deque<Buffers> pending_receives;
thread_local int group_depth = 0;

int join(const void* communicator, const void* stream) {
  while (!pending_sends.empty() && !pending_receives.empty()) {
    const Buffers both{pending_sends.front().send, pending_receives.front().receive, pending_sends.front().count,
                       pending_sends.front().data_type};
    pending_sends.pop_front();
    pending_receives.pop_front();
    const int result = collective("ncclSendRecv", both, communicator, stream);
    if (result != success) return result;
  }
  return success;
}

int peer_to_peer(std::deque<Buffers>* queue, const Buffers& buffers, int peer, const void* communicator,
                 const void* stream) {
  const int result = check(buffers, communicator);
  if (result != success) return result;
  if (peer != 0) return fail(invalid_argument, "this peer is not in the world of one rank");
  queue->push_back(buffers);
  return join(communicator, stream);
}

}  // namespace

extern "C" {

int ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int /*op*/, void* comm, void* stream) {
  return collective("ncclAllReduce", {send, receive, count, type}, comm, stream);
}
int ncclReduce(const void* send, void* receive, std::size_t count, int type, int /*op*/, int /*root*/, void* comm,
               void* stream) {
  return collective("ncclReduce", {send, receive, count, type}, comm, stream);
}
int ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int /*root*/, void* comm,
                  void* stream) {
  return collective("ncclBroadcast", {send, receive, count, type}, comm, stream);
}
int ncclBcast(void* buffer, std::size_t count, int type, int /*root*/, void* comm, void* stream) {
  return collective("ncclBroadcast", {buffer, buffer, count, type}, comm, stream);
}
int ncclAllGather(const void* send, void* receive, std::size_t count, int type, void* comm, void* stream) {
  return collective("ncclAllGather", {send, receive, count, type}, comm, stream);
}
int ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int /*op*/, void* comm,
                      void* stream) {
  return collective("ncclReduceScatter", {send, receive, count, type}, comm, stream);
}
int ncclAlltoAll(const void* send, void* receive, std::size_t count, int type, void* comm, void* stream) {
  return collective("ncclAlltoAll", {send, receive, count, type}, comm, stream);
}
int ncclGather(const void* send, void* receive, std::size_t count, int type, int /*root*/, void* comm, void* stream) {
  return collective("ncclGather", {send, receive, count, type}, comm, stream);
}
int ncclScatter(const void* send, void* receive, std::size_t count, int type, int /*root*/, void* comm, void* stream) {
  return collective("ncclScatter", {send, receive, count, type}, comm, stream);
}
int ncclSend(const void* send, std::size_t count, int type, int peer, void* comm, void* stream) {
  return peer_to_peer(&pending_sends, {send, nullptr, count, type}, peer, comm, stream);
}
int ncclRecv(void* receive, std::size_t count, int type, int peer, void* comm, void* stream) {
  return peer_to_peer(&pending_receives, {nullptr, receive, count, type}, peer, comm, stream);
}

int ncclGroupStart() {
  ++group_depth;
  return success;
}

int ncclGroupEnd() {
  if (group_depth == 0) return fail(invalid_usage, "ncclGroupEnd without ncclGroupStart");
  if (--group_depth > 0 || (pending_sends.empty() && pending_receives.empty())) return success;
  pending_sends.clear();
  pending_receives.clear();
  return fail(invalid_usage, "a group ended with a send or a receive that has no partner");
}

}  // extern "C"
