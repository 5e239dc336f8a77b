# SPDX-License-Identifier: Apache-2.0
"""A DataLoader with workers and pinned memory."""
import torch


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((1024,), float(index))


if __name__ == "__main__":
    model = torch.nn.Linear(1024, 1024).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in torch.utils.data.DataLoader(Rows(), batch_size=8, num_workers=2, pin_memory=True):
        model(batch.cuda(non_blocking=True)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
