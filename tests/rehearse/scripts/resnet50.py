# SPDX-License-Identifier: Apache-2.0
"""Training steps of torchvision's ResNet-50 on random images."""
import argparse

import torch
import torchvision

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--size", type=int, default=224)
parser.add_argument("--channels-last", action="store_true")
parser.add_argument("--amp", action="store_true")
parser.add_argument("--zero", choices=["none", "zeros"], default="none", help="what zero_grad leaves behind")
parser.add_argument("--steps", type=int, default=3)
options = parser.parse_args()

layout = torch.channels_last if options.channels_last else torch.contiguous_format
model = torchvision.models.resnet50().cuda().to(memory_format=layout)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
criterion = torch.nn.CrossEntropyLoss().cuda()
for _ in range(options.steps):
    images = torch.randn(options.batch, 3, options.size, options.size).cuda().to(memory_format=layout)
    labels = torch.randint(1000, (options.batch,)).cuda()
    with torch.autocast("cuda", torch.bfloat16, enabled=options.amp):
        loss = criterion(model(images), labels)
    optimizer.zero_grad(set_to_none=options.zero == "none")
    loss.backward()
    optimizer.step()
