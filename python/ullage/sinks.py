# SPDX-License-Identifier: Apache-2.0
"""Where the metrics of a recording go while it runs: CSV, JSON lines, TensorBoard. Their names are those that torchtitan uses."""
import csv
import json
import sys


#: all that run.metrics() may give
METRICS = ("memory/max_active(GiB)", "memory/max_active(%)", "memory/max_reserved(GiB)", "memory/max_reserved(%)",
           "memory/num_alloc_retries", "memory/num_ooms", "throughput(tps)", "tflops", "mfu(%)", "time_metrics/end_to_end(s)",
           "padding(%)")


class JsonlSink:
    """One JSON object a line, with its `step`."""

    def __init__(self, path):
        self._file = open(path, "a", encoding="utf-8")

    def write(self, step, metrics):
        self._file.write(json.dumps({"step": step, **metrics}) + "\n")
        self._file.flush()

    def close(self):
        self._file.close()


class CsvSink:
    """A table with a column for each of METRICS; what is not known in a row is empty."""

    def __init__(self, path):
        self._file = open(path, "w", encoding="utf-8", newline="")
        self._writer = csv.DictWriter(self._file, ["step", *METRICS], extrasaction="ignore")
        self._writer.writeheader()

    def write(self, step, metrics):
        self._writer.writerow({"step": step, **metrics})
        self._file.flush()

    def close(self):
        self._file.close()


class TensorBoardSink:
    """Scalars for TensorBoard. Where it is not installed, this is said once and nothing is written."""

    def __init__(self, directory):
        try:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(directory)
        except ImportError as error:
            self._writer = None
            sys.stderr.write(f"ullage: no metrics for TensorBoard: {error}\n")

    def write(self, step, metrics):
        if self._writer is not None:
            for name, value in metrics.items():
                self._writer.add_scalar(name, value, step)

    def close(self):
        if self._writer is not None:
            self._writer.close()


class Sinks:
    """Several of them as one whose failures reach nobody: a sink that fails is said once and left out from then on."""

    def __init__(self, sinks, every=1):
        self._sinks = list(sinks or ())
        self._every = max(1, int(every))

    def step(self, step, run):
        """Writes the metrics since the last time, every so many steps."""
        if self._sinks and step % self._every == 0:
            metrics = run.metrics()
            if metrics:
                self._each(lambda sink: sink.write(step, metrics))

    def close(self):
        self._each(lambda sink: sink.close())

    def _each(self, action):
        for sink in list(self._sinks):
            try:
                action(sink)
            except Exception as error:
                self._sinks.remove(sink)
                sys.stderr.write(f"ullage: {type(sink).__name__} failed and is left out: {error!r}\n")
