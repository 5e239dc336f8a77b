# SPDX-License-Identifier: Apache-2.0
"""transformers' Trainer with bf16 and gradient checkpointing on a small Llama built from a config."""
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Batches(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        ids = torch.randint(0, 1000, (256,))
        return {"input_ids": ids, "labels": ids}


config = LlamaConfig(vocab_size=1000, hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=4)
arguments = TrainingArguments(output_dir=sys.argv[1], per_device_train_batch_size=4, max_steps=8, bf16=True,
                              gradient_checkpointing=True, report_to=[], save_strategy="no", logging_steps=1)
Trainer(model=LlamaForCausalLM(config), args=arguments, train_dataset=Batches()).train()
