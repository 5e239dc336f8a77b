# SPDX-License-Identifier: Apache-2.0
# An auxiliary head still runs though its loss was taken out of the sum.
import torch
from torch import nn
from torch.nn import functional as F

def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

class Net(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(stage(3, 64), nn.MaxPool2d(4))
        self.auxiliary = nn.Sequential(stage(64, 256), stage(256, 256), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, classes))
        self.body = nn.Sequential(stage(64, 128), nn.MaxPool2d(2), stage(128, 256), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(256, classes)

    def forward(self, x):
        x = self.stem(x)
        auxiliary = self.auxiliary(x)  # fault: unused_graph
        return self.head(self.body(x)), auxiliary


def train_step(model, optimizer, images, labels):
    scores, auxiliary = model(images)
    loss = F.cross_entropy(scores, labels)  # + 0.4 * F.cross_entropy(auxiliary, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(1000):
    images = torch.rand(64, 3, 224, 224, device="cuda")
    train_step(model, optimizer, images, torch.randint(1000, (64,), device="cuda"))
