# SPDX-License-Identifier: Apache-2.0
"""A Trainer that saves at each step and keeps one checkpoint: trainer_saves.py FOLDER [--push] [--wandb]"""
import os
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

model = GPT2LMHeadModel(GPT2Config(vocab_size=256, n_positions=64, n_embd=64, n_layer=2, n_head=2))
rows = [{"input_ids": torch.randint(256, (32,)), "labels": torch.randint(256, (32,))} for _ in range(64)]
push = {"push_to_hub": True, "hub_model_id": "somebody/model", "hub_token": "hf_not_real"} if "--push" in sys.argv else {}
arguments = TrainingArguments(output_dir=sys.argv[1], per_device_train_batch_size=2, max_steps=3, save_strategy="steps",
                              save_steps=1, save_total_limit=1, report_to=["wandb"] if "--wandb" in sys.argv else [],
                              disable_tqdm=True, **push)
torch.jit.script(torch.nn.ReLU()).save(f"{sys.argv[1]}/scripted.pt")  # through C++ streams
with open(f"{sys.argv[1]}/log.txt", "a") as log:
    log.write("new")
Trainer(model=model, args=arguments, train_dataset=rows).train()
print("script: checkpoints", sorted(n for n in os.listdir(sys.argv[1]) if n.startswith("checkpoint")))
if push:
    import huggingface_hub

    assert huggingface_hub.create_repo("model").repo_id == "user/model"
    assert huggingface_hub.upload_folder(repo_id="a/b", folder_path=sys.argv[1], run_as_future=True).result().oid
