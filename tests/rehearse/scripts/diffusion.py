# SPDX-License-Identifier: Apache-2.0
"""Training steps of a text-conditioned UNet of diffusers, the blocks of Stable Diffusion at a fraction of their width."""
import torch
from diffusers import DDPMScheduler, UNet2DConditionModel

BATCH, SIZE, TOKENS, WIDTH = 4, 32, 77, 64
torch.manual_seed(0)
model = UNet2DConditionModel(
    sample_size=SIZE, in_channels=4, out_channels=4, layers_per_block=2, block_out_channels=(32, 64, 64),
    down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"), cross_attention_dim=WIDTH,
    attention_head_dim=8, norm_num_groups=8)
# Counted before anything is on the device.
print("script: parameters", sum(p.numel() for p in model.parameters()))
model = model.cuda()
scheduler = DDPMScheduler(num_train_timesteps=1000)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(3):
    latents = torch.randn(BATCH, 4, SIZE, SIZE, device="cuda")
    text = torch.randn(BATCH, TOKENS, WIDTH, device="cuda")
    noise = torch.randn_like(latents)
    steps = torch.randint(0, 1000, (BATCH,), device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        predicted = model(scheduler.add_noise(latents, noise, steps), steps, encoder_hidden_states=text).sample
    torch.nn.functional.mse_loss(predicted.float(), noise).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
print("script: trained")
