# SPDX-License-Identifier: Apache-2.0
# A segmentation net: the last step's full-size prediction is still there while the next is computed.
import torch
from torch import nn
from torch.nn import functional as F

def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

class Net(nn.Module):
    """Down, up, and the loss inside, as many detection models have it."""

    def __init__(self, classes):
        super().__init__()
        self.down = nn.Sequential(stage(3, 32), nn.MaxPool2d(4), stage(32, 64))
        self.classify = nn.Conv2d(64, classes, 1)

    def forward(self, images, masks):
        scores = F.interpolate(self.classify(self.down(images)), scale_factor=4, mode="bilinear")
        return F.cross_entropy(scores, masks), scores


model = Net(classes=40).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(1000):
    images = torch.rand(8, 3, 512, 512, device="cuda")
    masks = torch.randint(40, (8, 512, 512), device="cuda")
    loss, scores = model(images, masks)  # fault: outputs_kept
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 100 == 99:
        print(step, (scores.argmax(dim=1) == masks).float().mean().item())
