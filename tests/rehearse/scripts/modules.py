# SPDX-License-Identifier: Apache-2.0
"""Parts of PyTorch that use other libraries than cuBLAS: each must run forward and backward."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(4, 16, 32, device="cuda", requires_grad=True)
for kind in (nn.LSTM, nn.GRU, nn.RNN):
    out, _ = kind(32, 64, num_layers=2, batch_first=True, bidirectional=True).cuda()(x)
    out.sum().backward()
    assert out.shape == (4, 16, 128)

images = torch.randn(8, 3, 64, 64, device="cuda")
for layout in (torch.contiguous_format, torch.channels_last):
    net = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Conv2d(16, 32, 3, padding=1, groups=2), nn.GroupNorm(4, 32), nn.SiLU(),
                        nn.ConvTranspose2d(32, 8, 2, stride=2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
    net = net.cuda().to(memory_format=layout)
    loss = nn.functional.cross_entropy(net(images.to(memory_format=layout)), torch.randint(5, (8,), device="cuda"))
    loss.backward()

square = torch.randn(32, 32, device="cuda") + 32 * torch.eye(32, device="cuda")
positive = square @ square.T
torch.linalg.cholesky(positive), torch.linalg.eigh(positive), torch.linalg.inv(square), torch.linalg.qr(square)
torch.linalg.svd(square), torch.linalg.solve(square, square), torch.linalg.det(square)
torch.fft.rfft(torch.randn(64, 128, device="cuda"))

query = torch.randn(2, 8, 128, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
nn.functional.scaled_dot_product_attention(query, query, query, is_causal=True).sum().backward()
nn.functional.scaled_dot_product_attention(query, query, query, attn_mask=torch.ones(128, 128, dtype=torch.bool,
                                                                                     device="cuda")).sum().backward()
print("script: modules run")
