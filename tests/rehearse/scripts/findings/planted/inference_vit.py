# SPDX-License-Identifier: Apache-2.0
# Classifies images with a ViT in eval mode; no_grad is missing.
import torch
import torchvision

with torch.device("cuda"):
    model = torchvision.models.VisionTransformer(image_size=224, patch_size=16, num_layers=4, num_heads=12, hidden_dim=768,
                                                 mlp_dim=3072).eval()
classes = []
for batch in range(4):
    images = torch.rand(64, 3, 224, 224, device="cuda")
    classes.append(model(images).argmax(dim=-1))  # fault: inference_without_no_grad
print(torch.cat(classes).shape)
