#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the numbers and sizes that the stand-ins declare against NVIDIA's headers, where those are installed.

    check_against_headers.py --include DIR...

Each row is a constant expression of a header and the value that the source here uses. A header that is not found is
skipped and named; a value that differs is an error.
"""
import argparse
import subprocess
import sys
import tempfile

from extract import COMMON, find_headers

CHECKS = {
    "cublas_v2.h": [
        ("CUBLAS_STATUS_SUCCESS", 0), ("CUBLAS_STATUS_NOT_INITIALIZED", 1), ("CUBLAS_STATUS_INVALID_VALUE", 7),
        ("CUDA_R_32F", 0), ("CUDA_R_64F", 1), ("CUDA_R_16F", 2), ("CUDA_C_32F", 4), ("CUDA_C_64F", 5),
        ("CUDA_R_16BF", 14), ("CUBLAS_COMPUTE_16F", 64), ("CUBLAS_COMPUTE_32F", 68), ("CUBLAS_COMPUTE_64F", 70),
        ("CUBLAS_COMPUTE_32F_FAST_TF32", 77), ("CUBLAS_TF32_TENSOR_OP_MATH", 3), ("CUBLAS_VERSION", 130100),
        ("CUBLAS_OP_N", 0),
    ],
    "cublasLt.h": [
        ("CUBLASLT_MATMUL_DESC_COMPUTE_TYPE", 0), ("CUBLASLT_MATMUL_DESC_TRANSA", 3),
        ("CUBLASLT_MATMUL_DESC_TRANSB", 4), ("CUBLASLT_MATMUL_DESC_EPILOGUE", 7),
        ("CUBLASLT_MATRIX_LAYOUT_TYPE", 0), ("CUBLASLT_MATRIX_LAYOUT_ROWS", 2), ("CUBLASLT_MATRIX_LAYOUT_COLS", 3),
        ("CUBLASLT_MATRIX_LAYOUT_LD", 4), ("CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT", 5),
        ("CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET", 6), ("CUBLASLT_MATRIX_LAYOUT_BATCH_MODE", 8),
        ("sizeof(cublasLtMatmulDescOpaque_t)", 256), ("sizeof(cublasLtMatrixLayoutOpaque_t)", 64),
        ("sizeof(cublasLtMatmulPreferenceOpaque_t)", 64), ("sizeof(cublasLtMatrixTransformDescOpaque_t)", 64),
        ("sizeof(cublasLtMatmulHeuristicResult_t)", 96),
        ("offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize)", 64),
        ("offsetof(cublasLtMatmulHeuristicResult_t, state)", 72), ("sizeof(cublasLtMatmulAlgo_t)", 64),
    ],
    "cudnn.h": [
        ("CUDNN_STATUS_NOT_INITIALIZED", 1001), ("CUDNN_STATUS_BAD_PARAM", 2000),
        ("CUDNN_STATUS_BAD_PARAM_NULL_POINTER", 2002), ("CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH", 201),
        ("CUDNN_ATTR_ENGINEHEUR_RESULTS", 202), ("CUDNN_ATTR_ENGINECFG_ENGINE", 300),
        ("CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE", 303), ("CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED", 304),
        ("CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG", 401), ("CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE", 402),
        ("CUDNN_ATTR_OPERATIONGRAPH_OPS", 801), ("CUDNN_ATTR_TENSOR_DATA_TYPE", 901),
        ("CUDNN_ATTR_TENSOR_DIMENSIONS", 902), ("CUDNN_ATTR_TENSOR_STRIDES", 903),
        ("CUDNN_ATTR_TENSOR_IS_VIRTUAL", 907), ("CUDNN_ATTR_CONVOLUTION_DILATIONS", 102),
        ("CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES", 103), ("CUDNN_FWD_MODE_TRAINING", 1),
        ("CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC", 702), ("CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X", 704),
        ("CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC", 708),
        ("CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W", 709), ("CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX", 710),
        ("CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY", 711),
        ("CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC", 714),
        ("CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW", 715), ("CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X", 716),
        ("CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY", 717),
        ("CUDNN_ATTR_ENGINE_OPERATION_GRAPH", 1300), ("CUDNN_ATTR_ENGINE_GLOBAL_INDEX", 1301),
        ("CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W", 703), ("CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y", 705),
        ("CUDNN_ATTR_OPERATION_MATMUL_ADESC", 1520), ("CUDNN_ATTR_OPERATION_MATMUL_CDESC", 1522),
        ("CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC", 2800), ("CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC", 2801),
        ("CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC", 2851), ("CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC", 2852),
        ("CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR", 10),
        ("CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR", 11),
        ("CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR", 12),
        ("CUDNN_BACKEND_TENSOR_DESCRIPTOR", 17), ("CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR", 19),
        ("CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR", 41), ("CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR", 43),
        ("CUDNN_TYPE_BOOLEAN", 2), ("CUDNN_TYPE_INT64", 3), ("CUDNN_TYPE_DOUBLE", 5), ("CUDNN_TYPE_VOID_PTR", 6),
        ("CUDNN_TYPE_BACKEND_DESCRIPTOR", 15), ("CUDNN_TYPE_CHAR", 24), ("CUDNN_TYPE_FRACTION", 26),
        ("sizeof(cudnnFraction_t)", 16),
        ("CUDNN_DATA_HALF", 2), ("CUDNN_DATA_BFLOAT16", 9), ("CUDNN_DATA_INT64", 10), ("CUDNN_DATA_UINT32", 19),
        ("CUDNN_DATA_COMPLEX_FP32", 20), ("CUDNN_LSTM", 2), ("CUDNN_GRU", 3), ("CUDNN_RNN_NO_BIAS", 0),
        ("CUDNN_RNN_SINGLE_INP_BIAS", 1), ("CUDNN_RNN_DOUBLE_BIAS", 2), ("CUDNN_RNN_SINGLE_REC_BIAS", 3),
        ("sizeof(cudnnConvolutionFwdAlgoPerf_t)", 48), ("sizeof(cudnnConvolutionBwdDataAlgoPerf_t)", 48),
        ("sizeof(cudnnConvolutionBwdFilterAlgoPerf_t)", 48),
    ],
    "nccl.h": [
        ("NCCL_VERSION_CODE", 22809), ("sizeof(ncclUniqueId)", 128), ("ncclUnhandledCudaError", 1),
        ("ncclInvalidArgument", 4), ("ncclInvalidUsage", 5), ("ncclNumResults", 8), ("ncclInt64", 4),
        ("ncclFloat16", 6), ("ncclFloat64", 8), ("ncclBfloat16", 9), ("ncclFloat8e5m2", 11), ("ncclNumOps", 5),
        ("NCCL_SPLIT_NOCOLOR", -1),
    ],
    "nvml.h": [
        ("NVML_ERROR_UNINITIALIZED", 1), ("NVML_ERROR_INVALID_ARGUMENT", 2), ("NVML_ERROR_NOT_SUPPORTED", 3),
        ("NVML_ERROR_NOT_FOUND", 6), ("NVML_ERROR_INSUFFICIENT_SIZE", 7), ("sizeof(nvmlMemory_t)", 24),
        ("sizeof(nvmlMemory_v2_t)", 40), ("sizeof(nvmlUtilization_t)", 8), ("sizeof(nvmlPciInfo_t)", 68),
        ("offsetof(nvmlPciInfo_t, busId)", 36), ("sizeof(nvmlProcessInfo_v1_t)", 16),
        ("sizeof(nvmlProcessInfo_v2_t)", 24), ("sizeof(nvmlProcessInfo_t)", 24), ("NVML_CLOCK_MEM", 2),
        ("NVML_DEVICE_ARCH_TURING", 6), ("NVML_DEVICE_ARCH_AMPERE", 7), ("NVML_DEVICE_ARCH_ADA", 8),
        ("NVML_DEVICE_ARCH_HOPPER", 9), ("NVML_DEVICE_ARCH_BLACKWELL", 10),
    ],
    "nvrtc.h": [
        ("NVRTC_ERROR_INVALID_INPUT", 3), ("NVRTC_ERROR_INVALID_PROGRAM", 4),
        ("NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID", 10),
    ],
    "cupti.h": [
        ("CUPTI_API_VERSION", 130001), ("CUPTI_ERROR_INVALID_PARAMETER", 1), ("CUPTI_ERROR_MAX_LIMIT_REACHED", 12),
        ("CUPTI_ERROR_QUEUE_EMPTY", 18), ("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", 39),
        ("sizeof(CUpti_ActivityKernel10)", 216), ("offsetof(CUpti_ActivityKernel10, start)", 16),
        ("offsetof(CUpti_ActivityKernel10, correlationId)", 92), ("offsetof(CUpti_ActivityKernel10, name)", 104),
        ("offsetof(CUpti_ActivityKernel10, graphNodeId)", 144),
        ("offsetof(CUpti_ActivityKernel10, isDeviceLaunched)", 208), ("sizeof(CUpti_ActivityMemcpy6)", 96),
        ("offsetof(CUpti_ActivityMemcpy6, correlationId)", 44), ("offsetof(CUpti_ActivityMemcpy6, copyCount)", 88),
        ("sizeof(CUpti_ActivityMemset4)", 88), ("offsetof(CUpti_ActivityMemset4, correlationId)", 44),
        ("offsetof(CUpti_ActivityMemset4, memoryKind)", 50), ("sizeof(CUpti_ActivityAPI)", 40),
        ("sizeof(CUpti_ActivityExternalCorrelation)", 24), ("sizeof(CUpti_ActivityCudaEvent2)", 56),
        ("offsetof(CUpti_ActivityCudaEvent2, deviceTimestamp)", 40), ("sizeof(CUpti_ActivitySynchronization2)", 56),
        ("offsetof(CUpti_ActivitySynchronization2, cudaEventSyncId)", 40),
        ("CUPTI_ACTIVITY_KIND_MEMCPY", 1), ("CUPTI_ACTIVITY_KIND_MEMSET", 2), ("CUPTI_ACTIVITY_KIND_DRIVER", 4),
        ("CUPTI_ACTIVITY_KIND_RUNTIME", 5), ("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", 10),
        ("CUPTI_ACTIVITY_KIND_CUDA_EVENT", 36), ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 38),
        ("CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION", 39), ("CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0", 3),
        ("CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", 1),
        ("CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", 2),
        ("CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", 3),
        ("CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", 4),
        ("CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020", 20), ("CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020", 41),
        ("CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020", 51),
        ("CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020", 131),
        ("CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020", 135),
        ("CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020", 147),
        ("CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020", 165),
        ("CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000", 211),
        ("CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000", 311),
        ("CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060", 430), ("CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel", 307),
        ("CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx", 652),
    ],
}


def compile_c(text, includes):
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/check"
        command = ["clang", "-w", "-x", "c", *[f"-I{path}" for path in includes], *COMMON, "-", "-o", program]
        built = subprocess.run(command, input=text, text=True, capture_output=True)
        if built.returncode != 0:
            return None, built.stderr
        return subprocess.run([program], capture_output=True, text=True).stdout.split(), ""


def check(header, rows, includes):
    """Names of the rows whose value differs; None when the header cannot be read."""
    values = "".join(f'printf("%lld\\n", (long long)({expression}));' for expression, _ in rows)
    text = f"#include <stddef.h>\n#include <stdio.h>\n#include <{header}>\nint main(void) {{ {values} return 0; }}\n"
    found, errors = compile_c(text, includes)
    if found is None:
        print(f"{header}: skipped ({errors.splitlines()[0] if errors else 'no compiler'})")
        return None
    wrong = [f"{header}: {e} is {v}, declared {d}" for (e, d), v in zip(rows, found) if int(v) != d]
    print(f"{header}: {len(rows)} values, {len(wrong)} differ")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", nargs="+", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as shims:
        includes = find_headers(options.include, shims)
        results = [check(header, rows, includes) for header, rows in CHECKS.items()]
    wrong = [line for lines in results for line in lines or ()]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
