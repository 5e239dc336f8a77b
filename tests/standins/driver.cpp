// SPDX-License-Identifier: Apache-2.0
// Calls the stand-in libraries as a C program would: handles, settings that must come back, error codes,
// out-parameters.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

extern "C" {
struct Id {
  char internal[128];
};

int cublasCreate_v2(void**);
int cublasDestroy_v2(void*);
int cublasSetStream_v2(void*, void*);
int cublasGetStream_v2(void*, void**);
int cublasSetMathMode(void*, int);
int cublasGetMathMode(void*, int*);
int cublasSetPointerMode_v2(void*, int);
int cublasGetPointerMode_v2(void*, int*);
int cublasSetWorkspace_v2(void*, void*, std::size_t);
int cublasGetVersion_v2(void*, int*);
int cublasSgemm_v2(void*, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*,
                   float*, int);
int cublasGemmStridedBatchedEx(void*, int, int, int, int, int, const void*, const void*, int, int, long long,
                               const void*, int, int, long long, const void*, void*, int, int, long long, int, int,
                               int);

int cublasLtCreate(void**);
int cublasLtMatmulDescCreate(void**, int, int);
int cublasLtMatmulDescSetAttribute(void*, int, const void*, std::size_t);
int cublasLtMatmulDescGetAttribute(void*, int, void*, std::size_t, std::size_t*);
int cublasLtMatmulDescDestroy(void*);
int cublasLtMatrixLayoutCreate(void**, int, std::uint64_t, std::uint64_t, std::int64_t);
int cublasLtMatrixLayoutDestroy(void*);
int cublasLtMatmulPreferenceCreate(void**);
int cublasLtMatmulPreferenceDestroy(void*);
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, void*, int*);
int cublasLtMatmul(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*,
                   void*, void*, const void*, void*, std::size_t, void*);

int cudnnCreate(void**);
int cudnnDestroy(void*);
int cudnnSetStream(void*, void*);
int cudnnGetStream(void*, void**);
std::size_t cudnnGetVersion();
const char* cudnnGetErrorString(int);
int cudnnBackendCreateDescriptor(int, void**);
int cudnnBackendSetAttribute(void*, int, int, std::int64_t, const void*);
int cudnnBackendGetAttribute(void*, int, int, std::int64_t, std::int64_t*, void*);
int cudnnBackendFinalize(void*);
int cudnnBackendDestroyDescriptor(void*);
int cudnnCreateTensorDescriptor(void**);
int cudnnDestroyTensorDescriptor(void*);
int cudnnCreateRNNDescriptor(void**);
int cudnnDestroyRNNDescriptor(void*);
int cudnnSetRNNDescriptor_v8(void*, int, int, int, int, int, int, int, int, int, int, int, int, void*, unsigned);
int cudnnGetRNNWeightSpaceSize(void*, void*, std::size_t*);
int cudnnGetRNNWeightParams(void*, void*, int, std::size_t, const void*, int, void*, void**, void*, void**);

int ncclGetVersion(int*);
int ncclGetUniqueId(Id*);
int ncclCommInitRank(void**, int, Id, int);
int ncclCommDestroy(void*);
int ncclCommCount(void*, int*);
int ncclCommGetAsyncError(void*, int*);
int ncclAllReduce(const void*, void*, std::size_t, int, int, void*, void*);
int ncclSend(const void*, std::size_t, int, int, void*, void*);
int ncclRecv(void*, std::size_t, int, int, void*, void*);
int ncclGroupStart();
int ncclGroupEnd();
int ncclMemAlloc(void**, std::size_t);
int ncclMemFree(void*);
const char* ncclGetLastError(void*);

int cuMemcpyHtoD_v2(std::uint64_t, const void*, std::size_t);
int cuMemcpyDtoH_v2(void*, std::uint64_t, std::size_t);

int nvmlInit_v2();
int nvmlShutdown();
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetHandleByIndex_v2(unsigned, void**);
int nvmlDeviceGetName(void*, char*, unsigned);
int nvmlDeviceGetMemoryInfo(void*, unsigned long long*);
int nvmlDeviceGetGpuFabricInfoV(void*, void*);
int nvmlDeviceGetTopologyCommonAncestor(void*, void*, int*);

int nvrtcCreateProgram(void**, const char*, const char*, int, const char* const*, const char* const*);
int nvrtcAddNameExpression(void*, const char*);
int nvrtcGetLoweredName(void*, const char*, const char**);
int nvrtcDestroyProgram(void**);

int cuptiSubscribe(void**, void*, void*);
int cuptiUnsubscribe(void*);

int cusolverDnCreate(void**);
int cusolverDnSgetrf_bufferSize(void*, int, int, float*, int, int*);
}

namespace {

int failures = 0;

void check(bool holds, const char* text, int line) {
  if (holds) return;
  std::printf("driver.cpp:%d: %s\n", line, text);
  ++failures;
}
#define CHECK(condition) check(condition, #condition, __LINE__)

void test_unique_handles() {
  std::set<void*> seen;
  for (int i = 0; i < 4; ++i) {
    void *blas = nullptr, *lt = nullptr, *dnn = nullptr, *solver = nullptr;
    CHECK(cublasCreate_v2(&blas) == 0 && cublasLtCreate(&lt) == 0 && cudnnCreate(&dnn) == 0);
    CHECK(cusolverDnCreate(&solver) == 0);
    for (void* handle : {blas, lt, dnn, solver}) CHECK(handle != nullptr && seen.insert(handle).second);
    CHECK(cublasDestroy_v2(blas) == 0 && cudnnDestroy(dnn) == 0);
    CHECK(cublasDestroy_v2(blas) == 1 && cudnnDestroy(dnn) == 1001);
  }
}

void test_cublas_settings() {
  void *handle = nullptr, *stream = nullptr;
  int value = -1;
  cublasCreate_v2(&handle);
  CHECK(cublasCreate_v2(nullptr) == 7);
  CHECK(cublasGetStream_v2(handle, &stream) == 0 && stream == nullptr);
  CHECK(cublasSetStream_v2(handle, reinterpret_cast<void*>(2)) == 0);
  CHECK(cublasGetStream_v2(handle, &stream) == 0 && stream == reinterpret_cast<void*>(2));
  CHECK(cublasSetMathMode(handle, 3) == 0 && cublasGetMathMode(handle, &value) == 0 && value == 3);
  CHECK(cublasSetPointerMode_v2(handle, 1) == 0 && cublasGetPointerMode_v2(handle, &value) == 0 && value == 1);
  CHECK(cublasSetWorkspace_v2(handle, nullptr, 0) == 0);
  CHECK(cublasGetVersion_v2(handle, &value) == 0 && value == 130100);
  CHECK(cublasSetMathMode(nullptr, 0) == 1);
  cublasDestroy_v2(handle);
}

void test_cublas_products() {
  void* handle = nullptr;
  cublasCreate_v2(&handle);
  const float one = 1;
  CHECK(cublasSgemm_v2(handle, 0, 0, 4, 5, 6, &one, nullptr, 4, nullptr, 6, &one, nullptr, 4) == 0);
  CHECK(cublasSgemm_v2(handle, 0, 0, -4, 5, 6, &one, nullptr, 4, nullptr, 6, &one, nullptr, 4) == 7);
  CHECK(cublasSgemm_v2(nullptr, 0, 0, 4, 5, 6, &one, nullptr, 4, nullptr, 6, &one, nullptr, 4) == 1);
  CHECK(cublasGemmStridedBatchedEx(handle, 0, 0, 4, 5, 6, &one, nullptr, 14, 4, 24, nullptr, 14, 6, 30, &one, nullptr,
                                   14, 4, 20, 8, 68, -1) == 0);
  cublasDestroy_v2(handle);
}

void test_cublaslt() {
  void *lt = nullptr, *desc = nullptr, *a = nullptr, *preference = nullptr;
  cublasLtCreate(&lt);
  CHECK(cublasLtMatmulDescCreate(&desc, 68, 0) == 0 && cublasLtMatrixLayoutCreate(&a, 14, 8, 8, 8) == 0);
  CHECK(cublasLtMatmulPreferenceCreate(&preference) == 0);
  int transpose = 1, back = 0, count = 0;
  std::size_t written = 0;
  CHECK(cublasLtMatmulDescSetAttribute(desc, 3, &transpose, sizeof transpose) == 0);
  CHECK(cublasLtMatmulDescGetAttribute(desc, 3, &back, sizeof back, &written) == 0 && back == 1 && written == 4);
  unsigned char results[96];
  std::memset(results, 0xff, sizeof results);
  CHECK(cublasLtMatmulAlgoGetHeuristic(lt, desc, a, a, a, a, preference, 1, results, &count) == 0 && count == 1);
  CHECK(results[0] == 0 && results[64] == 0 && results[72] == 0);
  CHECK(cublasLtMatmulAlgoGetHeuristic(lt, desc, a, a, a, a, preference, 0, results, &count) == 7);
  const auto multiply = [&](void* descriptor) {
    return cublasLtMatmul(lt, descriptor, nullptr, nullptr, a, nullptr, a, nullptr, nullptr, a, nullptr, a, nullptr,
                          nullptr, 0, nullptr);
  };
  CHECK(multiply(desc) == 0 && multiply(nullptr) == 7);
  cublasLtMatmulDescDestroy(desc);
  cublasLtMatrixLayoutDestroy(a);
  cublasLtMatmulPreferenceDestroy(preference);
}

void test_cudnn() {
  void *handle = nullptr, *stream = nullptr, *heuristics = nullptr, *config = nullptr;
  cudnnCreate(&handle);
  CHECK(cudnnGetVersion() >= 90000);
  CHECK(cudnnGetErrorString(12345) != nullptr);
  CHECK(cudnnSetStream(handle, reinterpret_cast<void*>(1)) == 0 && cudnnGetStream(handle, &stream) == 0);
  CHECK(stream == reinterpret_cast<void*>(1));
  CHECK(cudnnBackendCreateDescriptor(4, &heuristics) == 0 && cudnnBackendCreateDescriptor(3, &config) == 0);
  CHECK(heuristics != config && cudnnBackendFinalize(heuristics) == 0);
  std::int64_t count = 0, workspace = INT64_MAX, uid = 42;
  CHECK(cudnnBackendGetAttribute(heuristics, 202, 15, 0, &count, nullptr) == 0 && count == 1);
  CHECK(cudnnBackendGetAttribute(heuristics, 202, 15, 1, &count, &config) == 0 && count == 1);
  CHECK(cudnnBackendGetAttribute(config, 303, 3, 1, &count, &workspace) == 0 && workspace == 0);
  CHECK(cudnnBackendSetAttribute(config, 906, 3, 1, &uid) == 0);
  uid = 0;
  CHECK(cudnnBackendGetAttribute(config, 906, 3, 1, &count, &uid) == 0 && count == 1 && uid == 42);
  CHECK(cudnnBackendGetAttribute(config, 302, 15, 1, &count, nullptr) == 0 && count == 0);
  CHECK(cudnnBackendDestroyDescriptor(config) == 0 && cudnnBackendDestroyDescriptor(config) == 2000);
  cudnnBackendDestroyDescriptor(heuristics);
  cudnnDestroy(handle);
}

void test_cudnn_lstm() {
  void *handle = nullptr, *rnn = nullptr, *matrix = nullptr, *bias = nullptr, *w = nullptr, *b = nullptr;
  cudnnCreate(&handle);
  CHECK(cudnnCreateRNNDescriptor(&rnn) == 0 && cudnnCreateTensorDescriptor(&matrix) == 0);
  CHECK(cudnnCreateTensorDescriptor(&bias) == 0);
  CHECK(cudnnSetRNNDescriptor_v8(rnn, 0, 2, 2, 0, 0, 0, 0, 0, 16, 32, 32, 1, nullptr, 0) == 0);
  std::size_t bytes = 0;
  CHECK(cudnnGetRNNWeightSpaceSize(handle, rnn, &bytes) == 0 && bytes == 4 * (4 * 32 * (16 + 32) + 8 * 32));
  char* space = reinterpret_cast<char*>(0x1000);
  CHECK(cudnnGetRNNWeightParams(handle, rnn, 0, bytes, space, 7, matrix, &w, bias, &b) == 0);
  CHECK(w == space + 4 * (4 * 32 * 16 + 3 * 32 * 32) && b == space + bytes - 4 * 32);
  CHECK(cudnnGetRNNWeightParams(handle, rnn, 1, bytes, space, 0, matrix, &w, bias, &b) == 2000);
  cudnnDestroyRNNDescriptor(rnn);
  cudnnDestroyTensorDescriptor(matrix);
  cudnnDestroyTensorDescriptor(bias);
  cudnnDestroy(handle);
}

void write(void* device, std::uint32_t value) {
  cuMemcpyHtoD_v2(reinterpret_cast<std::uint64_t>(device), &value, sizeof value);
}

std::uint32_t read(const void* device) {
  std::uint32_t value = 0;
  cuMemcpyDtoH_v2(&value, reinterpret_cast<std::uint64_t>(device), sizeof value);
  return value;
}

void test_nccl() {
  Id first{}, second{};
  void *comm = nullptr, *pair = nullptr;
  int value = 0;
  CHECK(ncclGetVersion(&value) == 0 && value == 22809);
  CHECK(ncclGetUniqueId(&first) == 0 && ncclGetUniqueId(&second) == 0);
  CHECK(std::memcmp(&first, &second, sizeof first) != 0);
  CHECK(ncclCommInitRank(&pair, 2, first, 0) == 5 &&
        std::strstr(ncclGetLastError(nullptr), "not supported") != nullptr);
  CHECK(ncclCommInitRank(&comm, 1, first, 0) == 0 && ncclCommCount(comm, &value) == 0 && value == 1);
  CHECK(ncclCommGetAsyncError(comm, &value) == 0 && value == 0);
  void *from = nullptr, *to = nullptr;
  CHECK(ncclMemAlloc(&from, 4096) == 0 && ncclMemAlloc(&to, 4096) == 0 && from != to);
  write(from, 9);
  CHECK(ncclAllReduce(from, to, 1, 3, 0, comm, nullptr) == 0 && read(to) == 9);
  CHECK(ncclAllReduce(from, to, 1024, 99, 0, comm, nullptr) == 4 &&
        ncclAllReduce(from, to, 1, 7, 0, from, nullptr) == 4);
  write(from, 5);
  CHECK(ncclGroupStart() == 0 && ncclSend(from, 1, 3, 0, comm, nullptr) == 0);
  CHECK(ncclRecv(to, 1, 3, 0, comm, nullptr) == 0 && ncclGroupEnd() == 0 && read(to) == 5);
  CHECK(ncclGroupEnd() == 5);
  CHECK(ncclMemFree(from) == 0 && ncclMemFree(to) == 0 && ncclMemFree(to) == 4);
  CHECK(ncclCommDestroy(comm) == 0 && ncclCommDestroy(comm) == 4);
}

void test_nvml() {
  unsigned count = 0;
  void* device = nullptr;
  char name[96] = "";
  unsigned long long memory[3] = {};
  int value = 0;
  CHECK(nvmlDeviceGetCount_v2(&count) == 1);
  CHECK(nvmlInit_v2() == 0 && nvmlDeviceGetCount_v2(&count) == 0 && count == 1);
  CHECK(nvmlDeviceGetHandleByIndex_v2(1, &device) == 2 && nvmlDeviceGetHandleByIndex_v2(0, &device) == 0);
  CHECK(nvmlDeviceGetName(device, name, 3) == 7 && nvmlDeviceGetName(device, name, sizeof name) == 0 &&
        name[0] != '\0');
  CHECK(nvmlDeviceGetMemoryInfo(device, memory) == 0 && memory[0] >= memory[1] && memory[0] > 0);
  CHECK(nvmlDeviceGetName(&count, name, sizeof name) == 2);
  CHECK(nvmlDeviceGetGpuFabricInfoV(device, nullptr) == 3);
  CHECK(nvmlDeviceGetTopologyCommonAncestor(device, device, &value) == 3);
  CHECK(nvmlShutdown() == 0 && nvmlShutdown() == 1);
}

void test_others() {
  void *program = nullptr, *subscriber = nullptr, *second = nullptr, *solver = nullptr;
  const char* name = nullptr;
  CHECK(nvrtcCreateProgram(&program, "", "", 0, nullptr, nullptr) == 0);
  CHECK(nvrtcAddNameExpression(program, "f<int>") == 0 && nvrtcGetLoweredName(program, "f<int>", &name) == 0);
  CHECK(name != nullptr && *name != '\0' && nvrtcGetLoweredName(program, "g", &name) == 10);
  CHECK(nvrtcDestroyProgram(&program) == 0 && program == nullptr);
  CHECK(cuptiSubscribe(&subscriber, nullptr, nullptr) == 0 && cuptiSubscribe(&second, nullptr, nullptr) == 39);
  CHECK(cuptiUnsubscribe(subscriber) == 0 && cuptiUnsubscribe(subscriber) == 1);
  int size = 77;
  CHECK(cusolverDnCreate(&solver) == 0 && cusolverDnSgetrf_bufferSize(solver, 4, 4, nullptr, 4, &size) == 0);
  CHECK(size == 0);
}

}  // namespace

int main() {
  test_unique_handles();
  test_cublas_settings();
  test_cublas_products();
  test_cublaslt();
  test_cudnn();
  test_cudnn_lstm();
  test_nccl();
  test_nvml();
  test_others();
  std::printf(failures == 0 ? "all checks hold\n" : "%d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}
