# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer with our callback, gradients accumulated over two batches, metrics for TensorBoard; prints what PyTorch's own counters
say at the end of each optimizer step, before the callback's own mark."""
import json

import lightning.pytorch as lightning
import torch

from ullage.integrations.lightning import UllageCallback
from ullage.sinks import TensorBoardSink


class Words(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((256,), float(index))


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256))

    def training_step(self, batch):
        return (self.layers(batch) - batch).square().mean()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


class Reference(lightning.Callback):
    """Comes before ours."""

    def __init__(self):
        self.seen = []

    def on_train_batch_end(self, trainer, *_):
        if trainer.global_step > len(self.seen):
            self.seen.append([torch.cuda.memory_allocated(), torch.cuda.memory_reserved()])


def main():
    reference = Reference()
    trainer = lightning.Trainer(accelerator="gpu", devices=1, max_steps=4, accumulate_grad_batches=2, logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False,
                                callbacks=[reference, UllageCallback("lightning", sinks=[TensorBoardSink("board")], every=1)])
    trainer.fit(Model(), torch.utils.data.DataLoader(Words(), batch_size=4))
    print(json.dumps(reference.seen))


if __name__ == "__main__":
    main()
