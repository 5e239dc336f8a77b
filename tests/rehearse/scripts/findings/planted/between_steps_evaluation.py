# SPDX-License-Identifier: Apache-2.0
# Evaluates with a batch sixteen times as large as in training; it, not a step, makes the peak.
import torch
from torch import nn
from torch.nn import functional as F

def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

@torch.no_grad()
def accuracy(model, images, labels):
    model.eval()
    right = (model(images).argmax(dim=-1) == labels).float().mean()  # fault: peak_between_steps
    model.train()
    return right.item()


model = nn.Sequential(stage(3, 64), stage(64, 64), nn.MaxPool2d(2), stage(64, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                      nn.Linear(128, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(1000):
    images = torch.rand(32, 3, 96, 96, device="cuda")
    labels = torch.randint(10, (32,), device="cuda")
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        test = torch.rand(512, 3, 96, 96, device="cuda")
        print(step, accuracy(model, test, torch.randint(10, (512,), device="cuda")))
        del test
