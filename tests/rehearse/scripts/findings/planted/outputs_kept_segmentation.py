# SPDX-License-Identifier: Apache-2.0
# A segmentation net that keeps the last step's probabilities for a picture, at full size on the GPU.
# true: full_logits
import torch
from torch import nn
from torch.nn import functional as F

def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

def train_step(model, optimizer, images, masks):
    scores = model(images)
    loss = F.cross_entropy(scores, masks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return scores.detach().softmax(dim=1)  # fault: outputs_kept


model = nn.Sequential(stage(3, 32), nn.MaxPool2d(4), stage(32, 64), nn.Conv2d(64, 40, 1),
                      nn.Upsample(scale_factor=4, mode="bilinear")).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(1000):
    images = torch.rand(8, 3, 512, 512, device="cuda")
    masks = torch.randint(40, (8, 512, 512), device="cuda")
    probabilities = train_step(model, optimizer, images, masks)  # fault: outputs_kept
    if (step + 1) % 100 == 0:
        torch.save(probabilities[0].cpu(), f"picture{step}.pt")
