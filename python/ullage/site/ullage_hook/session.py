# SPDX-License-Identifier: Apache-2.0
"""One rehearsed process: what is attached to torch, and what is written when."""
import atexit
import os
import platform
import sys

from . import values
from .compiler import Compiler
from .counters import Counters
from .endings import Endings
from .history import History
from .gradients import KeptGradients
from .host import Host
from .lines import Lines
from .observations import Observations
from .masks import Masks
from .operators import Operators
from .owners import Owners
from .phases import Phases
from .profiling import mark_traces
from .records import Records
from .secrets import without_secrets
from .setup import Setup
from .steps import StepLimit
from .undisturbed import undisturbed
from .virtual_device import VirtualDevice

HOOK_VERSION = 1


class Session:
    def __init__(self, torch):
        environment = os.environ
        self._torch = torch
        self._directory = environment["ULLAGE_VGPU_RUN"]
        self._settings = (environment.get("ULLAGE_STACKS", "python"), _number(environment.get("ULLAGE_MAX_ENTRIES"), 1000000))
        self._operators_wanted = environment.get("ULLAGE_OPERATORS", "off")
        self._wanted_steps = environment.get("ULLAGE_STEPS", "auto")
        self.routing = environment.get("ULLAGE_ROUTING", "balanced")
        self.lines = Lines(torch)
        self._reset()

    def _reset(self):
        """The state of one process; a fork starts anew."""
        torch = self._torch
        self.device = VirtualDevice()
        self.records = Records(self._directory)
        self.counters = Counters(torch)
        self.owners = Owners(torch, self.records)
        self.setup = Setup(torch, self.records)
        self.history = History(torch, *self._settings)
        self.steps = StepLimit(self._wanted_steps)
        self.endings = Endings(torch, self)
        self.host = Host(torch, self)
        self.gradients = KeptGradients(self.records, self.lines.current)
        self.operators = Operators(torch, self.records, self.device, self.host.apart)
        self._pid = os.getpid()
        self._index = 0
        self._stopped = False
        self._finished = False
        self._snapshot_error = None

    # --- attaching ---

    def start(self):
        torch = self._torch
        self.phases = Phases(torch, self)
        self.observations = Observations(torch, self)
        self.masks = Masks(torch, self)
        self.compiler = Compiler(torch)
        self.phases.attach()
        self.observations.attach()
        self.operators.attach()
        self.compiler.attach()
        self.endings.attach()
        mark_traces(torch, self)
        self.host.attach()
        self.gradients.attach(torch, lambda: self.gradients)
        # CUDA_VISIBLE_DEVICES with any value shows the one device: without NVML's answer PyTorch asks the runtime.
        torch.cuda._device_count_nvml = lambda: -1
        atexit.register(self.finish)
        os.register_at_fork(after_in_child=self._after_fork)
        torch.cuda._lazy_call(self._cuda_ready)
        self._begin()

    def _begin(self):
        torch = self._torch
        self.records.add("process", pid=self._pid, argv=without_secrets(getattr(sys, "orig_argv", sys.argv)), cwd=_folder(),
                         python=platform.python_version(), torch=torch.__version__, cuda=torch.version.cuda,
                         hook_version=HOOK_VERSION)
        self.mark("load_begin")

    def _after_fork(self):
        """A child that has not used CUDA may train; one of a process that has cannot use it at all."""
        if self._torch.cuda.is_initialized():
            return
        self._reset()
        self.phases.reset()
        self.endings.adopt()

    def _cuda_ready(self):
        """Runs when PyTorch has initialised CUDA, before anything is allocated. Nothing here may fail the script."""
        if self._index == 0:  # a fork's first use
            self._begin()
        for part in (self._see_allocator, self._start_history, self._start_operators, self._watch_memory, self._start_values):
            self._attempt(lambda: self.host.measure(part), f"a part of the hook did not start ({part.__name__})")

    def _see_allocator(self):
        backend = self._torch.cuda.get_allocator_backend()
        if os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING"):
            backend = "uncached"
        self.records.add("allocator", backend=backend)

    def _start_history(self):
        self.history.start()
        if self.history.stacks != "none":
            self.records.add("history", stacks=self.history.stacks, max_entries=self.history.max_entries, device=0,
                             error=self.history.error, **self.counters.read())

    def _start_operators(self):
        if self._operators_wanted != "off":
            self.operators.start(self.counters.read()["allocs"], shapes=self._operators_wanted == "shapes")

    def _watch_memory(self):
        self._torch._C._cuda_attach_out_of_memory_observer(self._out_of_memory)
        self.device.ask_lines_from(self.lines.current)
        if os.environ.get("ULLAGE_UNLIMITED") == "1":  # the script's own limit would hide its need
            self._torch.cuda.set_per_process_memory_fraction = lambda *args, **kwargs: None

    def _start_values(self):
        values.install(self._torch, self)

    # --- what the phases tell ---

    @property
    def active(self):
        return not self._finished and os.getpid() == self._pid

    def mark(self, name, optimizer=None, **facts):
        """Writes a boundary; `optimizer` is the class of the optimizer that steps."""
        if not self.active:
            return
        if self._index == 0 and name != "load_begin":
            self._begin()
        counters = self.counters.read()
        if self.device.owns_run():
            self.records.own()
        self._index += 1
        self.records.add("mark", index=self._index, name=name, step=self.phases.step,
                         micro_batch=self.phases.micro_batch, optimizer=optimizer, **facts, **counters)
        self.device.mark(self._index)
        self._see_host(name)
        if name != "load_begin":
            self.owners.write_at(self._index, name)
        self.operators.see_mark(counters["allocs"], self.steps.first_count)

    def _see_host(self, name):
        if name == "optimizer_end":
            self.host.step_ends(self.phases.step)
        elif name == "run_end":
            self.host.step_ends(0 if self.phases.between_steps else self.phases.step)
        self.host.look(at_the_end=name == "run_end")

    def see_forward(self, module, args, kwargs):
        self.owners.see_module(module)
        self.owners.see_inputs(args, kwargs or {})
        self.operators.see_module(module)
        self.observations.see_forward(module, args, kwargs or {})
        self.setup.see_forward(module, args, kwargs or {})
        self.masks.wanted = True
        self.see_masks(module, args, kwargs)

    def see_masks(self, module, args, kwargs):
        self._attempt(lambda: self.masks.see_forward(module, args, kwargs or {}), "a mask of padding could not be read")

    def see_optimizer(self, optimizer):
        self.owners.see_optimizer(optimizer)

    def before_step(self, optimizer):
        if optimizer is not None:
            self.owners.see_optimizer(optimizer)
            self.setup.see_optimizer(optimizer)
            self._attempt(lambda: self.gradients.before_step(optimizer, self.phases.step, self.phases.passes),
                          "whether gradients are given up is not known")
        if self._stopped:  # the script has swallowed the stop
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)

    def after_step(self, optimizer):
        self._attempt(lambda: self.gradients.after_step(optimizer, self.phases.passes),
                      "whether gradients are given up is not known")
        counters = self.counters.read()
        reason = self.steps.stepped(optimizer, counters["peak_allocated"], counters["peak_reserved"])
        self._stop(reason)

    def after_pass(self):
        """A backward pass is over. Where no optimizer exists, the passes themselves are the run's pattern."""
        if self.steps.first_count > 0 or self._stopped or not self.device.owns_run():
            return
        counters = self.counters.read()
        reason = self.steps.passed(counters["peak_allocated"], counters["peak_reserved"])
        if reason is not None and not self.owners.optimizer_exists():
            self._stop(reason)

    def _stop(self, reason):
        if reason is None or not self.device.owns_run():
            return
        self._stopped = True
        self.records.add("stop", reason=reason, steps=self.steps.first_count)
        self._close_run()
        self.endings.stop()

    # --- out of memory ---

    def _out_of_memory(self, device, requested, total, free):
        """Called by the allocator before it raises; an error here would replace PyTorch's."""
        if self.active:
            self._attempt(lambda: self._record_out_of_memory(requested, total, free),
                          "an OutOfMemoryError was seen without its place")

    def _record_out_of_memory(self, requested, total, free):
        if self.device.owns_run():
            self.records.own()
        frame = self.lines.frame(sys._getframe()) or self.lines.frame(self.phases.backward_frame())
        line = f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}" if frame else None
        self.records.add("oom", requested_bytes=requested, total_bytes=total, free_bytes=free, step=self.phases.step,
                         micro_batch=self.phases.micro_batch, phase=self.phases.name, text=None, line=line,
                         module=self.phases.module_path(), **self.counters.read())
        if not self.owners.known:
            self.owners.find_modules()
        self.owners.write(self._index)

    # --- the end ---

    def _close_run(self):
        """The last mark and the snapshot, while everything is still alive; what comes later is not the run's."""
        if self._finished:
            return
        self.device.stop_asking()
        self._attempt(self._find_modules, "modules that were never called could not be found")
        self.mark("run_end")
        self._attempt(self._see_compiler, "what torch.compile did is not known")
        self._finished = True
        owner = self.device.owns_run()
        if owner:
            self._attempt(lambda: self.owners.write_holders(self._index), "objects that hold tensors could not be found")
        self._snapshot_error = self.history.dump(os.path.join(self._directory, "snapshot.pickle")) if owner else None
        error = self.operators.write(os.path.join(self._directory, "operators.json")) if owner else self.operators.abandon()
        if error is not None:
            self.records.add("note", text=f"the operators could not be written: {error}")
        self.device.close_log()

    def _see_compiler(self):
        facts = self.compiler.facts()
        if facts is not None:
            self.records.add("compiler", **facts)

    def _find_modules(self):
        if self.device.owns_run():
            self.owners.find_modules()

    def _attempt(self, action, problem):
        """Nothing of the hook may fail the script: an exception becomes a note."""
        try:
            action()
        except Exception as error:
            self.records.add("note", text=f"{problem}: {error!r}")

    def finish(self):
        """Once per process: at exit, or in front of os._exit. A second Ctrl-C does not cost what is recorded."""
        with undisturbed():
            self._finish()

    def _finish(self):
        if os.getpid() != self._pid or self.endings.done:
            return
        self._close_run()
        self.endings.done = True
        self.endings.see_last_exception()
        self.records.add("end", status=self.endings.status, snapshot=self._snapshot_error is None,
                         snapshot_error=self._snapshot_error, write_error=self.records.failed)
        if not self.device.owns_run():
            self.records.drop()
        elif self.steps.first_count == 0 and self.endings.status == "ok":
            self._pass_on()

    def _pass_on(self):
        """This process only looked at the device: the one that trains may come after it."""
        folder = os.path.join(self._directory, f"process-{self._pid}")
        try:
            os.makedirs(folder, exist_ok=True)
            for name in ("device.ulog", "snapshot.pickle", "operators.json"):
                if os.path.exists(os.path.join(self._directory, name)):
                    os.replace(os.path.join(self._directory, name), os.path.join(folder, name))
            self.records.disown(os.path.basename(folder))
            os.unlink(os.path.join(self._directory, "owner"))
        except OSError:
            pass  # a full or vanished directory: the launcher says what is missing


def _number(text, fallback):
    try:
        return int(text)
    except (TypeError, ValueError):
        return fallback


def _folder():
    try:
        return os.getcwd()
    except OSError:  # deleted
        return ""
