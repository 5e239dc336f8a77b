# SPDX-License-Identifier: Apache-2.0
# A DataLoader without pin_memory and plain .to('cuda') of 9 MiB a batch.
# true: synchronisation, gradients_kept
import torch
import torchvision
from torch.nn import functional as F


class Images(torch.utils.data.Dataset):
    def __init__(self):
        self.pixels = torch.randint(0, 256, (512, 3, 112, 112), dtype=torch.uint8)

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        return self.pixels[index] / 255, index % 10


loader = torch.utils.data.DataLoader(Images(), batch_size=64, shuffle=True)
with torch.device("cuda"):
    model = torchvision.models.resnet18(num_classes=10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for images, labels in loader:
    images = images.to("cuda")  # fault: pageable_copies
    labels = labels.to("cuda")
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
