# SPDX-License-Identifier: Apache-2.0
"""One recording: what is attached to torch, and what is written when. Its errors are counted, never raised."""
import json
import os
import platform
import socket
import sys
import time
import types

from ..endings import chain
from ..gradients import KeptGradients
from ..lines import Lines
from ..owners import Owners
from ..records import Records
from ..secrets import MASK, names_a_secret, without_secrets
from ..setup import Setup
from .figures import Figures
from .folder import make, rank_and_world
from .marking import RecordedPhases
from .meter import Meter
from .problems import Problems, harmless
from .work import Work

RECORDER_VERSION = 1
_STEPS_WITH_OWNERS = 3  # in which tensors are named at each mark: later steps are like them


class Recording:
    """What Phases asks of a session, and the life of a recording: open, marks, close."""

    masks = types.SimpleNamespace(wanted=False)

    def __init__(self, name, config=None, device=None, problems=None, work=None):
        self.name = name
        self.config = config
        self.problems = problems or Problems()
        self.work = work or Work(self.problems)
        self.directory = None
        self.rank = None  # with the number of ranks, where there are several
        self.records = None
        self.meter = Meter(device)
        self.figures = Figures()
        self.companions = []  # each with begin(recording), step_ends(step), end()
        self.phases = RecordedPhases(self.meter.torch, self, self.problems)
        self._owners = None
        self._setup = None
        self._gradients = None
        self._pid = os.getpid()
        self._index = 0
        self._open = False
        self._said_failure = False
        self._device_told = False

    @property
    def active(self):
        return self._open and os.getpid() == self._pid

    # --- the life ---

    @harmless
    def open(self, directory=None):
        """Makes a folder (folder.make) and writes the first records into it."""
        self.rank = rank_and_world()
        self.directory = make(self.name, self.rank, directory)
        self.records = Records(self.directory, "marks.jsonl")
        torch = self.meter.torch
        if torch is not None:
            self._owners = Owners(torch, self.records)
            self._setup = Setup(torch, self.records)
            self._gradients = KeptGradients(self.records, Lines(torch).current)
            self._gradients.attach(torch)
        self._open = True
        self.records.add("process", pid=self._pid, argv=without_secrets(getattr(sys, "orig_argv", sys.argv)), cwd=_folder(),
                         python=platform.python_version(), torch=torch and str(torch.__version__),
                         cuda=torch and torch.version.cuda, hook_version=RECORDER_VERSION)
        self.records.add("recording", name=self.name, host=socket.gethostname(), started=time.time(),
                         config=_without_secret_values(self.config), **self._rank_fields(), **_rehearsal_fields())
        self.problems.write_to(self.records)
        self.work.write_to(self.records)
        self.mark("load_begin")
        for companion in self.companions:
            companion.begin(self)
        self._see_failed_writing()

    def _rank_fields(self):
        return {} if self.rank is None else {"rank": self.rank[0], "world_size": self.rank[1]}

    def close(self, status="ok", error=None):
        """The last records. `error` is the exception that ended what is recorded."""
        if not self.active:
            return
        self.phases.detach()
        if self._gradients is not None:
            self._gradients.detach()
        self._end_companions()
        self._write_end(status, error)
        self._open = False
        self.meter.close()

    @harmless
    def _end_companions(self):
        for companion in self.companions:
            companion.end()

    @harmless
    def _write_end(self, status, error):
        self._tell_missing_device()
        self.mark("run_end", owners=self.phases.step > 0)
        if error is not None:
            status = self._write_exception(error)
        self.records.add("end", status=status, snapshot=os.path.exists(os.path.join(self.directory, "snapshot.pickle")),
                         problems=self.problems.count, first_problem=self.problems.first)
        self._see_failed_writing()
        self.records.close()

    def _write_exception(self, error):
        if isinstance(error, SystemExit) and error.code in (None, 0):
            return "ok"
        kind = getattr(self.meter.torch, "OutOfMemoryError", ())
        found = next((e for e in chain(error) if isinstance(e, kind)), None)
        shown = error if found is None else found
        self.records.add("exception", type=type(shown).__name__, text=str(shown), oom=found is not None)
        return "killed" if isinstance(error, KeyboardInterrupt) else "exception"

    @harmless
    def say_where(self):
        """Once at the end; of several ranks the first speaks for all."""
        if self.rank is None or self.rank[0] == 0:
            shown = self.directory if self.rank is None else os.path.dirname(self.directory)
            steps = self.figures.steps
            sys.stderr.write(f"ullage: recorded {steps} step{'' if steps == 1 else 's'} in {shown}\n")

    def _see_failed_writing(self):
        if self.records.failed not in (None, "closed") and not self._said_failure:
            self._said_failure = True
            self.problems.see("writing marks.jsonl", OSError(self.records.failed))

    def _tell_missing_device(self):
        if not self.meter.sees_device:
            why = f"PyTorch's allocator tells no counters ({self.meter.error})" if self.meter.error else "CUDA was not used"
            self.records.add("note", text=f"{why}: time and host memory are recorded, no device memory")

    @harmless
    def _tell_device(self):
        """Once: which device it is."""
        self._device_told = True
        torch, number = self.meter.torch, self.meter.device
        properties = torch.cuda.get_device_properties(number)
        self.records.add("device", number=number, name=properties.name, total_bytes=properties.total_memory,
                         compute_capability=f"{properties.major}.{properties.minor}",
                         backend=torch.cuda.get_allocator_backend())

    # --- what the phases tell ---

    def mark(self, name, optimizer=None, owners=False, **facts):
        """Writes a boundary; a mark costs little, see bench/record_cost.py."""
        if not self.active:
            return
        counters = self.meter.read()
        self._index += 1
        fields = {"kind": "mark", "index": self._index, "name": name, "step": self.phases.step,
                  "micro_batch": self.phases.micro_batch, "optimizer": optimizer, **facts, **counters}
        self.records.add_text(_encode(fields).encode())
        self.figures.see_mark(counters)
        if self.records.failed is not None:
            self._see_failed_writing()
        if self.meter.sees_device and not self._device_told and name != "load_begin":
            self._tell_device()
        if owners or (self._naming and name != "load_begin"):
            self._write_owners(name)

    @property
    def _naming(self):
        return self._owners is not None and self.figures.steps < _STEPS_WITH_OWNERS

    @harmless
    def _write_owners(self, name):
        if self._owners is not None and self.meter.sees_device:
            self._owners.write_at(self._index, name)
            self.figures.slow()

    @property
    def owners(self):
        return self

    def see_output(self, output):
        if self._naming:
            self._owners.see_output(output)

    def see_forward(self, module, args, kwargs):
        if self._naming:
            self._owners.see_module(module)
            self._owners.see_inputs(args, kwargs or {})
            self._setup.see_forward(module, args, kwargs or {})
            self.work.see_forward(self.meter.torch, module, args, kwargs or {})

    def see_optimizer(self, optimizer):
        if self._naming:
            self._owners.see_optimizer(optimizer)
            self._setup.see_optimizer(optimizer)
            self.work.see_optimizer(optimizer)

    def before_step(self, optimizer):
        if optimizer is not None:
            self.see_optimizer(optimizer)
            self._see_gradients(optimizer)

    @harmless
    def _see_gradients(self, optimizer, stepped=False):
        if self._gradients is None or not self.active:
            return
        if stepped:
            self._gradients.after_step(optimizer, self.phases.passes)
        else:
            self._gradients.before_step(optimizer, self.phases.step, self.phases.passes)

    def after_pass(self):
        pass

    def after_step(self, optimizer):
        step = self.phases.step
        self._see_gradients(optimizer, stepped=True)
        if step == 1:
            self.meter.settle()
        self._write_tokens(step, self.figures.end_step())
        for companion in self.companions:
            companion.step_ends(step)

    def add_tokens(self, tokens, effective):
        """Between two steps they belong to the step before, unless it has its tokens already."""
        late = self.phases.between_steps and self.figures.lacks_tokens
        self.figures.add_tokens(tokens, effective)
        if late:
            self._write_tokens(self.phases.step, self.figures.take_tokens())

    def _write_tokens(self, step, tokens):
        if tokens is not None:
            self.records.add("tokens", step=step, tokens=tokens[0], effective=tokens[1])

    def leave_out(self, step, why):
        """The times of this step are not the training's own."""
        self.records.add("left_out", step=step, why=why)
        self.figures.forget()


_encode = json.JSONEncoder(separators=(",", ":"), default=str).encode


def _rehearsal_fields():
    """Within a rehearsal kernels do nothing, and in its second run the device refuses nothing."""
    return {"rehearsal": True} if os.environ.get("ULLAGE_VGPU_RUN") else {}


def _folder():
    try:
        return os.getcwd()
    except OSError:  # deleted
        return ""


def _without_secret_values(config):
    """The script's settings as they can be written; what a name calls secret is not."""
    if config is not None and not isinstance(config, dict):
        config = getattr(config, "__dict__", config)
    if isinstance(config, dict):
        return {str(key): MASK if names_a_secret(str(key)) else _without_secret_values(value)
                if isinstance(value, dict) else value for key, value in config.items()}
    return config
