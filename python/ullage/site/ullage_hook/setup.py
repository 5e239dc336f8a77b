# SPDX-License-Identifier: Apache-2.0
"""What a training is of, once: the configuration of a Hugging Face model, its precision, the shapes it is given, the optimizer.

`ullage` plans the same training from it."""
import json

_ONCE = ("setup", "optimizer_setup")
_LARGEST_CONFIG = 1 << 16  # characters


class Setup:
    """Nothing here raises: what cannot be told is not."""

    def __init__(self, torch, records):
        self._torch = torch
        self._records = records
        self._wanted = set(_ONCE)

    def see_forward(self, module, args, kwargs):
        """The first forward that is trained."""
        if "setup" not in self._wanted or not (module.training and self._torch.is_grad_enabled()):
            return
        self._wanted.discard("setup")
        self._attempt("setup", lambda: self._facts_of(module, args, kwargs))

    def see_optimizer(self, optimizer):
        """The first optimizer that steps."""
        if "optimizer_setup" in self._wanted:
            self._wanted.discard("optimizer_setup")
            self._attempt("optimizer_setup", lambda: _optimizer_facts(optimizer))

    def _attempt(self, kind, facts):
        try:
            found = facts()
        except Exception:  # a model or an optimizer of another kind
            found = None
        if found is not None:
            self._records.add(kind, **found)

    def _facts_of(self, module, args, kwargs):
        config = getattr(module, "config", None)
        if not hasattr(config, "to_dict") or not getattr(config, "model_type", None):
            return None
        parameters = list(module.parameters())
        shapes = [list(value.shape) for value in (*args, *kwargs.values()) if isinstance(value, self._torch.Tensor)]
        return {"config": _plain(config.to_dict()), "class": type(module).__name__, "shapes": shapes, **self._precision(parameters),
                "attention": str(getattr(config, "_attn_implementation", None) or ""),
                "checkpointing": bool(getattr(module, "is_gradient_checkpointing", False)),
                "parameters": sum(parameter.numel() for parameter in parameters),
                "trained_parameters": sum(parameter.numel() for parameter in parameters if parameter.requires_grad)}

    def _precision(self, parameters):
        torch = self._torch
        dtypes = sorted({_name(parameter.dtype) for parameter in parameters})
        autocast = _name(torch.get_autocast_dtype("cuda")) if torch.is_autocast_enabled("cuda") else ""
        return {"dtypes": dtypes, "autocast": autocast, "tf32": bool(torch.backends.cuda.matmul.allow_tf32)}


def _name(dtype):
    return str(dtype).removeprefix("torch.")


def _plain(config):
    """Its numbers, and the texts that name a kind of something; None where it is larger than a configuration is."""
    kept = {str(key): value for key, value in config.items() if not str(key).startswith("_") and _tells(str(key), value)}
    text = json.dumps(kept, default=str)
    return json.loads(text) if len(text) <= _LARGEST_CONFIG else None


def _tells(key, value):
    """A text under any other name may be anything, a path or a secret."""
    return not isinstance(value, str) or key.endswith(("type", "act", "activation", "function"))


def _optimizer_facts(optimizer):
    group = optimizer.param_groups[0]
    return {"module": type(optimizer).__module__, "class": type(optimizer).__name__,
            **{key: group[key] for key in ("foreach", "fused", "amsgrad") if group.get(key) is not None},
            "momentum": bool(group.get("momentum"))}
