# SPDX-License-Identifier: Apache-2.0
"""Convolution nets and what their libraries ask for: torchvision's ResNet-50, a UNet of diffusers, workspaces."""
import importlib.util
import json

import pytest

from conftest import MiB

needs_torchvision = pytest.mark.skipif(not importlib.util.find_spec("torchvision"), reason="torchvision is not there")
needs_diffusers = pytest.mark.skipif(not importlib.util.find_spec("diffusers"), reason="diffusers is not there")
RESNET50_PARAMETERS = 25_557_032  # torchvision's documentation of resnet50


def saved_by_resnet50(batch, size):
    """Bytes that a forward pass in fp32 leaves for the backward pass: outputs of convolutions (for their batch norm) and
    of batch norms (ReLU works in place, additions too), the max pool's output and indices, the pooled features."""
    def activation(channels, extent):
        return batch * channels * extent * extent * 4

    extent = size // 4
    saved = 2 * activation(64, size // 2) + activation(64, extent) * (1 + 2) + batch * 2048 * 4
    for stage, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for block in range(blocks):
            after = extent // 2 if stage > 0 and block == 0 else extent
            saved += 2 * activation(width, extent) + 2 * activation(width, after) + 2 * activation(4 * width, after)
            saved += activation(4 * width, after) if block == 0 else 0  # the shortcut's convolution
            extent = after
    return saved


def check_states(run, parameters, lines):
    """Weights, gradients and states are as many bytes as there are parameters."""
    for line in lines:
        assert run.line(line)["bytes"] == 4 * parameters, line


@needs_torchvision
@pytest.mark.parametrize("arguments", [(), ("--channels-last",), ("--channels-last", "--amp")])
def test_resnet50(rehearse, arguments):
    run = rehearse("resnet50.py", *arguments)
    assert run.verdict == "fits" and run.stop_reason == "auto-steady"
    check_states(run, RESNET50_PARAMETERS, ["parameters.weights", "optimizer_state.momentum_buffer"])
    uses = {w["purpose"]: w for w in run.workspaces}
    assert uses["convolution, forward"]["count"] == 53 * run.steps()
    assert uses["convolution, gradient of the weight"]["count"] == 53 * run.steps()
    assert uses["convolution, gradient of the input"]["count"] == 52 * run.steps()  # not of the images
    assert all(w["low_bytes"] <= w["bytes"] <= w["high_bytes"] for w in run.workspaces)
    # In their own layout tensor cores need no copies.
    assert (uses["convolution, gradient of the input"]["bytes"] == 0) == bool(arguments)


@needs_torchvision
def test_activations_of_resnet50_are_those_that_its_layers_save(rehearse):
    run = rehearse("resnet50.py", "--zero", "zeros", "--steps", 3, flags=["--steps", "3"])
    saved = run.phase("forward", 3)["allocated_bytes"] - run.phase("other", 2)["allocated_bytes"]
    assert saved == pytest.approx(saved_by_resnet50(32, 224), rel=0.01)


@needs_torchvision
def test_resnet50_beside_a_published_trace(rehearse):
    """pytorch/kineto, tb_plugin/samples: ResNet-50, batch 32, fp32, SGD, torch 1.9, a V100. In each of its six steps
    allocated memory rises by 2662.3 MiB. A T4, like a V100, has no tensor cores for fp32."""
    run = rehearse("resnet50.py", "--zero", "zeros", "--steps", 3, flags=["--steps", "3"], gpu="t4")
    rise = run.phase("backward", 3)["peak_allocated_bytes"] - run.phase("other", 2)["allocated_bytes"]
    assert rise == pytest.approx(2662.3 * MiB, rel=0.005)
    check_states(run, RESNET50_PARAMETERS, ["parameters.weights", "gradients", "optimizer_state.momentum_buffer"])


@needs_diffusers
def test_a_unet_of_diffusers(rehearse):
    run = rehearse("diffusion.py", flags=["--steps", "all"])
    assert "script: trained" in run.stderr and run.steps() == 3
    count = next(int(line.split()[-1]) for line in run.stderr.splitlines() if line.startswith("script: parameters"))
    check_states(run, count, ["parameters.weights", "optimizer_state.exp_avg", "optimizer_state.exp_avg_sq"])
    assert {w["purpose"] for w in run.workspaces} >= {"convolution, forward", "convolution, gradient of the weight"}


def test_workspaces_of_convolutions_and_recurrent_nets(rehearse, tmp_path):
    run = rehearse("workspaces.py", tmp_path / "extra.json")
    extra = json.loads((tmp_path / "extra.json").read_text())
    # Tensor cores read NHWC: input and filter are copied, in blocks of PyTorch's (up to 1 MiB stays unsplit).
    copies = 32 * 64 * 56 * 56 * 2 + 64 * 128 * 9 * 2
    assert copies <= extra["contiguous"] <= copies + MiB
    assert extra["channels_last"] == 0
    # Four layers of 320, 2500 steps: LSTM gates, cell and inner outputs; pytorch/pytorch issue 2895 at a tenth.
    assert 73_600_000 <= extra["lstm"] <= 73_600_000 + 2 * MiB
    assert 86_400_000 <= extra["gru"] <= 86_400_000 + 2 * MiB
    assert extra["shape"] == [32, 128, 56, 56]
    assert {"recurrent net, kept for backward", "convolution, forward"} <= {w["purpose"] for w in run.workspaces}
    assert all(w["known_by"] == "estimated" for w in run.workspaces)


def test_the_ends_of_the_range_can_be_rehearsed(rehearse, tmp_path):
    sizes = []
    for end in ("low", "high"):
        rehearse("workspaces.py", tmp_path / f"{end}.json", environment={"ULLAGE_CUDNN_WORKSPACES": end})
        sizes.append(json.loads((tmp_path / f"{end}.json").read_text()))
    assert sizes[0]["contiguous"] <= MiB < 64 * MiB < sizes[1]["contiguous"]
    assert sizes[0]["lstm"] < sizes[1]["lstm"]
