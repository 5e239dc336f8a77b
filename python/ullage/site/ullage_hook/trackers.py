# SPDX-License-Identifier: Apache-2.0
"""Experiment trackers send nothing and write into the run directory, also where the script itself says otherwise.

The environment tells all of them so (src/launch/trackers.cpp). An argument in the script would win over it.
"""
import functools
import inspect
import os

from .importing import after_import

_HERE = ("file:", "sqlite:")


def _folder():
    return os.path.join(os.environ["ULLAGE_VGPU_RUN"], "trackers")


def _changed(function, change):
    """The function, called with what `change` makes of its named arguments."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:  # the call is wrong; the function says how
            return function(*args, **kwargs)
        change(bound.arguments)
        return function(*bound.args, **bound.kwargs)

    return call


def _change(owner, name, change):
    if hasattr(owner, name):
        setattr(owner, name, _changed(getattr(owner, name), change))


# --- Weights & Biases ---

def _wanted_mode(arguments):
    settings = arguments.get("settings")
    given = settings.get("mode") if isinstance(settings, dict) else getattr(settings, "mode", None)
    modes = (arguments.get("mode"), given, os.environ.get("WANDB_MODE"))
    return "disabled" if "disabled" in modes else "offline"


def _keep_wandb_run(arguments):
    arguments.update(mode=_wanted_mode(arguments), dir=_folder())
    os.makedirs(_folder(), exist_ok=True)


def _wandb_without_login(module):
    """A login asks the server and writes the key into ~/.netrc."""
    if hasattr(module, "login"):
        module.login = functools.wraps(module.login)(lambda *args, **kwargs: True)


# --- MLflow ---

def _on_this_machine(uri):
    text = str(uri)
    return text.startswith(_HERE) or ("://" not in text and not text.startswith("databricks"))


def _keep_mlflow_store(name):
    def change(arguments):
        uri = arguments.get(name) or os.environ.get("MLFLOW_TRACKING_URI")
        if uri and not _on_this_machine(uri):
            arguments[name] = f"file://{_folder()}/mlruns"

    return change


# --- Trackio ---

def _keep_trackio_run(arguments):
    for name in ("space_id", "server_url", "dataset_id", "bucket_id", "webhook_url"):
        arguments.pop(name, None)


def _nameless_trackio_runs(module):
    """A run's user is asked of the hub."""
    if hasattr(getattr(module, "Run", None), "_get_username"):
        module.Run._get_username = lambda run: None


# --- Comet ---

def _offline_comet(online, offline):
    """The class of an online experiment's name and arguments that is an offline one."""
    names = inspect.signature(online.__init__)
    known = frozenset(inspect.signature(offline.__init__).parameters)

    class Offline(offline):
        @functools.wraps(online.__init__)
        def __init__(self, *args, **kwargs):
            arguments = dict(names.bind(self, *args, **kwargs).arguments)
            arguments.pop("self")
            arguments.update(arguments.pop("kwargs", {}))
            offline.__init__(self, **{name: value for name, value in arguments.items() if name in known})

    Offline.__name__ = Offline.__qualname__ = online.__name__
    return Offline


def _keep_comet(comet):
    _change(comet, "start", lambda arguments: arguments.update(online=False))
    for online, offline in (("Experiment", "OfflineExperiment"), ("ExistingExperiment", "ExistingOfflineExperiment")):
        if hasattr(comet, online) and hasattr(comet, offline):
            setattr(comet, online, _offline_comet(getattr(comet, online), getattr(comet, offline)))


def attach():
    """From the imports of the trackers on; a script may import one before torch."""
    after_import("wandb.sdk.wandb_init", lambda module: _change(module, "init", _keep_wandb_run))
    after_import("wandb.sdk.wandb_login", _wandb_without_login)
    tracking = "mlflow.tracking._tracking_service"
    after_import(f"{tracking}.utils", lambda module: _change(module, "set_tracking_uri", _keep_mlflow_store("uri")))
    for place, name in ((f"{tracking}.registry", "TrackingStoreRegistry"),
                        ("mlflow.tracking._model_registry.registry", "ModelRegistryStoreRegistry")):
        after_import(place, lambda module, name=name: _change(getattr(module, name), "get_store",
                                                              _keep_mlflow_store("store_uri")))
    after_import("trackio", lambda module: _change(module, "init", _keep_trackio_run))
    after_import("trackio.run", _nameless_trackio_runs)
    after_import("comet_ml", _keep_comet)
