# SPDX-License-Identifier: Apache-2.0
# transformers' Trainer with bf16 weights on a small Llama.
# true: synchronisation, full_logits
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Batches(torch.utils.data.Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, index):
        ids = torch.randint(0, 1000, (512,))
        return {"input_ids": ids, "labels": ids}


config = LlamaConfig(vocab_size=1000, hidden_size=512, intermediate_size=1408, num_hidden_layers=2, num_attention_heads=8)
model = LlamaForCausalLM(config).bfloat16()
arguments = TrainingArguments(output_dir="trained", per_device_train_batch_size=16, max_steps=100, optim="adamw_torch_fused",
                              report_to=[], save_strategy="no", logging_steps=50, disable_tqdm=True)
Trainer(model=model, args=arguments, train_dataset=Batches()).train()
