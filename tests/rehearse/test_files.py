# SPDX-License-Identifier: Apache-2.0
"""What was there before a rehearsal is the same after it, and the script sees its own changes."""
import importlib.util
import json
import os
import sqlite3
import subprocess
import sys

import pytest

from conftest import ROOT, SCRIPTS, TRACKERS_PYTHON, GiB, needs_trackers, new_files, tree, ullage

OLD = "old\n"
USE = "import torch; torch.ones(1, device='cuda')\n"  # a run that never uses the GPU cannot be judged
FILES = """write.txt append.log update.txt truncate.txt exclusive.txt libc_w.txt libc_a.txt delete.txt again.txt over.txt
away.txt temporary.txt checkpoint/a checkpoint/deep/file moved/file kept/file becomes linked.txt target.txt shell.txt
shell_folder/x sed.txt mv.txt bare.txt unnamed.txt mode.txt relative.txt descriptor.txt thread0.txt thread1.txt fork0.txt fork1.txt fork2.txt
fork3.txt""".split()


def make(folder, files):
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(OLD)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "work"
    make(folder, ["last.pt", "model.safetensors", "scripted.pt", "optimizer-0.pt", "log.txt", "old/model.pt"])
    return folder


def changed(before, after):
    return [name for name, entry in before.items() if after.get(name) != entry]


def relative(paths, folder):
    return {os.path.relpath(path, folder) for path in paths}


def test_every_way_to_change_a_file(rehearse, tmp_path):
    folder = tmp_path / "work"
    make(folder, FILES)
    (folder / "map.bin").write_bytes(bytes(10))
    (folder / "latest").symlink_to("target.txt")
    (folder / "through_link.txt").symlink_to("target.txt")
    with sqlite3.connect(folder / "database.db") as database:
        database.execute("create table numbers (x)")
        database.execute("insert into numbers values (1)")
    database.close()
    before = tree(folder)
    run = rehearse("files.py", folder, check=False)
    assert "script: end" in run.stderr, run.stderr
    after = tree(folder)
    assert not changed(before, after)
    assert relative(run.files["created"], folder) - {"../__pycache__"} == new_files(before, after)
    assert {"write.txt", "append.log", "map.bin", "over.txt", "again.txt"} <= relative(run.files["overwritten"], folder)
    assert {"delete.txt", "checkpoint/a", "away.txt"} <= relative(run.files["deleted"], folder)
    assert (run.directory / "files" / "shadow" / str(folder / "write.txt").lstrip("/")).read_text() == "new"


def test_a_checkpoint_is_not_overwritten(rehearse, folder):
    before = tree(folder)
    run = rehearse("save.py", folder, flags=["--steps", "all"])
    assert "script: end" in run.stderr, run.stderr
    after = tree(folder)
    assert not changed(before, after)
    assert new_files(before, after) == {"optimizer-1.pt"} == relative(run.files["created"], folder)
    assert relative(run.files["overwritten"], folder) == {"last.pt", "model.safetensors", "scripted.pt", "optimizer-0.pt",
                                                          "log.txt"}
    assert relative(run.files["deleted"], folder) == {"old/model.pt"}


def test_the_second_run_finds_the_files_as_the_first(rehearse, folder):
    before = tree(folder)
    run = rehearse("save.py", folder, 20 * GiB, flags=["--steps", "all", "--memory", "10GiB"], check=False)
    assert run.verdict == "oom" and run.needed_bytes > 20 * GiB
    after = tree(folder)
    assert not changed(before, after) and new_files(before, after) == {"optimizer-1.pt"}
    found = [(run.directory / name).read_text().splitlines()[0] for name in ("stdout.log", "unlimited/stdout.log")]
    assert found[0].startswith("script: before") and found[0] == found[1]
    moved = run.directory / "files" / "created" / str(folder / "optimizer-1.pt").lstrip("/")
    assert moved.exists() and relative(run.files["created"], folder) == {"optimizer-1.pt"}


def test_allow_writes(rehearse, folder):
    before = tree(folder)
    run = rehearse("save.py", folder, flags=["--steps", "all", "--allow-writes"])
    assert set(changed(before, tree(folder))) >= {"last.pt", "model.safetensors", "log.txt", "old/model.pt"}
    assert not run.files["protected"] and not (run.directory / "files").exists()


OLD_CHECKPOINTS = ["checkpoint-1/model.safetensors", "checkpoint-1/optimizer.pt", "checkpoint-1/trainer_state.json",
                   "checkpoint-2/model.safetensors", "scripted.pt", "log.txt"]


@pytest.mark.parametrize("words", [[], ["--push"], pytest.param(["--push", "--wandb"], marks=needs_trackers)])
def test_a_trainer_rotates_its_checkpoints(rehearse, tmp_path, words):
    """Over Python, safetensors and a C++ writer, with pushes to the hub and a tracker that finds an earlier run here."""
    make(tmp_path, [*(f"output/{name}" for name in OLD_CHECKPOINTS), "wandb/debug.log", "wandb/run-1/run-1.wandb"])
    (tmp_path / "output/checkpoint-1/trainer_state.json").write_text("{}")
    before = tree(tmp_path)
    run = rehearse(command=[TRACKERS_PYTHON if "--wandb" in words else sys.executable, str(SCRIPTS / "trainer_saves.py"),
                            "output", *words], flags=["--steps", "all"],
                   environment={"WANDB_API_KEY": "a" * 40, "XDG_CACHE_HOME": str(tmp_path / "run1/cache")})
    assert "script: checkpoints ['checkpoint-3']" in run.stderr, run.stderr
    after = {name: entry for name, entry in tree(tmp_path).items() if not name.startswith("run1/")}
    assert not changed(before, after)
    created = new_files(before, after)
    assert created == relative(run.files["created"], tmp_path)
    assert {"output/checkpoint-3/model.safetensors", "output/checkpoint-3/optimizer.pt"} <= created
    assert relative(run.files["overwritten"], tmp_path) == {"output/scripted.pt", "output/log.txt"}
    assert {f"output/{name}" for name in OLD_CHECKPOINTS[:4]} <= relative(run.files["deleted"], tmp_path)
    assert any("nothing was sent" in note for note in run.notes) == ("--push" in words)
    assert bool(list(run.directory.glob("trackers/wandb/offline-run-*/run-*.wandb"))) == ("--wandb" in words)


def test_caches_are_written(rehearse, tmp_path):
    cache = tmp_path / "cache"
    make(cache, ["blob", "torch/weights"])
    script = USE + f"import os; open({str(cache / 'blob')!r}, 'w').write('new'); os.remove({str(cache / 'torch/weights')!r})"
    run = rehearse(command=[sys.executable, "-c", script], check=False,
                   environment={"HF_HOME": str(cache), "TORCH_HOME": str(cache / "torch")})
    assert (cache / "blob").read_text() == "new" and not (cache / "torch/weights").exists()
    assert not run.files["created"] and not run.files["overwritten"]


def test_a_full_disk_is_the_scripts_own_error(rehearse, tmp_path):
    (tmp_path / "big").write_bytes(b"x" * 100_000)
    script = (USE + f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))\n"
              f"import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
              f"try: open({str(tmp_path / 'big')!r}, 'r+')\nexcept OSError as error: print('script:', error.errno)")
    run = rehearse(command=[sys.executable, "-c", script], check=False)
    assert "script: 27" in run.stderr and (tmp_path / "big").read_bytes() == b"x" * 100_000


def test_trackers_stay_local(rehearse, tmp_path):
    script = USE + "import os; print('JSON', {k: v for k, v in os.environ.items() if k.startswith(('WANDB', 'MLFLOW'))})"
    run = rehearse(command=[sys.executable, "-c", script], check=False,
                   environment={"WANDB_MODE": "online", "MLFLOW_TRACKING_URI": "https://tracking.example"})
    assert "'WANDB_MODE': 'offline'" in run.stderr and f"file://{run.directory}/trackers/mlruns" in run.stderr


def test_no_secret_is_written_down(rehearse):
    run = rehearse(command=[sys.executable, "-c", USE, "--hub-token", "hf_one", "--api_key=hf_two"],
                   environment={"HF_TOKEN": "hf_three"}, check=False)
    assert run.result["script"][-3:] == ["--hub-token", "***", "--api_key=***"]
    for path in run.directory.rglob("*"):
        if path.is_file():
            assert not any(secret in path.read_bytes() for secret in (b"hf_one", b"hf_two", b"hf_three")), path


def test_the_hook_knows_the_same_secrets():
    """The cases of tests/unit/base/secrets_test.cpp."""
    place = importlib.util.spec_from_file_location("secrets_of_hook", ROOT / "python/ullage/site/ullage_hook/secrets.py")
    hook = importlib.util.module_from_spec(place)
    place.loader.exec_module(hook)
    command = ["train.py", "--token", "hf_1", "--api-key=k", "db.password=p", "--tokenizer", "gpt2", "--use-token", "--lr"]
    shown = ["train.py", "--token", "***", "--api-key=***", "db.password=***", "--tokenizer", "gpt2", "--use-token", "--lr"]
    assert hook.without_secrets(command) == shown
    assert not any(map(hook.names_a_secret, ("--tokenizer", "--max-tokens", "--keys", "--keyboard", "--lr", "", "***")))
    assert all(map(hook.names_a_secret, ("--hf_token", "HF_TOKEN", "wandb.api_key", "passwd", "--secret-access-key")))


def test_the_text_report_names_them(folder, tmp_path):
    words = [ullage(), "rehearse", "--gpu", "t4", "--out", str(tmp_path / "run"), "--", sys.executable, "-c",
             USE + f"open({str(folder / 'new.pt')!r}, 'w'); open({str(folder / 'last.pt')!r}, 'w')"]
    shown = subprocess.run(words, capture_output=True, text=True, timeout=120).stdout
    assert "1 file created" in shown and str(folder / "new.pt") in shown and "not trained" in shown
    assert "1 file kept as before" in shown and str(folder / "last.pt") in shown
    assert json.loads((tmp_path / "run" / "run.json").read_text())["files"]["created"] == [str(folder / "new.pt")]
