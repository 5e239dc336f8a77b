# SPDX-License-Identifier: Apache-2.0
# Spectrograms through a DataLoader with a worker and pinned memory, copied without waiting.
import torch
from torch import nn
from torch.nn import functional as F


class Sounds(torch.utils.data.Dataset):
    def __len__(self):
        return 1024

    def __getitem__(self, index):
        return torch.full((128, 400), float(index)), index % 35


def main():
    loader = torch.utils.data.DataLoader(Sounds(), batch_size=32, num_workers=1, pin_memory=True)
    model = nn.Sequential(nn.Conv1d(128, 512, 5, padding=2), nn.GELU(), nn.Conv1d(512, 512, 5, stride=2), nn.GELU(),
                          nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(512, 35)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    for sound, word in loader:
        sound, word = sound.to("cuda", non_blocking=True), word.to("cuda", non_blocking=True)
        loss = F.cross_entropy(model(sound), word)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
