# SPDX-License-Identifier: Apache-2.0
"""A Trainer that reports to trackers: reports.py TRACKER..."""
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

model = GPT2LMHeadModel(GPT2Config(vocab_size=256, n_positions=64, n_embd=64, n_layer=2, n_head=2))
rows = [{"input_ids": torch.randint(256, (32,)), "labels": torch.randint(256, (32,))} for _ in range(64)]
trackers = [word for word in sys.argv[1:] if not word.startswith("--")]
arguments = TrainingArguments(output_dir="output", per_device_train_batch_size=2, max_steps=2, logging_steps=1,
                              save_strategy="no", report_to=trackers, disable_tqdm=True)
Trainer(model=model, args=arguments, train_dataset=rows).train()
print("script: end")
