# SPDX-License-Identifier: Apache-2.0
"""A plain loop: `for batch in ullage.integrations.loop.recorded(loader, model=model, optimizer=optimizer): ...`"""
from .. import record
from ..sinks import Sinks


def recorded(batches, name=None, *, sinks=(), every=10, tokens=None, **settings):
    """Yields the batches; each is a step of a recording that ends with the loop.

    `tokens(batch)` gives the number of tokens of a batch, or (tokens, effective). Every `every` steps the metrics go to the
    `sinks` (ullage.sinks). `settings` are those of ullage.record.
    """
    written = Sinks(sinks, every)
    with record(name, **settings) as run:
        try:
            for step, batch in enumerate(batches, 1):
                if tokens is not None:
                    told = tokens(batch)
                    run.tokens(*(told if isinstance(told, tuple) else (told,)))
                yield batch
                run.step()
                written.step(step, run)
        finally:
            written.close()
