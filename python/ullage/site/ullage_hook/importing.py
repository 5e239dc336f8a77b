# SPDX-License-Identifier: Apache-2.0
"""Calls a function when a module has been imported."""
import importlib.abc
import importlib.util
import sys


class _Loader(importlib.abc.Loader):
    """Wraps a module's loader; the module itself never sees it."""

    def __init__(self, loader, action):
        self._loader = loader
        self._action = action

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._action(module)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self):
        self.actions = {}

    def find_spec(self, name, path=None, target=None):
        action = self.actions.pop(name, None)
        if action is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        spec.loader = _Loader(spec.loader, action)
        return spec


_finder = _Finder()


def after_import(name, action):
    """Calls action(module) once, right after `name` was imported; at once when it already is."""
    if name in sys.modules:
        action(sys.modules[name])
        return
    _finder.actions[name] = action
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
