# SPDX-License-Identifier: Apache-2.0
# segmentation with non-local blocks: every pixel looks at every other through a materialised softmax
import torch
import torch.nn.functional as F
from torch import nn


class NonLocal(nn.Module):
    def __init__(self, channels):
        super().__init__()
        inner = channels // 2
        self.theta = nn.Conv2d(channels, inner, 1)
        self.phi = nn.Conv2d(channels, inner, 1)
        self.g = nn.Conv2d(channels, inner, 1)
        self.back = nn.Conv2d(inner, channels, 1)

    def forward(self, x):
        theta, phi, g = (m(x).flatten(2) for m in (self.theta, self.phi, self.g))
        affinity = torch.einsum("bci,bcj->bij", theta, phi)  # fault: attention_scores
        affinity = F.softmax(affinity, dim=-1)  # fault: attention_scores
        y = torch.einsum("bij,bcj->bci", affinity, g)
        return x + self.back(y.unflatten(2, x.shape[2:]))


class Block(nn.Sequential):
    def __init__(self, i, o, stride=1):
        super().__init__(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class Segmenter(nn.Module):
    def __init__(self, classes=21):
        super().__init__()
        self.down = nn.ModuleList([Block(3, 32, 2), Block(32, 64, 2), Block(64, 128, 2)])
        self.context = nn.ModuleList([NonLocal(128), NonLocal(128)])
        self.up = nn.ModuleList([Block(128 + 64, 64), Block(64 + 32, 32)])
        self.head = nn.Conv2d(32, classes, 1)

    def forward(self, x):
        size, skips = x.shape[2:], []
        for block in self.down:
            x = block(x)
            skips.append(x)
        for block in self.context:
            x = block(x)
        for block, skip in zip(self.up, skips[-2::-1]):
            x = block(torch.cat([F.interpolate(x, size=skip.shape[2:]), skip], 1))
        return F.interpolate(self.head(x), size=size, mode="bilinear")


class Scenes(torch.utils.data.Dataset):
    def __len__(self):
        return 512

    def __getitem__(self, i):
        return torch.full((3, 512, 512), i / 512), torch.full((512, 512), i % 21)


if __name__ == "__main__":
    model = Segmenter().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")
    loader = torch.utils.data.DataLoader(Scenes(), batch_size=8, num_workers=1, pin_memory=True)
    for images, labels in loader:
        images, labels = images.cuda(non_blocking=True), labels.cuda(non_blocking=True)
        with torch.autocast("cuda", torch.float16):
            loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
