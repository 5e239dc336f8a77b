# SPDX-License-Identifier: Apache-2.0
"""Hugging Face: `Trainer(..., callbacks=[UllageCallback("my-run")])`."""
from transformers import TrainerCallback

from .. import record
from ..sinks import Sinks


class UllageCallback(TrainerCallback):
    """Records Trainer.train(). Every `every` steps the metrics go to the `sinks` (ullage.sinks); `settings` are those of
    ullage.record. Tokens are counted where the arguments say include_num_input_tokens_seen."""

    def __init__(self, name=None, *, sinks=(), every=10, **settings):
        self._name, self._settings = name, settings
        self._sinks = Sinks(sinks, every)
        self._run = None
        self._tokens = 0

    def on_train_begin(self, args, state, control, model=None, optimizer=None, **kwargs):
        settings = {"model": model, "optimizer": optimizer, "config": args.to_dict(), **self._settings}
        self._run = record(self._name, **settings).start()
        self._tokens = state.num_input_tokens_seen

    def on_step_end(self, args, state, control, **kwargs):
        if self._run is None:
            return
        seen, self._tokens = state.num_input_tokens_seen - self._tokens, state.num_input_tokens_seen
        if seen > 0:
            self._run.tokens(seen)
        self._run.step()
        self._sinks.step(state.global_step, self._run)

    def on_train_end(self, args, state, control, **kwargs):
        if self._run is not None:
            self._run.finish()
            self._run = None
        self._sinks.close()
