# SPDX-License-Identifier: Apache-2.0
"""Calls a function when a module has been imported."""
import importlib.abc
import importlib.util
import sys
import threading


class _Loader(importlib.abc.Loader):
    """Wraps a module's loader; the module itself never sees it."""

    def __init__(self, name, loader):
        self._name = name
        self._loader = loader

    def __getattr__(self, name):  # a spec may be looked at without an import: `spec.loader.get_filename()`
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        for action in _finder.actions.pop(self._name, ()):
            action(module)
        _finder.stay_first()


class _Finder(importlib.abc.MetaPathFinder):
    """An action stays until its module is imported: `find_spec("torch")` alone only asks whether there is one."""

    def __init__(self):
        self.actions = {}
        self._asking = threading.local()

    def stay_first(self):
        """A finder that a package has put in front (comet_ml does) may answer for torch without asking further."""
        if sys.meta_path[:1] != [self]:
            sys.meta_path[:] = [self, *(finder for finder in sys.meta_path if finder is not self)]

    def find_spec(self, name, path=None, target=None):
        self.stay_first()
        asking = vars(self._asking).setdefault("names", set())
        if name not in self.actions or name in asking:
            return None
        asking.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            asking.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(name, spec.loader)
        return spec


_finder = _Finder()


def after_import(name, action):
    """Calls action(module) once, right after `name` was imported; at once when it already is."""
    if name in sys.modules:
        action(sys.modules[name])
        return
    _finder.actions.setdefault(name, []).append(action)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
