# SPDX-License-Identifier: Apache-2.0
"""Trains one step and writes what autograd saved, by module: unique storages at the end of the forward pass."""
import collections
import json
import sys

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks


class Saved:
    """Storages that autograd saves, each at the module in which it was made."""

    def __init__(self, model, excluded):
        self.stack = []
        self.made_in = {}  # storage address -> module
        self.saved = {}    # storage address -> bytes
        self.alive = []    # all that was seen, so that no address is used twice
        self.excluded = excluded
        for name, module in model.named_modules():
            label = name or type(module).__name__
            module.register_forward_pre_hook(lambda m, a, k, label=label: self.enter(label, (a, k)), with_kwargs=True)
            module.register_forward_hook(lambda m, a, o: self.leave(o))

    def see(self, value, module):
        if isinstance(value, torch.Tensor):
            if value.is_cuda:
                self.alive.append(value.detach())
                self.made_in.setdefault(value.untyped_storage().data_ptr(), module)
        elif isinstance(value, dict):
            self.see(list(value.values()), module)
        elif isinstance(value, (list, tuple)):
            for item in value:
                self.see(item, module)

    def enter(self, label, arguments):
        if self.stack:
            self.see(arguments, self.stack[-1])
        self.stack.append(label)

    def leave(self, output):
        self.see(output, self.stack.pop())

    def pack(self, tensor):
        if tensor.is_cuda and tensor.numel():
            storage = tensor.untyped_storage()
            self.alive.append(tensor.detach())
            self.made_in.setdefault(storage.data_ptr(), self.stack[-1] if self.stack else "")
            self.saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    def by_module(self):
        total = collections.Counter()
        for address, size in self.saved.items():
            if address not in self.excluded:
                total[self.made_in[address]] += size
        return dict(total)


def gpt2(attention):
    from transformers import GPT2Config, GPT2LMHeadModel
    model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=128, n_head=4, vocab_size=1000, attn_implementation=attention))
    ids = torch.randint(0, 1000, (2, 64)).cuda()
    return model.cuda(), {"input_ids": ids, "labels": ids}, lambda out: out.loss


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    model = LlamaForCausalLM(LlamaConfig(num_hidden_layers=2, hidden_size=128, intermediate_size=256, vocab_size=1000,
                                         num_attention_heads=4, num_key_value_heads=2))
    ids = torch.randint(0, 1000, (2, 64)).cuda()
    return model.cuda(), {"input_ids": ids, "labels": ids}, lambda out: out.loss


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.MaxPool2d(2),
                                  nn.Conv2d(16, 32, 3), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(32, 10)

    def forward(self, images):
        return self.head(self.body(images)).logsumexp(1).mean()


def convolutions():
    return Classifier().cuda(), {"images": torch.randn(8, 3, 32, 32).cuda()}, lambda loss: loss


MODELS = {"gpt2_eager": lambda: gpt2("eager"), "gpt2_sdpa": lambda: gpt2("sdpa"), "llama": llama,
          "convolutions": convolutions}


def main(name, path, autocast):
    model, batch, loss_of = MODELS[name]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    excluded = {t.untyped_storage().data_ptr() for t in (*model.parameters(), *model.buffers(), *batch.values())}
    saved = Saved(model, excluded)
    for step in range(2):
        if step == 0:
            with saved_tensors_hooks(saved.pack, lambda t: t), torch.autocast("cuda", torch.bfloat16, enabled=autocast):
                loss = loss_of(model(**batch))
            with open(path, "w") as file:
                json.dump(saved.by_module(), file)
            saved.alive.clear()
        else:
            with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
                loss = loss_of(model(**batch))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] == "autocast")
