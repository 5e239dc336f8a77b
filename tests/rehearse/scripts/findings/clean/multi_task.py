# SPDX-License-Identifier: Apache-2.0
# One trunk with three heads; all three losses are in the sum.
import torch
from torch import nn
from torch.nn import functional as F

def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(stage(3, 64), nn.MaxPool2d(2), stage(64, 128), stage(128, 128))
        self.depth = nn.Conv2d(128, 1, 1)
        self.normals = nn.Conv2d(128, 3, 1)
        self.classes = nn.Conv2d(128, 13, 1)

    def forward(self, images):
        features = self.trunk(images)
        return self.depth(features), self.normals(features), self.classes(features)


def loss_of(model, images, depth, normals, classes):
    a, b, c = model(images)
    return F.l1_loss(a, depth) + F.l1_loss(b, normals) + F.cross_entropy(c, classes)


model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(1000):
    images = torch.rand(8, 3, 256, 320, device="cuda")
    depth, normals = torch.rand(8, 1, 128, 160, device="cuda"), torch.rand(8, 3, 128, 160, device="cuda")
    classes = torch.randint(13, (8, 128, 160), device="cuda")
    loss = loss_of(model, images, depth, normals, classes)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
