# SPDX-License-Identifier: Apache-2.0
"""One rehearsed process: what is attached to torch, and what is written when."""
import atexit
import os
import platform
import sys

from .counters import Counters
from .history import History
from .lines import Lines
from .observations import Observations
from .owners import Owners
from .phases import Phases
from .records import Records
from .steps import StepLimit
from . import values
from .virtual_device import VirtualDevice

HOOK_VERSION = 1


class StopRehearsal(SystemExit):
    """Ends the script after its last wanted step: `finally` and `atexit` run, launchers see success."""

    def __init__(self):
        super().__init__(0)


class Session:
    def __init__(self, torch):
        environment = os.environ
        self._torch = torch
        self._directory = environment["ULLAGE_VGPU_RUN"]
        self.device = VirtualDevice()
        self.records = Records(self._directory)
        self.lines = Lines(torch)
        self.counters = Counters(torch)
        self.owners = Owners(torch, self.records)
        self.history = History(torch, environment.get("ULLAGE_STACKS", "python"),
                               int(environment.get("ULLAGE_MAX_ENTRIES", "1000000")))
        self.steps = StepLimit(environment.get("ULLAGE_STEPS", "auto"))
        self.phases = Phases(torch, self)
        self.observations = Observations(torch, self)
        self.routing = environment.get("ULLAGE_ROUTING", "balanced")
        self._evaluator = None
        self._pid = os.getpid()
        self._index = 0
        self._stopped = False
        self._finished = False
        self._status = "ok"
        self._snapshot_error = None

    # --- attaching ---

    def start(self):
        torch = self._torch
        self.records.add("process", pid=self._pid, argv=list(getattr(sys, "orig_argv", sys.argv)), cwd=os.getcwd(),
                         python=platform.python_version(), torch=torch.__version__, cuda=torch.version.cuda,
                         hook_version=HOOK_VERSION)
        self.mark("load_begin")
        self.phases.attach()
        self.observations.attach()
        self._watch_exceptions()
        # CUDA_VISIBLE_DEVICES with any value shows the one device: without NVML's answer PyTorch asks the runtime.
        torch.cuda._device_count_nvml = lambda: -1
        atexit.register(self._at_exit)
        torch.cuda._lazy_call(self._cuda_ready)

    def _cuda_ready(self):
        """Runs when PyTorch has initialised CUDA, before anything is allocated."""
        try:
            self._attach_to_cuda()
        except Exception as error:  # the script must run whatever happens here
            self.records.add("note", text=f"a part of the hook did not start: {error!r}")

    def _attach_to_cuda(self):
        self.history.start()
        if self.history.stacks != "none":
            self.records.add("history", stacks=self.history.stacks, max_entries=self.history.max_entries, device=0,
                             error=self.history.error, **self.counters.read())
        self._evaluator = values.install(self._torch, self)
        self._torch._C._cuda_attach_out_of_memory_observer(self._out_of_memory)
        self.device.ask_lines_from(self.lines.current)

    def _watch_exceptions(self):
        previous = sys.excepthook

        def hook(kind, error, trace):
            self.see_exception(error)
            previous(kind, error, trace)

        sys.excepthook = hook

    # --- what the phases tell ---

    def mark(self, name, optimizer=None):
        """Writes a boundary; `optimizer` is the class of the optimizer that steps."""
        if self._finished or os.getpid() != self._pid:
            return
        counters = self.counters.read()
        if counters["allocs"] and self.device.owns_run():
            self.records.open()
        self._index += 1
        self.records.add("mark", index=self._index, name=name, step=self.phases.step,
                         micro_batch=self.phases.micro_batch, optimizer=optimizer, **counters)
        self.device.mark(self._index)
        if name != "load_begin":
            self.owners.write(self._index)

    def see_forward(self, module, args, kwargs):
        self.owners.see_module(module)
        self.observations.see_forward(module, args, kwargs or {})

    def see_optimizer(self, optimizer):
        self.owners.see_optimizer(optimizer)

    def before_step(self, optimizer):
        self.owners.see_optimizer(optimizer)
        if self._stopped:  # the script has swallowed the stop
            self._finish()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)

    def after_step(self, optimizer):
        counters = self.counters.read()
        reason = self.steps.stepped(optimizer, counters["peak_allocated"], counters["peak_reserved"])
        if reason is None or not self.device.owns_run():
            return
        self._stopped = True
        self.records.add("stop", reason=reason, steps=self.steps.first_count)
        self._close_run()
        raise StopRehearsal

    # --- failures ---

    def _out_of_memory(self, device, requested, total, free):
        if os.getpid() != self._pid:
            return
        if not self.owners.known:
            self.owners.find_modules()
        self.records.open()
        frame = self.lines.frame(sys._getframe(1))
        line = f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}" if frame else None
        self.records.add("oom", requested_bytes=requested, total_bytes=total, free_bytes=free, step=self.phases.step,
                         micro_batch=self.phases.micro_batch, phase=self.phases.name, text=None, line=line,
                         module=self.phases.module_path(), **self.counters.read())
        self.owners.write(self._index)

    def see_exception(self, error):
        if isinstance(error, StopRehearsal):
            return
        if isinstance(error, KeyboardInterrupt):
            self._status = "killed"
        elif not isinstance(error, SystemExit):
            self._status = "exception"
        oom = isinstance(error, self._torch.OutOfMemoryError)
        self.records.add("exception", type=type(error).__name__, text=str(error), oom=oom)

    # --- the end ---

    def _close_run(self):
        """The last mark and the snapshot, while everything is still alive."""
        if self._finished:
            return
        self.device.stop_asking()
        self.mark("run_end")
        self._finished = True
        owner = self.device.owns_run()
        error = self.history.dump(os.path.join(self._directory, "snapshot.pickle")) if owner else None
        self._snapshot_error = error
        self.device.flush()

    def _finish(self):
        self._close_run()
        self.records.add("end", status=self._status, snapshot=self._snapshot_error is None,
                         snapshot_error=self._snapshot_error, write_error=self.records.failed)
        self.device.flush()

    def _at_exit(self):
        if os.getpid() == self._pid:
            self._finish()
