# SPDX-License-Identifier: Apache-2.0
# a language model from its configuration, with label smoothing by hand on log_softmax of all tokens
# true: gradients_kept, synchronisation
import itertools

import torch
from transformers import GPT2Config, GPT2LMHeadModel


class SmoothedLoss:
    def __init__(self, epsilon=0.1, ignore=-100):
        self.epsilon, self.ignore = epsilon, ignore

    def __call__(self, logits, labels):
        logits = logits[:, :-1, :].float()  # fault: full_logits
        labels = labels[:, 1:].unsqueeze(-1)
        log_probs = -torch.log_softmax(logits, dim=-1)  # fault: full_logits
        mask = labels.eq(self.ignore)
        nll = log_probs.gather(-1, labels.clamp(min=0)).masked_fill(mask, 0.0)
        smooth = log_probs.sum(-1, keepdim=True).masked_fill(mask, 0.0)
        active = mask.numel() - mask.sum()
        return ((1 - self.epsilon) * nll.sum() + self.epsilon * smooth.sum() / log_probs.shape[-1]) / active


def micro_batches(accumulate):
    for i in itertools.count(1):
        yield torch.randint(50257, (8, 512), device="cuda"), i % accumulate == 0


def main():
    config = GPT2Config(n_layer=4, n_embd=512, n_head=8, n_positions=512)
    model = GPT2LMHeadModel(config).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    criterion = SmoothedLoss()
    for tokens, last in micro_batches(2):
        with torch.autocast("cuda", torch.bfloat16):
            logits = model(input_ids=tokens, use_cache=False).logits  # fault: full_logits
            loss = criterion(logits, tokens) / 2
        loss.backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()


main()
