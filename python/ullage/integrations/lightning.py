# SPDX-License-Identifier: Apache-2.0
"""Lightning: `Trainer(callbacks=[UllageCallback("my-run")])`."""
try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback

from .. import record
from ..sinks import Sinks


class UllageCallback(Callback):
    """Records Trainer.fit(). A LightningModule's training_step calls modules of its own: the outermost of them make the
    phases. Every `every` steps the metrics go to the `sinks` (ullage.sinks); `settings` are those of ullage.record."""

    def __init__(self, name=None, *, sinks=(), every=10, **settings):
        self._name, self._settings = name, {"phases": "all", **settings}
        self._sinks = Sinks(sinks, every)
        self._run = None
        self._step = 0

    def on_train_start(self, trainer, pl_module):
        self._run = record(self._name, **self._settings).start()

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if self._run is not None and trainer.global_step > self._step:  # not within an accumulation
            self._step = trainer.global_step
            self._run.step()
            self._sinks.step(self._step, self._run)

    def on_exception(self, trainer, pl_module, exception):
        self._finish(exception)

    def on_train_end(self, trainer, pl_module):
        self._finish(None)

    def _finish(self, error):
        if self._run is not None:
            self._run.finish(error)
            self._run = None
        self._sinks.close()
