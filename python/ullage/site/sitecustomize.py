# SPDX-License-Identifier: Apache-2.0
"""Starts the rehearsal's hook, or the recorder, in every Python process of the command, then runs the sitecustomize it stands in front of."""
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _chain():
    paths = [p for p in sys.path if os.path.abspath(p or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", paths)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


# Before the hook, which ends the script after its last step: the recorder sees that step, too.
if os.environ.get("ULLAGE_RECORD") == "1":
    try:
        from ullage_hook.recorder import launched

        launched.install()
    except Exception as error:
        sys.stderr.write(f"ullage: the recorder did not start: {error!r}\n")
if os.environ.get("ULLAGE_HOOK") == "1" and os.environ.get("ULLAGE_VGPU_RUN"):
    try:
        import ullage_hook

        ullage_hook.install()
    except Exception as error:  # the script must run whatever happens here
        sys.stderr.write(f"ullage: the hook did not start: {error!r}\n")
_chain()
