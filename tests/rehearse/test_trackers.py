# SPDX-License-Identifier: Apache-2.0
"""Experiment trackers as published, in an environment that has them: they end, send nothing and write where they may."""
import os
import re
import socketserver
import subprocess
import threading
import zipfile

import pytest

from conftest import SCRIPTS, TRACKERS_PYTHON, needs_trackers, new_files, tree

pytestmark = needs_trackers
KEYS = {"WANDB_API_KEY": "aaaabbbbccccddddeeeeffff0000111122223333", "COMET_API_KEY": "cometcometcomet1234567890",
        "MLFLOW_TRACKING_PASSWORD": "mlflowpassword", "HF_TOKEN": "hf_token_in_environment"}
ARGUMENT = "hf_token_on_the_command_line"
OLD_FILES = ("wandb/settings", "wandb/debug.log", "wandb/run-1/run-1.wandb", "mlruns/0/meta.yaml", "runs/old/events",
             ".netrc", "home/.netrc", "home/.comet.config", "weights.bin")


class Proxy(socketserver.ThreadingTCPServer):
    """Stands for every server on the network; keeps the first line of each request and answers nothing."""
    daemon_threads = True

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            self.server.requests.append(self.rfile.readline())

    def __init__(self):
        self.requests = []
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def variables(self):
        address = f"http://127.0.0.1:{self.server_address[1]}"
        names = ("http_proxy", "https_proxy", "all_proxy")
        return {**dict.fromkeys((*names, *(name.upper() for name in names)), address), "NO_PROXY": "", "no_proxy": ""}


@pytest.fixture
def proxy():
    with Proxy() as server:
        yield server
        server.shutdown()


@pytest.fixture
def tracked(rehearse, tmp_path, proxy):
    """Rehearses a script beside what trackers have left in its folder and home, and checks all that holds for each."""
    for name in OLD_FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# old\n")
    before = tree(tmp_path)

    def run(script, *arguments):
        made = rehearse(command=[TRACKERS_PYTHON, str(SCRIPTS / script), *arguments], flags=["--steps", "all"],
                        environment={**KEYS, **proxy.variables(), "HF_HUB_OFFLINE": "0", "HOME": str(tmp_path / "home"),
                                     "PYTHONDONTWRITEBYTECODE": "1"})
        assert "script: end" in made.stderr, made.stderr[-3000:]
        assert proxy.requests == []
        after = tree(tmp_path)
        assert {name: entry for name, entry in before.items() if after.get(name) != entry} == {}
        assert outside(new_files(before, after)) == {os.path.relpath(path, tmp_path) for path in made.files["created"]}
        assert not holding_secrets(made.directory) and not re.search("|".join(secrets()), made.stderr)
        return made

    return run


def outside(names):
    """The run directory and caches are written as usual."""
    return {name for name in names if not name.startswith(("run1/", "home/.cache/"))}


def secrets():
    return [*KEYS.values(), ARGUMENT]


def holding_secrets(folder):
    """Files of a folder, and of archives in it, that hold a secret."""
    found = []
    for path in folder.rglob("*"):
        texts = []
        if zipfile.is_zipfile(path) and path.is_file():
            with zipfile.ZipFile(path) as archive:
                texts = [archive.read(name) for name in archive.namelist()]
        elif path.is_file():
            texts = [path.read_bytes()]
        if any(secret.encode() in text for secret in secrets() for text in texts):
            found.append(path)
    return found


def test_the_proxy_sees_requests(proxy):
    ask = "import urllib.request; urllib.request.urlopen('https://tracker.example/')"
    subprocess.run([TRACKERS_PYTHON, "-c", ask], env={**os.environ, **proxy.variables()}, capture_output=True, timeout=60)
    assert proxy.requests == [b"CONNECT tracker.example:443 HTTP/1.1\r\n"] or proxy.requests == [
        b"CONNECT tracker.example:443 HTTP/1.0\r\n"]


@pytest.mark.parametrize("tracker, written", [
    ("wandb", "wandb/offline-run-*/run-*.wandb"), ("mlflow", "mlruns/*/*/metrics/loss"),
    ("trackio", "trackio/p.*"), ("comet_ml", "comet/*.zip")])
def test_what_the_code_asks_for_stays_here(tracked, tracker, written):
    run = tracked("tracked.py", tracker, "--hub-token", ARGUMENT)
    assert run.files["created"] == [] and run.files["overwritten"] == []
    assert list((run.directory / "trackers").glob(written)), os.listdir(run.directory / "trackers")


def test_all_trackers_of_a_trainer(tracked):
    run = tracked("reports.py", "wandb", "mlflow", "tensorboard", "trackio", "comet_ml", f"--api-key={ARGUMENT}")
    trackers = run.directory / "trackers"
    for written in ("wandb/offline-run-*/run-*.wandb", "mlruns/*/*/metrics/*", "trackio/*.db", "comet/*.zip"):
        assert list(trackers.glob(written)), written
    assert [name for name in run.files["created"] if "tfevents" in name] == run.files["created"] != []
