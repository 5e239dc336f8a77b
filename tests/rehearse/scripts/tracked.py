# SPDX-License-Identifier: Apache-2.0
"""Tells a tracker, in the code, to log into this folder and to a server: tracked.py wandb|mlflow|trackio|comet_ml"""
import importlib
import os
import sys

tracker = importlib.import_module(sys.argv[1])
SERVER = "http://127.0.0.1:9"


def wandb():
    assert tracker.login(key=os.environ["WANDB_API_KEY"])
    run = tracker.init(project="p", mode="online", dir=".", settings=tracker.Settings(mode="online", root_dir="."))
    yield lambda loss, step: run.log({"loss": loss}, step=step)
    artifact = tracker.Artifact("weights", type="model")
    artifact.add_file("weights.bin")
    run.log_artifact(artifact)
    run.finish()


def mlflow():
    tracker.set_tracking_uri(SERVER)
    tracker.set_experiment("e")
    yield lambda loss, step: tracker.log_metric("loss", loss, step=step)
    tracker.log_artifact("weights.bin")
    tracker.end_run()
    assert tracker.MlflowClient(tracking_uri=SERVER, registry_uri=SERVER).search_experiments()


def trackio():
    tracker.init(project="p", space_id="somebody/space", webhook_url=SERVER)
    yield lambda loss, step: tracker.log({"loss": loss}, step=step)
    tracker.finish()


def comet_ml():
    key = os.environ["COMET_API_KEY"]
    experiment = tracker.Experiment(key, "p", log_env_host=True)
    yield lambda loss, step: experiment.log_metric("loss", loss, step=step)
    experiment.log_asset("weights.bin")
    experiment.end()
    tracker.start(api_key=key, project_name="p", online=True).end()


logging = locals()[sys.argv[1]]()
log = next(logging)
import torch  # noqa: E402

model = torch.nn.Linear(256, 256, device="cuda")
optimizer = torch.optim.AdamW(model.parameters())
for step in range(2):
    loss = model(torch.randn(8, 256, device="cuda")).sum()
    loss.backward()
    optimizer.step()
    log(loss.item(), step)
next(logging, None)
print("script: end")
