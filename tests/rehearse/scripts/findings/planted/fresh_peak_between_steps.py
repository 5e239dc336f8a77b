# SPDX-License-Identifier: Apache-2.0
# a Lightning-like loop whose validation collects every batch's probabilities on the device for one metric
# rehearse: --gpu a100-40gb --steps 5
import torch
import torch.nn.functional as F
from torch import nn


class Module(nn.Module):
    def __init__(self, classes=10000):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 1024), nn.GELU())
        self.head = nn.Linear(1024, classes)
        self.validation_outputs = []

    def forward(self, x):
        return self.head(self.body(x))

    def training_step(self, batch):
        x, y = batch
        return F.cross_entropy(self(x), y)

    def validation_step(self, batch):
        x, y = batch
        probabilities = torch.softmax(self(x), dim=-1)  # fault: peak_between_steps
        self.validation_outputs.append((probabilities, y))

    def on_validation_epoch_end(self):
        scores = torch.cat([p for p, _ in self.validation_outputs])  # fault: peak_between_steps
        labels = torch.cat([y for _, y in self.validation_outputs])
        hits = (scores.topk(5, dim=-1).indices == labels[:, None]).any(-1)
        self.validation_outputs.clear()
        return hits.float().mean()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


class Fit:
    def __init__(self, val_check_interval):
        self.every, self.step = val_check_interval, 0

    def batches(self, count):
        for _ in range(count):
            yield torch.randn(4096, 256, device="cuda"), torch.randint(10000, (4096,), device="cuda")

    @torch.no_grad()
    def validate(self, module):
        module.eval()
        for batch in self.batches(12):
            module.validation_step(batch)
        metric = module.on_validation_epoch_end()
        module.train()
        return metric

    def __call__(self, module):
        optimizer = module.configure_optimizers()
        for batch in self.batches(100):
            optimizer.zero_grad()
            module.training_step(batch).backward()
            optimizer.step()
            self.step += 1
            if self.step % self.every == 0:
                self.validate(module)


Fit(val_check_interval=2)(Module().cuda())
