# SPDX-License-Identifier: Apache-2.0
"""Trainings drawn at random: a configuration, the flags of the reference loop, a GPU. One seed and index, one case."""
import random

FAMILIES = ("gpt2", "opt", "gpt_neox", "llama", "mistral", "qwen2", "qwen3", "gemma2", "phi3")
GPUS = ("t4", "l4", "rtx4090", "a100-40gb", "h100-80gb", "b200", "rtx5090")
PRECISIONS = ("fp32", "tf32", "bf16", "bf16-autocast", "fp16-autocast")
OPTIMIZERS = ("adamw", "adamw-fused", "adamw-forloop", "sgd")
ATTENTIONS = ("eager", "sdpa")
SMALL_LENGTHS, REAL_LENGTHS = (128, 256, 512, 777, 1024, 2048), (512, 1024, 2048, 3000, 4096, 8192)
MOST_TOKENS = {"small": 8192, "real": 16384}
MOST_SCORES = {"small": 1 << 23, "real": 1 << 25}  # of one head, in eager attention


class Shape:
    """Sizes that every family has."""

    def __init__(self, rng, size):
        if size == "small":
            self.heads, self.width = rng.choice((2, 4, 8, 12)), rng.choice((32, 64, 64, 80, 96, 128, 128))
            self.layers, self.vocabulary = rng.choice((1, 2, 3)), rng.choice((1000, 4096, 32000, 50257))
        else:
            self.width = rng.choice((64, 80, 96, 128, 128))
            self.heads = rng.choice([heads for heads in (8, 12, 16, 20, 24, 32, 40, 64) if 768 <= heads * self.width <= 4096])
            self.layers = rng.choice((2, 4, 6, 8, 12, 16, 24, 32))
            self.vocabulary = rng.choice((32000, 50257, 50304, 65024, 102400, 128256, 151936, 256000))
        self.hidden = self.heads * self.width
        self.inner = rng.choice((2, 3, 4)) * self.hidden + rng.choice((0, 8, 64))
        self.key_heads = rng.choice([heads for heads in (1, 2, 4, 8, 12, 16, 32) if self.heads % heads == 0])


def gpt2(rng, shape, positions):
    return {"n_embd": shape.hidden, "n_layer": shape.layers, "n_head": shape.heads, "n_positions": positions,
            "attn_pdrop": rng.choice((0.0, 0.1))}


def opt(rng, shape, positions):
    return {"hidden_size": shape.hidden, "ffn_dim": shape.inner, "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads,
            "word_embed_proj_dim": rng.choice((shape.hidden, shape.hidden // 2)), "do_layer_norm_before": rng.random() < 0.7,
            "pad_token_id": 1, "max_position_embeddings": positions}


def gpt_neox(rng, shape, positions):
    return {"hidden_size": shape.hidden, "intermediate_size": shape.inner, "num_hidden_layers": shape.layers,
            "num_attention_heads": shape.heads, "use_parallel_residual": rng.random() < 0.6, "hidden_dropout": rng.choice((0.0, 0.0, 0.1)),
            "rotary_pct": rng.choice((0.25, 0.5, 1.0)), "max_position_embeddings": positions}


def llama_like(family, rng, shape, positions):
    fields = {"hidden_size": shape.hidden, "intermediate_size": shape.inner, "num_hidden_layers": shape.layers,
              "num_attention_heads": shape.heads, "num_key_value_heads": shape.key_heads, "pad_token_id": 0,
              "tie_word_embeddings": rng.random() < 0.4, "attention_dropout": rng.choice((0.0, 0.0, 0.0, 0.1)),
              "max_position_embeddings": positions}
    if family in ("qwen3", "gemma2", "mistral", "llama"):
        fields["head_dim"] = rng.choice((shape.width, shape.width, 64, 128))
    if family in ("mistral", "gemma2"):
        fields["sliding_window"] = rng.choice((None, 256, 4096) if family == "mistral" else (256, 1024, 4096))
    if family == "phi3":
        fields["resid_pdrop"] = rng.choice((0.0, 0.1))
    if family == "llama":
        fields.update(attention_bias=rng.random() < 0.2, mlp_bias=rng.random() < 0.2)
    return fields


def configuration(rng, family, size, positions):
    shape = Shape(rng, size)
    make = {"gpt2": gpt2, "opt": opt, "gpt_neox": gpt_neox}.get(family)
    fields = make(rng, shape, positions) if make else llama_like(family, rng, shape, positions)
    return {"model_type": family, "vocab_size": shape.vocabulary, **fields}


def lengths(rng, size, attention):
    """(micro batch, tokens) within bounds."""
    batch, tokens = rng.choice((1, 2, 3, 4, 8)), rng.choice(SMALL_LENGTHS if size == "small" else REAL_LENGTHS)
    while batch * tokens > MOST_TOKENS[size] or (attention == "eager" and batch * tokens * tokens > MOST_SCORES[size]):
        batch, tokens = (batch // 2, tokens) if batch > 1 else (1, tokens // 2)
    return batch, tokens


def takes_flash(case, tokens):
    """Whether PyTorch has FlashAttention for it: a half type, Ampere or newer, no mask of a window."""
    window = case["config"].get("sliding_window", 4096 if case["family"] == "mistral" else None)
    return case["attention"] == "sdpa" and case["gpu"] != "t4" and case["precision"] not in ("fp32", "tf32") and (not window or window > tokens)


def with_later_flags(rng, case):
    """The same with flags that the plan learnt later: Adafactor, padding, FlashAttention alone."""
    flags = case["flags"]
    if rng.random() < 0.25:
        flags[flags.index("--optimizer") + 1] = "adafactor"
    if takes_flash(case, int(flags[flags.index("--seq") + 1])) and rng.random() < 0.4:
        case["attention"] = flags[flags.index("--attention") + 1] = "flash"
    elif rng.random() < 0.4:
        flags.append("--padding")
    return case


def drawn(seed, index, gpus=GPUS, sizes="mixed", draw=1):
    """{"gpu", "config", "flags", "family", "precision", "attention"}; families come in turn. Draw 2 is draw 1 with later flags."""
    rng = random.Random(f"{seed}/{index}")
    size = rng.choice(("small", "real")) if sizes == "mixed" else sizes
    family, gpu, precision = FAMILIES[index % len(FAMILIES)], rng.choice(gpus), rng.choice(PRECISIONS)
    attention = "eager" if family == "gemma2" else rng.choice(ATTENTIONS)  # transformers refuses SDPA there
    batch, tokens = lengths(rng, size, attention)
    config = configuration(rng, family, size, max(2048, tokens))
    flags = {"precision": precision, "optimizer": rng.choice(OPTIMIZERS), "attention": attention,
             "checkpoint": rng.choice(("none", "none", "full")), "micro-batch": batch, "seq": tokens,
             "accumulate": rng.choice((1, 1, 2))}
    words = [word for name, value in flags.items() for word in (f"--{name}", str(value))]
    case = {"gpu": gpu, "config": config, "flags": words, "family": family, "precision": precision, "attention": attention}
    return case if draw == 1 else with_later_flags(random.Random(f"{seed}/{index}/{draw}"), case)
