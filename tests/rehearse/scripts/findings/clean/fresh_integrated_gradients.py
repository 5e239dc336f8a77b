# SPDX-License-Identifier: Apache-2.0
# attribution: a frozen model in evaluation mode, no optimizer, and the graph is there for gradients of the input
# true: frozen_activations
from contextlib import nullcontext

import torch
from transformers import ViTConfig, ViTForImageClassification


def integrated_gradients(model, images, classes, steps=4):
    total = torch.zeros_like(images)
    for alpha in torch.linspace(0, 1, steps).tolist():
        point = (images * alpha).requires_grad_()
        score = model(pixel_values=point).logits.gather(1, classes[:, None]).sum()
        total += torch.autograd.grad(score, point)[0]
    return images * total / steps


def predict(model, images, graph=False):
    with nullcontext() if graph else torch.inference_mode():
        return model(pixel_values=images).logits.argmax(1).clone()


config = ViTConfig(hidden_size=384, num_hidden_layers=4, num_attention_heads=6, intermediate_size=1536, num_labels=1000)
model = ViTForImageClassification(config).cuda().eval().requires_grad_(False)
for _ in range(3):
    images = torch.rand(64, 3, 224, 224, device="cuda")
    attribution = integrated_gradients(model, images, predict(model, images).clone())
    heat = attribution.abs().sum(1).cpu()
