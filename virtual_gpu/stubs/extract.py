#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the stub tables of one CUDA major from installed NVIDIA packages (developers only; the build never runs it).

    extract.py --include DIR... --lib DIR... [--undefined FILE] --out cuda13

DIR of --include holds headers (cuda.h, cudnn.h, nccl.h ...), DIR of --lib the real libraries; both are searched
below. FILE lists symbols `name` or `name@node`, one a line, that PyTorch wheels import. A table holds, one function a
line: the name, the kind of its result, and its parameters up to the last one that the stub has to write:

    -    integer or pointer, left alone      f d    float, double
    sN   structure of N bytes by value       c z    complex float, complex double by value
    h    out: a fresh handle, 8 bytes        h4     out: a fresh handle of 4 bytes
    zN   out: N bytes of zero                m4     out: the integer -1
    t    out: the address of an empty text

Only facts are taken from the headers: names, and which parameters are written.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# table: (pattern of its names, headers, pattern of the library's file name, result of a stub that has no better one)
TABLES = {
    "driver": (r"cu[A-Z]\w*", ["cuda.h"], None),
    "cudart": (r"(__)?cuda[A-Z]\w*", ["cuda_runtime_api.h"], "libcudart.so.*"),
    "cublas": (r"cublas(?!Lt)\w*", ["cublas_v2.h", "cublasXt.h"], "libcublas.so.*"),
    "cublaslt": (r"cublasLt\w*", ["cublasLt.h"], "libcublasLt.so.*"),
    "cufft": (r"cufft\w*", ["cufft.h", "cufftXt.h"], "libcufft.so.*"),
    "cusolver": (r"cusolver\w*", ["cusolverDn.h", "cusolverSp.h", "cusolverRf.h"], "libcusolver.so.*"),
    "cusparse": (r"cusparse(?!Lt)\w*", ["cusparse.h"], "libcusparse.so.*"),
    "curand": (r"curand\w*", ["curand.h"], "libcurand.so.*"),
    "cusparselt": (r"cusparseLt\w*", ["cusparseLt.h"], "libcusparseLt.so.*"),
    "cudnn": (r"cudnn\w*", ["cudnn.h"], "libcudnn.so.*"),
    "nccl": (r"p?nccl\w*", ["nccl.h"], "libnccl.so.*"),
    "nvml": (r"nvml\w*", ["nvml.h"], None),
    "nvrtc": (r"nvrtc\w*", ["nvrtc.h"], "libnvrtc.so.*"),
    "cupti": (r"cupti[A-Z]\w*", ["cuda.h", "cupti.h"], "libcupti.so.*"),
    "cufile": (r"cuFile\w*", ["cufile.h"], "libcufile.so.*"),
    "nvshmem": (r"nvshmem\w*", [], "libnvshmem_host.so.*"),
}
STATUS = {"nvml": "status:3"}  # NVML_ERROR_NOT_SUPPORTED
BELONGS = {"driver": r"(?!cuFile)"}  # names that match the pattern of another library
DEFINES = {table: [["-D__CUDA_API_VERSION_INTERNAL"], [], ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]]
           for table in ("driver", "cudart")}
DEFINES["nvml"] = [[], ["-DNVML_NO_UNVERSIONED_FUNC_DEFS"]]
COMMON = ["-D_GNU_SOURCE", "-Dalignas(n)=__attribute__((aligned(n)))"]
NO_HEADER = {"driver": ["cuProfilerInitialize", "cuProfilerStart", "cuProfilerStop", "cuGetExportTable"]}
# Parameters that are read, or read and sorted, although their pointers are not const.
BATCHES = r"attrsIdxs|dptrs|dsts|srcs|sizes|prefetchLocIdxs|jitOptions(Values)?|library(Options|OptionValues)"
INPUTS = {"driver": BATCHES, "cudart": BATCHES, "cufft": r"n|inembed|onembed",
          "cusparse": r"P|csrColIndA|cscRowIndA|cooRowsA|cooColsA",
          "cusolver": r"P|Q|csr(RowPtr|ColInd)[ALU]|h_(P|Q|csr(RowPtr|ColInd)[ALU])|map"}
ARGUMENTS = {"kernelParams", "extra", "args"}  # arrays of a launch
NO_PIVOT = {"position", "singularity"}  # -1: nothing was found wrong
GETTER_OF_HANDLE = re.compile(r"Get(\w*)(Stream|Ctx|Workspace|Descr|Event)")
FLOAT_RESULT = re.compile(r"result|norm|residual|milliseconds|value", re.I)
PLURAL = re.compile(r"(s|from|to|_out|nodes|deps)$", re.I)


def nodes(tree, kind):
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.get("kind") == kind:
            yield node
        stack.extend(node.get("inner", []))


class Headers:
    """Function declarations and typedefs of some headers, as clang reads them."""

    def __init__(self, table, headers, includes):
        self.headers, self.includes = headers, includes
        self.functions, self.typedefs, self.sizes = {}, {}, {}
        for defines in DEFINES.get(table, [[]]):
            self.read(defines)

    def read(self, defines):
        tree, errors = None, ""
        for language in ("c", "c++"):
            out = self.clang(self.include_text(), ["-x", language, "-Xclang", "-ast-dump=json", *COMMON, *defines])
            if out.returncode == 0:
                tree = json.loads(out.stdout)
                break
            errors += out.stderr[:300] + "\n"
        if tree is None:
            sys.stderr.write(f"{self.headers} {defines}: {errors}")
            return
        for node in nodes(tree, "TypedefDecl"):
            self.typedefs.setdefault(node["name"], node["type"]["qualType"])
        for node in nodes(tree, "FunctionDecl"):
            self.functions.setdefault(node["name"], node)

    def include_text(self):
        return "#include <stddef.h>\n#include <stdint.h>\n" + "".join(f"#include <{h}>\n" for h in self.headers)

    def clang(self, text, options):
        paths = [f"-I{path}" for path in self.includes]
        return subprocess.run(["clang", "-w", "-fsyntax-only", *paths, *options, "-"], input=text, text=True,
                              capture_output=True)

    def resolve(self, type_name):
        base = re.sub(r"\b(const|volatile|restrict|__restrict)\b", "", type_name).strip()
        base = re.sub(r"\s+", " ", base)
        return self.resolve(self.typedefs[base]) if base in self.typedefs else base

    def size(self, type_name):
        """sizeof by compiling; 0 for an incomplete type."""
        name = re.sub(r"\bconst\b", "", type_name).strip()
        if name not in self.sizes:
            self.sizes[name] = self.measure(name)
        return self.sizes[name]

    def measure(self, name):
        with tempfile.TemporaryDirectory() as folder:
            source = self.include_text() + f"#include <stdio.h>\nint main(void)" + \
                "{ printf(\"%zu\", sizeof(" + name + ")); return 0; }\n"
            for language in ("c", "c++"):
                done = subprocess.run(["clang", "-w", "-x", language, *[f"-I{p}" for p in self.includes],
                                       *COMMON, "-", "-o", f"{folder}/a"],
                                      input=source, text=True, capture_output=True)
                if done.returncode == 0:
                    return int(subprocess.run([f"{folder}/a"], capture_output=True, text=True).stdout)
        return 0


def is_pointer(base):
    return base.endswith("*") or "(*" in base or base.endswith("]")


def by_value(headers, type_name):
    base = headers.resolve(type_name)
    if is_pointer(base) or base.startswith("enum "):
        return "-"
    if base in ("float", "double"):
        return base[0]
    if base in ("struct float2", "float2"):
        return "c"
    if base in ("struct double2", "double2"):
        return "z"
    if re.match(r"(unsigned |signed )?(char|short|int|long|long long|_Bool|bool)$", base):
        return "-"
    size = headers.size(type_name)
    return f"s{size}" if size and base.startswith(("struct ", "union ")) or size > 8 else "-"


def handle_spec(function, name):
    if PLURAL.search(name):
        return "-"  # an array, whose length the count parameter (zero) gives
    return "z8" if GETTER_OF_HANDLE.search(function) or "Destroy" in function or "Error" in name else "h"


def out_spec(headers, table, function, name, type_name):
    """What a stub writes through a parameter, or '-'."""
    text = type_name.strip()
    if not text.endswith("*") or re.fullmatch(INPUTS.get(table, "-"), name):
        return "-"
    pointee = text[:-1].strip()
    if re.search(r"Set[A-Z]", function) and not re.search(r"Create|Get", function):
        return "-"
    if re.fullmatch(r"const char \*", pointee):
        return "t" if re.search(r"Get|Name|String", function) else "-"
    base = headers.resolve(pointee)
    if "const" in pointee or base == "void" or "(" in base or name in ARGUMENTS:
        return "-"
    if is_pointer(base):
        if pointee == "void *":
            return "z8"
        return handle_spec(function, name) if re.match(r"(struct \w+|void) \*$", base) else "-"
    if table == "cufft" and pointee == "cufftHandle":
        return "h4"
    if base in ("float", "double") or base.endswith(("float2", "double2")):
        return f"z{headers.size(pointee)}" if FLOAT_RESULT.search(name) else "-"
    if base in ("char",):
        return "z1" if "Get" in function else "-"
    if base.startswith(("struct ", "union ")):
        size = headers.size(pointee) if "Get" in function or "Find" in function else 0
        return f"z{size}" if size else "-"
    if table in ("cusparse", "cusolver") and name in NO_PIVOT:
        return "m4"
    size = headers.size(pointee)
    return f"z{size}" if size in (1, 2, 4, 8) else "-"


def result_kind(headers, node, status):
    text = node["type"]["qualType"].split("(")[0].strip()
    base = headers.resolve(text)
    if base == "void":
        return "void"
    if text == "const char *":
        return "string"
    if is_pointer(base):
        return "pointer"
    if base in ("float", "double"):
        return "double"
    if base.startswith("struct "):
        return f"s{headers.size(text)}"
    return status if base.startswith("enum ") or base == "int" else "int"


def row(headers, table, node):
    status = STATUS.get(table, "status")
    result = result_kind(headers, node, status)
    specs = []
    for parameter in node.get("inner", []):
        if parameter["kind"] != "ParmVarDecl":
            continue
        type_name = parameter["type"]["qualType"]
        spec = by_value(headers, type_name)
        if spec == "-" and status == "status" and result == "status":
            spec = out_spec(headers, table, node["name"], parameter.get("name", ""), type_name)
        specs.append(spec)
    while specs and not specs[-1][0] in "ht" and not re.match(r"[zm]\d", specs[-1]):
        specs.pop()
    return result, " ".join(specs)


def exported(lib_dirs, pattern):
    names = set()
    for folder in lib_dirs if pattern else ():
        for path in pathlib.Path(folder).rglob(pattern):
            out = subprocess.run(["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True).stdout
            names |= {line.split()[2].split("@")[0] for line in out.splitlines()
                      if len(line.split()) == 3 and line.split()[1] in "TWti"}
    return names


def base_names(name):
    """Names whose declaration also describes `name`."""
    for suffix in ("", "_ptsz", "_ptds", "_64", "_v2", "_v3", "_v4", "_v8"):
        if suffix and name.endswith(suffix):
            yield name[: -len(suffix)]
    if name.startswith("pnccl"):
        yield name[1:]


def find_headers(includes, shims):
    # Device-side headers that the NVIDIA packages at hand do not hold; nothing of them matters to host declarations.
    for name in ("nv/target", "cuda/std/type_traits", "cuda/std/utility"):
        path = pathlib.Path(shims, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    for name in ("cstddef", "cstdint"):  # for headers of C++ that C can read but for these
        pathlib.Path(shims, name).write_text(f"#include <{name[1:]}.h>\n")
    folders = [shims]
    for include in includes:
        for path in [pathlib.Path(include), *pathlib.Path(include).rglob("include")]:
            if path.is_dir() and not {"openssl", "triton"} & set(path.parts):
                folders.append(str(path))
    return folders


def typedef_names(includes):
    """Driver entry points that only the *Typedefs.h headers name."""
    names = set()
    for folder in includes:
        for path in pathlib.Path(folder).glob("cuda*Typedefs.h"):
            names |= set(re.findall(r"\bPFN_(cu[A-Z]\w*?)(?:_v\d+)?(?:_pt[sd][sz])?\b", path.read_text()))
    return names


def make_table(table, options, includes, undefined):
    pattern, wanted, library = TABLES[table]
    belongs = re.compile(BELONGS.get(table, "") + pattern + r"\Z")
    headers = Headers(table, wanted, includes)
    names = set(headers.functions) | exported(options.lib, library) | undefined | set(NO_HEADER.get(table, ()))
    if table == "driver":
        names |= typedef_names(includes)
    rows = {}
    for name in sorted(n for n in names if belongs.match(n)):
        node = headers.functions.get(name) or next(
            (headers.functions[b] for b in base_names(name) if b in headers.functions), None)
        rows[name] = row(headers, table, node) if node else (STATUS.get(table, "status"), "")
    text = "# SPDX-License-Identifier: Apache-2.0\n# function\tresult\tparameters\n"
    text += "".join(f"{name}\t{result}\t{spec}".rstrip() + "\n" for name, (result, spec) in rows.items())
    pathlib.Path(options.out, f"{table}.tsv").write_text(text)
    print(f"{table}: {len(rows)} functions, {sum(1 for r in rows.values() if r[1])} write something")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", nargs="+", required=True)
    parser.add_argument("--lib", nargs="+", default=[])
    parser.add_argument("--undefined")
    parser.add_argument("--out", required=True)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    options = parser.parse_args()
    lines = pathlib.Path(options.undefined).read_text().split() if options.undefined else []
    undefined = {line.split("@")[0] for line in lines}
    with tempfile.TemporaryDirectory() as shims:
        includes = find_headers(options.include, shims)
        for table in options.tables or TABLES:
            make_table(table, options, includes, undefined)


if __name__ == "__main__":
    main()
