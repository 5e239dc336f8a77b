# SPDX-License-Identifier: Apache-2.0
"""A run of the Hugging Face Trainer. `reference`: prints the phases by PyTorch's own counters, at hooks of its own."""
import json
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

MODE = sys.argv[1]


class Words(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        ids = torch.arange(index, index + 64) % 500
        return {"input_ids": ids, "labels": ids}


class Reference:
    def __init__(self):
        self.phases = []
        self.step = 0

    def end(self, name, step):
        self.phases.append([name, step, torch.cuda.memory_allocated(), torch.cuda.memory_reserved(),
                            torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()])
        torch.cuda.reset_peak_memory_stats()

    def attach(self, model):
        model.register_forward_pre_hook(self.forward_begins)
        model.register_forward_hook(lambda *_: self.end("forward", self.step))
        from torch.optim import optimizer

        optimizer.register_optimizer_step_pre_hook(lambda *_: self.end("backward", self.step))
        optimizer.register_optimizer_step_post_hook(lambda *_: self.end("optimizer", self.step))

    def forward_begins(self, *_):
        self.end("other" if self.step else "load", self.step)
        self.step += 1


def main():
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=500, n_positions=64, n_embd=128, n_layer=2, n_head=4))
    arguments = TrainingArguments(output_dir=sys.argv[2], max_steps=3, per_device_train_batch_size=4, report_to=[],
                                  save_strategy="no", disable_tqdm=True, logging_strategy="no", dataloader_pin_memory=False)
    reference = Reference()
    callbacks = []
    if MODE == "reference":
        torch.cuda.init()
        reference.attach(model)
    if MODE == "callback":
        from ullage.integrations.transformers import UllageCallback

        callbacks.append(UllageCallback("trainer"))
    Trainer(model, arguments, train_dataset=Words(), callbacks=callbacks).train()
    print(json.dumps(reference.phases))


if __name__ == "__main__":
    main()
