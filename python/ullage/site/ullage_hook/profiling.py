# SPDX-License-Identifier: Apache-2.0
"""Traces of torch.profiler say in their metadata that the times of the device are simulated."""
import functools
import json

#: the key and the value in the trace's metadata
KEY = "ullage"
TEXT = "a rehearsal on a virtual GPU: times of kernels, copies and fills are simulated, not measured"


def mark_traces(torch, session):
    """Both profilers of PyTorch begin a trace with this one method."""
    profile = torch.autograd.profiler.profile
    start = getattr(profile, "_start_trace", None)
    if start is None:
        return
    seen = []

    @functools.wraps(start)
    def start_marked(self, *args, **kwargs):
        result = start(self, *args, **kwargs)
        torch.autograd._add_metadata_json(KEY, json.dumps(TEXT))
        if not seen:
            seen.append(True)
            session.records.add("note", text="torch.profiler: device times in its tables and traces are simulated")
        return result

    profile._start_trace = start_marked
