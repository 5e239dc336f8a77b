# SPDX-License-Identifier: Apache-2.0
"""Ten small trainings without a fault, each recorded into a folder of its own below the one that is given. What they do now and
then (evaluate, save, log, accumulate ...) must not be taken for growth, or for gradients that nobody gives up."""
import contextlib
import copy
import io
import os
import random
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import ullage

STEPS = 40
WIDTH = 256


def layers(width=WIDTH, depth=4):
    return nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.GELU()) for _ in range(depth)]).cuda()


def batch(rows=256, width=WIDTH):
    return torch.randn(rows, width, device="cuda")


def update(model, optimizer, given):
    loss = model(given).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


def evaluation():
    """Every seventh step, with a batch that is much larger; its outputs stay until the next one."""
    model = layers()
    optimizer = torch.optim.AdamW(model.parameters())
    outputs = None
    for step in range(STEPS):
        update(model, optimizer, batch())
        if step % 7 == 6:
            model.eval()
            with torch.no_grad():
                outputs = model(batch(8192))
            model.train()
    return outputs


def checkpoints():
    model = layers()
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(STEPS):
        update(model, optimizer, batch())
        if step % 10 == 9:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, io.BytesIO())


def accumulation():
    model = layers()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(STEPS):
        for _ in range(random.Random(step).choice((2, 3, 4))):
            (model(batch(128)).square().mean() / 4).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


def warm_up():
    """The rate rises; gradients are zeroed, not given up."""
    model = layers()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / 20))
    for _ in range(STEPS):
        model(batch()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        scheduler.step()


def variable_lengths():
    dice = random.Random(3)
    model = nn.LSTM(64, 128, batch_first=True).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        model(torch.randn(16, dice.randint(8, 256), 64, device="cuda"))[0].square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def queue():
    """Features of the last steps: full after twelve."""
    model, kept = layers(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        features = model(batch())
        (features.square().mean() + sum((features * old).mean() for old in kept)).backward()
        kept = [*kept[-11:], features.detach()]
        optimizer.step()


def average():
    model = layers()
    shadow = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        update(model, optimizer, batch())
        with torch.no_grad():
            for old, new in zip(shadow.parameters(), model.parameters()):
                old.lerp_(new, 0.01)


def two_optimizers():
    """A generator and a discriminator, which also gets gradients of the generator's loss."""
    maker, judge = layers(64, 2), layers(64, 2)
    of_maker, of_judge = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())
    for _ in range(STEPS):
        fake = maker(batch(128, 64))
        of_judge.zero_grad()
        (judge(fake.detach()).mean() - judge(batch(128, 64)).mean()).backward()
        of_judge.step()
        of_maker.zero_grad()
        (-judge(fake).mean()).backward()
        of_maker.step()


def loader():
    """Epochs of a DataLoader with workers, mean loss on the device, a log now and then."""
    model = layers(32, 2)
    head = nn.Linear(32, 4).cuda()
    optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()])
    data = DataLoader(TensorDataset(torch.randn(320, 32), torch.randint(4, (320,))), batch_size=16, num_workers=1,
                      pin_memory=True, shuffle=True)
    running = torch.zeros((), device="cuda")
    for _ in range(2):
        for given, wanted in data:
            loss = F.cross_entropy(head(model(given.cuda(non_blocking=True))), wanted.cuda(non_blocking=True))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            running += loss.detach()


def own_gradients():
    """No zero_grad(): gradients are given up by hand, and frozen layers have none."""
    model = layers()
    for parameter in model[0].parameters():
        parameter.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(STEPS):
        with torch.autocast("cuda", torch.bfloat16) if step % 2 else contextlib.nullcontext():
            model(batch()).square().mean().backward()
        optimizer.step()
        for parameter in model.parameters():
            if step % 3 and parameter.grad is not None:
                parameter.grad.zero_()
            else:
                parameter.grad = None


PROGRAMS = (evaluation, checkpoints, accumulation, warm_up, variable_lengths, queue, average, two_optimizers, loader, own_gradients)

if __name__ == "__main__":
    for program in PROGRAMS:
        with ullage.record(program.__name__, directory=os.path.join(sys.argv[1], program.__name__), phases="all"):
            program()
