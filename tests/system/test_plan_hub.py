# SPDX-License-Identifier: Apache-2.0
"""Models of the hub: its cache on this machine, and the hub itself, played by servers on this machine."""
import contextlib
import http.server
import json
import os
import socket
import subprocess
import threading

import pytest

BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
SMALL = {"model_type": "llama", "vocab_size": 100, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
         "num_attention_heads": 4}
OTHER = {**SMALL, "num_hidden_layers": 3}
PATH = "/some-org/Some-Model.v1/resolve/main/config.json"


class Hub(http.server.BaseHTTPRequestHandler):
    """Answers from server.answers: path -> (status, body or redirect target); keeps what it was asked."""

    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        status, body = self.server.answers.get(self.path, (404, b"no"))
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", body)
            body = b"elsewhere"
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def hub():
    """hub(answers) -> a server with .url and .asked"""
    servers = []

    def serve(answers):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
        server.answers, server.asked = answers, []
        server.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return server

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def plan(name, folder, endpoint="", status=0, **environment):
    keep = {key: value for key, value in os.environ.items() if not key.startswith("HF_") and not key.lower().endswith("_proxy")}
    variables = {**keep, "HOME": str(folder), "XDG_CACHE_HOME": "", "HF_ENDPOINT": endpoint, **environment}
    variables.pop("ULLAGE_GPU", None)
    done = subprocess.run([BIN, "plan", name, "--json"], capture_output=True, text=True, timeout=60, env=variables)
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout)["model"] if status == 0 else done.stderr


def layers(model):
    return model["parameter_list"][1]["repeat"]


def answer(config):
    return 200, json.dumps(config).encode()


def test_a_model_of_the_hub_with_its_token(hub, tmp_path):
    server = hub({PATH: answer(SMALL)})
    model = plan("some-org/Some-Model.v1", tmp_path, server.url + "/", HF_TOKEN=" hf_secret\n")
    assert layers(model) == 2 and model["origin"] == server.url + PATH
    assert server.asked == [(PATH, "Bearer hf_secret")]
    plan("some-org/Some-Model.v1", tmp_path, server.url)
    assert server.asked[-1] == (PATH, None)


def test_the_token_stays_with_its_host(hub, tmp_path):
    other = hub({"/file": answer(OTHER)})
    server = hub({PATH: (307, "/moved"), "/moved": (302, other.url + "/file")})
    assert layers(plan("some-org/Some-Model.v1", tmp_path, server.url, HF_TOKEN="hf_secret")) == 3
    assert server.asked == [(PATH, "Bearer hf_secret"), ("/moved", "Bearer hf_secret")]
    assert other.asked == [("/file", None)]


def test_redirects_end_and_stay_on_the_web(hub, tmp_path):
    assert "redirects without end" in plan("some-org/Some-Model.v1", tmp_path, hub({PATH: (302, PATH)}).url, status=4)
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    away = hub({PATH: (302, f"file://{tmp_path}/config.json")})
    assert "no address of a hub" in plan("some-org/Some-Model.v1", tmp_path, away.url, status=4)


@pytest.mark.parametrize("reply, status, message", [
    ((401, b""), 4, "HF_TOKEN"), ((403, b""), 4, "HF_TOKEN"), ((404, b""), 2, "no configuration of that name"),
    ((500, b""), 4, "HTTP 500"), ((200, b"<html>"), 3, "not JSON"), ((200, b"x" * (5 << 20)), 4, "too large")])
def test_refusals(hub, tmp_path, reply, status, message):
    stderr = plan("some-org/Some-Model.v1", tmp_path, hub({PATH: reply}).url, status=status, HF_TOKEN="hf_secret")
    assert message in stderr and PATH in stderr and "hf_secret" not in stderr


def test_no_hub_there(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        stderr = plan("some-org/Some-Model.v1", tmp_path, f"http://127.0.0.1:{unused.getsockname()[1]}", status=4)
    assert "cannot be reached" in stderr and "HF_ENDPOINT" in stderr


def test_a_mistyped_id_gets_a_suggestion(hub, tmp_path):
    assert "did you mean 'meta-llama/Llama-3.1-8B'" in plan("meta-lama/Llama-3.1-8B", tmp_path, hub({}).url, status=2)


@pytest.mark.parametrize("name", ["llama-3.1-8b", "meta-llama/Llama-3.1-8B"])
def test_the_catalogue_comes_before_the_hub(hub, tmp_path, name):
    server = hub({})
    plan(name, tmp_path, server.url)
    assert server.asked == []


@pytest.mark.parametrize("name", ["gpt5", "a/b/c", "../etc", "a/..", "a b/c", "-a/b"])
def test_what_is_no_id_is_not_asked_for(hub, tmp_path, name):
    server = hub({})
    if not name.startswith("-"):
        plan(name, tmp_path, server.url, status=4 if name.startswith(".") else 2)
    assert server.asked == []


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_offline_is_offline(hub, tmp_path, variable):
    server = hub({PATH: answer(SMALL)})
    stderr = plan("some-org/Some-Model.v1", tmp_path, server.url, status=2, **{variable: "1"})
    assert "may not be asked" in stderr and server.asked == []
    assert layers(plan("some-org/Some-Model.v1", tmp_path, server.url, **{variable: "0"})) == 2


def cached(cache, commit, config, main=None):
    model = cache / "models--some-org--Some-Model.v1"
    (model / "snapshots" / commit).mkdir(parents=True)
    (model / "snapshots" / commit / "config.json").write_text(json.dumps(config))
    if main:
        (model / "refs").mkdir(exist_ok=True)
        (model / "refs" / "main").write_text(main)


def test_the_cache_comes_before_the_hub(hub, tmp_path):
    server = hub({PATH: answer(SMALL)})
    cached(tmp_path / ".cache/huggingface/hub", "aaa", OTHER)
    assert layers(plan("some-org/Some-Model.v1", tmp_path, server.url)) == 3
    assert server.asked == []


def test_the_cache_is_where_the_environment_says(tmp_path):
    cached(tmp_path / "home/hub", "aaa", OTHER)
    assert layers(plan("some-org/Some-Model.v1", tmp_path, HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path / "home"))) == 3
    assert layers(plan("some-org/Some-Model.v1", tmp_path, HF_HUB_OFFLINE="1", HF_HUB_CACHE=str(tmp_path / "home/hub"))) == 3
    plan("some-org/Some-Model.v1", tmp_path, HF_HUB_OFFLINE="1", status=2)


def test_the_main_revision_of_the_cache_holds(tmp_path):
    cache = tmp_path / ".cache/huggingface/hub"
    cached(cache, "aaa", OTHER, main="aaa")
    cached(cache, "bbb", SMALL)
    assert layers(plan("some-org/Some-Model.v1", tmp_path, HF_HUB_OFFLINE="1")) == 3
    (cache / "models--some-org--Some-Model.v1/refs/main").write_text("../../elsewhere")
    assert layers(plan("some-org/Some-Model.v1", tmp_path, HF_HUB_OFFLINE="1")) == 2
