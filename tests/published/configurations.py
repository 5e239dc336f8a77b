# SPDX-License-Identifier: Apache-2.0
"""How to run each published script: which checkout, which command, on which virtual GPU. Where a script cannot be called by
its own command line, what is called instead is written here and said in docs/accuracy.md."""
import shlex

from readings import from_csv, from_nic, from_peaks, from_snapshot

CHECKOUTS = [  # repository, commit, folder
    ("NiuHuangxiaozi/assignment2-systems", "9d868b9b14635370edf772e4c348bb6f17a209f4", "niu"),
    ("silmont2000/assignment2-systems", "75d09aad44d65bcf350114d4beaf1d3a7cde42db", "sil"),
    ("silmont2000/assignment1-basics", "80e56784e6fbbe6cae5588daff98536fa4bebe92", "sil-basics"),
    ("NiccoloSacchi/assignment2-systems", "f9beb544231edca3943057ae06189e0fd41469f0", "nic"),
    ("NiccoloSacchi/assignment1-basics", "6126f6139ddd4c06722e6990c159cd71338118c7", "nic-basics"),
    ("sara-kothari/assignment2-systems", "76956db50971975f4357b94ca96d15a4cbc56b46", "sara"),
    ("EnzoDing-rgb/cs336-assignment2-systems", "9cb4efb6db7b51e93b77f4041212f19f688c03eb", "enzo"),
    ("Wedsonlin/assignment2-systems", "8630bcfe2d6f1c1f4b30a13bd611319d0329ec74", "wed"),
]

PRINT_CSV = "print('CSV BEGIN'); print(pandas.DataFrame(rows).to_csv(index=False), end=''); print('CSV END')"

# Modal runs a function on a rented machine: here its decorators return the function itself.
NO_MODAL = """
import sys, types, pandas
class Anything:
    def __getattr__(self, name): return lambda *a, **k: self
    def __call__(self, *a, **k): return self
class App:
    def __init__(self, *a, **k): pass
    def function(self, *a, **k): return lambda f: f
    def local_entrypoint(self, *a, **k): return lambda f: f
sys.modules['modal'] = types.SimpleNamespace(App=App, Volume=Anything(), Image=Anything(), Secret=Anything())
"""

WSL = ("--address-rule", "wsl")


class Configuration:
    """One call of a script; it may give the figures of several configurations.

    `path`: PYTHONPATH; a checkout's folder is written {name}. `read`: (folder, what was printed) -> {figure: value}.
    `flags`: of rehearse. `profile`: what else the virtual device differs in from the catalogue's `gpu`."""

    def __init__(self, name, gpu, path, command, read, flags=(), profile=""):
        self.name, self.gpu, self.path, self.command = name, gpu, path, command
        self.read, self.flags, self.profile = read, flags, profile

    @property
    def group(self):
        return self.name.split("-")[0]

    def places(self):
        """The checkouts that it needs."""
        return [place for _, _, place in CHECKOUTS if "{" + place + "}" in self.path]

    def shown(self):
        command = self.command if len(self.command[-1]) < 250 else ["-c", f"[{self.name} in configurations.py]"]
        words = [*self.flags, *([self.profile.rstrip(";")] if self.profile else [])]
        return "python " + shlex.join(command) + (f"  [virtual device: {' '.join(words)}]" if words else "")


def configurations():
    return [*_niu(), *_wed(), *_sil(), *_nic(), *_sara(), *_enzo()]


def _niu():
    for mode, stem in (("forward", "forward"), ("both", "forward_and_backward")):
        for length, mixed in ((100, False), (150, False), (200, False), (200, True)):
            name = f"niu-{stem}_{length}" + ("_mixed_precision" if mixed else "")
            script = "profile_mixprecision_memory.py" if mixed else "profile_memory.py"
            command = ["{niu}/cs336_systems/profile_memory/" + script, "--mode", mode, "--context_length", str(length)]
            yield Configuration(name, "l4", "{niu}", command + ["--use_mixed_precision"] * mixed,
                                from_snapshot(name, f"{stem}_memory_snapshot_*.pickle"), WSL, "sm_count=34;")


def _wed():
    for length, pattern, autocast in ((128, "training", "false"), (128, "inference", "false"), (512, "training", "true")):
        name = f"wed-medium_{length}_{pattern}"
        command = ["{wed}/cs336_systems/nsys_profile.py", "--context_length", str(length), "--d_model", "1024", "--d_ff", "4096",
                   "--num_layers", "24", "--num_heads", "16", "--model_name", "medium", "--memory-profile", "true", "--autocast",
                   autocast, "--pattern", {"training": "full-training-step", "inference": "forward-only"}[pattern]]
        yield Configuration(name, "rtx4090", "{wed}:{wed}/cs336-basics", command,
                            from_snapshot(name, "../results/*.pickle"), WSL)


def _sil():
    yield Configuration("sil-attn-trace", "t4", "{sil}", ["-c", (
        "import torch; torch.cuda.memory._record_memory_history(); import cs336_systems.debug_memory as d; d.main(); "
        "torch.cuda.memory._dump_snapshot('attn.pickle')")], from_snapshot("sil-attn-trace", "attn.pickle"))
    for precision in ("fp32", "bf16"):
        # The model that was measured returned a dictionary; the published one returns the logits.
        code = ("import cs336_systems.benchmark as b; "
                "M = b.TransformerLM; b.TransformerLM = type('M', (M,), {'forward': lambda s, x: {'logits': M.forward(s, x)}}); "
                f"b.RECORD_MEM = True; b.benchmark_model('Small', 128, mode='forward', precision='{precision}', num_steps=1)")
        yield Configuration(f"sil-fwd-{precision}", "t4", "{sil}:{sil-basics}", ["-c", code],
                            from_snapshot(f"sil-fwd-{precision}", "memory_forward_*.pickle"))
    yield Configuration("sil-att", "t4", "{sil}:{sil-basics}", ["{sil}/cs336_systems/pytorch_attention_benchmark.py"],
                        from_csv("pytorch_attention_benchmark_compile_False.csv", "sil-att-{d_model}-{seq_len}", {"": "mem_mb"}))


def _nic():
    code = NO_MODAL + "import scripts.benchmark_attention as b; rows = b.run(True); " + PRINT_CSV
    yield Configuration("nic", "t4", "{nic}:{nic-basics}", ["-c", code], from_nic)


def _sara():
    code = NO_MODAL + ("import torch; torch.compile = lambda f, **k: f\n"
                       "import cs336_systems.pytorch_attention as b; rows = b.main(); " + PRINT_CSV)
    yield Configuration("sara-att-eager", "b200", "{sara}:{sara}/cs336_basics_mine", ["-c", code],
                        from_csv(None, "sara-att-eager-{d_model}-{seq_len}", {"": "memory"}))


def _enzo():
    # The script's own suite: its eight cells in one process, one after the other.
    code = ("import pathlib, cs336_systems.memory_profiling.suite as s; "
            "s.ARTIFACTS_ROOT = pathlib.Path('out').resolve(); s.run_suite()")
    yield Configuration("enzo-mem", "a800-80gb", "{enzo}:{enzo}/cs336-basics", ["-c", code], from_peaks)
