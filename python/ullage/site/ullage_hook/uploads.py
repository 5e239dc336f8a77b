# SPDX-License-Identifier: Apache-2.0
"""Nothing is sent to the Hugging Face hub: weights in a rehearsal are not trained. Downloads are not touched."""
import concurrent.futures
import functools
import inspect
import sys

from .importing import after_import

# Methods of HfApi that change something on the hub, by what they give back.
_COMMITS = ("create_commit", "upload_file", "upload_folder", "delete_file", "delete_files", "delete_folder")
_REPOSITORIES = ("create_repo", "duplicate_repo", "duplicate_space")
_NOTHING = ("upload_large_folder", "preupload_lfs_files", "delete_repo", "move_repo", "update_repo_settings",
            "update_repo_visibility", "super_squash_history", "permanently_delete_lfs_files", "create_branch",
            "delete_branch", "create_tag", "delete_tag", "create_discussion", "create_pull_request",
            "comment_discussion", "merge_pull_request", "upload_attachment", "create_collection", "delete_collection",
            "add_collection_item", "delete_collection_item", "add_space_secret", "add_space_variable",
            "restart_space", "request_space_hardware", "create_bucket", "delete_bucket", "move_bucket",
            "batch_bucket_files", "sync_bucket", "copy_files", "run_job", "run_uv_job", "create_inference_endpoint")
NO_COMMIT = "0" * 40


def _repository_url(hf_api, repo_id, repo_type=None):
    prefix = f"{repo_type}s/" if repo_type in ("dataset", "space") else ""
    name = str(repo_id)
    return f"{hf_api.constants.ENDPOINT}/{prefix}{name if '/' in name else 'user/' + name}"


def _repository(hf_api, arguments):
    repo_id = arguments.get("to_id") or arguments.get("repo_id") or arguments.get("from_id")
    return hf_api.RepoUrl(_repository_url(hf_api, repo_id, arguments.get("repo_type")))


def _commit(hf_api, arguments):
    url = _repository_url(hf_api, arguments.get("repo_id"), arguments.get("repo_type"))
    message = arguments.get("commit_message") or "not sent: a rehearsal"
    return hf_api.CommitInfo(commit_url=f"{url}/commit/{NO_COMMIT}", commit_message=message, commit_description="",
                             oid=NO_COMMIT)


class _Notice:
    def __init__(self, records):
        self._records = records
        self._given = False

    def give(self, name):
        if self._given:
            return
        self._given = True
        text = f"nothing was sent to the Hugging Face hub: {name} and the like do nothing in a rehearsal"
        sys.stderr.write(f"ullage: {text}\n")
        self._records.add("saw", what="hub_upload")
        self._records.add("note", text=text)


def _named_arguments(function, args, kwargs):
    try:
        return inspect.signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError:  # the call is wrong; so be it
        return kwargs


def _refused(function, name, answer, notice):
    @functools.wraps(function)
    def refuse(*args, **kwargs):
        notice.give(name)
        arguments = _named_arguments(function, args, kwargs)
        result = answer(arguments)
        if not arguments.get("run_as_future"):
            return result
        future = concurrent.futures.Future()
        future.set_result(result)
        return future

    return refuse


def _replace(hf_api, name, answer, notice):
    api = hf_api.HfApi
    if not hasattr(api, name):
        return
    setattr(api, name, _refused(getattr(api, name), name, answer, notice))
    # The module's own functions are methods that were bound before.
    bound = getattr(hf_api, name, None)
    if bound is not None and hasattr(bound, "__self__"):
        setattr(hf_api, name, getattr(bound.__self__, name))


def _refuse_all(hf_api, records):
    notice = _Notice(records)
    for name in _COMMITS:
        _replace(hf_api, name, functools.partial(_commit, hf_api), notice)
    for name in _REPOSITORIES:
        _replace(hf_api, name, functools.partial(_repository, hf_api), notice)
    for name in _NOTHING:
        _replace(hf_api, name, lambda arguments: None, notice)


def refuse(records):
    """From the import of huggingface_hub on."""
    after_import("huggingface_hub.hf_api", lambda module: _refuse_all(module, records))
