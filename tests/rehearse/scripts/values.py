# SPDX-License-Identifier: Apache-2.0
"""Small values that steer control flow, checked by the script itself."""
import torch

cuda = torch.device("cuda")
ids = torch.arange(10, device=cuda)
mod = (ids * 3) % 7
assert mod.tolist() == [0, 3, 6, 2, 5, 1, 4, 0, 3, 6]
assert (mod > 3).any() and not (mod > 9).any() and (mod >= 0).all()
assert mod.sum().item() == 30 and mod.max().item() == 6 and mod.argmax().item() in (2, 9)
assert mod[mod > 3].tolist() == [6, 5, 4, 6]
assert (mod == 2).nonzero().tolist() == [[3]]
assert torch.unique(mod).tolist() == list(range(7))
assert (ids + 1).dtype == torch.int64 and (ids + 1.5).dtype == torch.float32
assert (ids.to(torch.int32) + 1).dtype == torch.int32 and (2 - ids).tolist()[:3] == [2, 1, 0]
assert torch.cat([ids, mod]).cumsum(0)[-1].item() == 75
assert torch.where(ids > 4, ids, -ids).tolist()[:6] == [0, -1, -2, -3, -4, 5]
assert torch.isin(ids, torch.tensor([2, 3], device=cuda)).sum().item() == 2
assert torch.repeat_interleave(torch.tensor([1, 2], device=cuda), torch.tensor([2, 3], device=cuda)).tolist() == [1, 1, 2, 2, 2]
scratch = ids.clone()
scratch[2:5] = 100
scratch[mod > 4] += 1
assert scratch.tolist() == [0, 1, 101, 100, 101, 5, 6, 7, 8, 10]
kept = torch.tensor([4.0, 5.0], device=cuda)
(kept + 1).relu().sum()
assert kept.tolist() == [4.0, 5.0], "a kernel that only reads leaves a value known"

# never stale: what lies where a known value was is unknown again
known = torch.full((64,), 7.0, device=cuda)
address = known.data_ptr()
del known
reused = torch.randn(1 << 16, device=cuda).sum().expand(1).clone()
del reused
weights = torch.randn(512, 512, device=cuda)
product = (weights @ weights)[:1, :64].clone()
assert product.tolist() == [[1.0] * 64], "unknown floats are read as 1.0"

# loops end
mask, loops = torch.rand(100, device=cuda) < 0.5, 0
while mask.any():
    mask = mask & (torch.rand(100, device=cuda) < 0.5)
    loops += 1
assert 2 <= loops < 40
torch.nn.init.trunc_normal_(torch.empty(1000, 1000, device=cuda))
big = torch.randn(1000, 1000, device=cuda)
assert torch.isfinite(big).all() and not torch.isnan(big).any()
assert 0 <= big.argmax().item() < big.numel()
print("script: values right", loops)
