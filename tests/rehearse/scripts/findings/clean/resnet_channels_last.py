# SPDX-License-Identifier: Apache-2.0
# ResNet-18 with channels_last, SGD with momentum and a pinned loader.
import torch
import torchvision
from torch.nn import functional as F


class Images(torch.utils.data.Dataset):
    def __init__(self):
        self.pixels = torch.randint(0, 256, (512, 3, 128, 128), dtype=torch.uint8)

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        return self.pixels[index], index % 100


loader = torch.utils.data.DataLoader(Images(), batch_size=64, shuffle=True, pin_memory=True, drop_last=True)
with torch.device("cuda"):
    model = torchvision.models.resnet18(num_classes=100)
model = model.to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
for images, labels in loader:
    images = images.to("cuda", non_blocking=True).float().div_(255).to(memory_format=torch.channels_last)
    labels = labels.to("cuda", non_blocking=True)
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
