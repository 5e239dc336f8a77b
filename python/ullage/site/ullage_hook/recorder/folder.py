# SPDX-License-Identifier: Apache-2.0
"""Where a recording is put: a folder of its own, beside those of rehearsals; of several ranks one folder with theirs."""
import contextlib
import os
import re
import sys
import tempfile
import time
import zlib

_TOGETHER = 600  # seconds: ranks that begin later than this after the first do not belong to it
_KEYS = ("SLURM_JOB_ID", "SLURM_STEP_ID", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT")


def runs_root():
    """Where runs without a directory are kept; the same rule as the program's (apps/ullage/evidence/resolve.hpp)."""
    if os.environ.get("XDG_DATA_HOME"):
        return os.path.join(os.environ["XDG_DATA_HOME"], "ullage", "runs")
    if os.environ.get("HOME"):
        return os.path.join(os.environ["HOME"], ".local", "share", "ullage", "runs")
    return os.path.join(tempfile.gettempdir(), "ullage", "runs")


def rank_and_world():
    """Of this process, or None where it is the only one: as the launcher says, else as torch.distributed knows."""
    rank, world = os.environ.get("RANK"), os.environ.get("WORLD_SIZE")
    distributed = sys.modules.get("torch.distributed")
    if rank is None and distributed is not None and distributed.is_available() and distributed.is_initialized():
        rank, world = str(distributed.get_rank()), str(distributed.get_world_size())
    if rank is None or not rank.isdigit() or world == "1":
        return None
    return int(rank), int(world) if world and world.isdigit() else None


def default_name():
    script = sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c") else "python"
    return os.path.splitext(os.path.basename(script))[0]


def make(name, rank, directory=None):
    """The absolute path of a new, empty folder; `rank` is what rank_and_world() gave. Errors: OSError."""
    if directory is not None:
        return _of_rank(directory, rank[0]) if rank else _first_free(directory)
    root = runs_root()
    os.makedirs(root, exist_ok=True)
    label = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:60] or "run"
    if rank is None:
        return _first_free(os.path.join(root, f"{time.strftime('%Y%m%d-%H%M%S')}-{label}"))
    return _in_group(root, label, rank[0])


def _variants(path):
    path = os.path.abspath(path)
    yield path
    for i in range(2, 10000):
        yield f"{path}-{i}"


def _first_free(path):
    """The path itself where it is new or empty; else with a number."""
    for candidate in _variants(path):
        with contextlib.suppress(FileExistsError):
            os.makedirs(candidate)
            return candidate
        if os.path.isdir(candidate) and not os.listdir(candidate):
            return candidate
    raise OSError(f"no free folder beside {path}")


def _of_rank(path, rank):
    """The rank's folder in the first group that does not have it: every rank finds the same one."""
    for candidate in _variants(path):
        with contextlib.suppress(FileExistsError):
            os.makedirs(os.path.join(candidate, f"rank-{rank}"))
            return os.path.join(candidate, f"rank-{rank}")
    raise OSError(f"no free folder beside {path}")


def _in_group(root, label, rank):
    key = "%08x" % zlib.crc32(_launch_key().encode())
    with _locked(root):
        for name in sorted(os.listdir(root), reverse=True):
            if name.endswith(f"-{label}-{key}") and _age(name) < _TOGETHER:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(os.path.join(root, name, f"rank-{rank}"))
                    return os.path.join(root, name, f"rank-{rank}")
        return _of_rank(os.path.join(root, f"{time.strftime('%Y%m%d-%H%M%S')}-{label}-{key}"), rank)


def _launch_key():
    """What the ranks of one launch have in common and others do not."""
    parts = [os.environ.get(key, "") for key in _KEYS]
    if os.environ.get("LOCAL_WORLD_SIZE") == os.environ.get("WORLD_SIZE"):
        parts.append(str(os.getppid()))  # all on this machine, of one launcher
    return "|".join(parts)


def _age(name):
    try:
        return time.time() - time.mktime(time.strptime(name[:15], "%Y%m%d-%H%M%S"))
    except ValueError:
        return float("inf")


@contextlib.contextmanager
def _locked(root):
    """Two ranks must not both find that there is no group yet. Without a lock (a foreign file system) they may."""
    import fcntl

    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(open(os.path.join(root, ".lock"), "a", encoding="ascii"))
            _try_lock(fcntl, file)
        except OSError:
            pass
        yield


def _try_lock(fcntl, file):
    for _ in range(200):
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
