# SPDX-License-Identifier: Apache-2.0
"""A command line without the values that its arguments' names call secret; the same rule as src/base/secrets.cpp."""
import re

MASK = "***"
_NAME = re.compile(r"[a-z0-9_\-.+/]+")
_SECRET = re.compile(r"secret|passw|credential|(?:token|key)(?![a-z0-9])")


def names_a_secret(name):
    name = name.lower()
    return bool(_NAME.fullmatch(name) and _SECRET.search(name))


def without_secrets(command):
    shown, value_follows = [], False
    for word in map(str, command):
        name, equals, _ = word.partition("=")
        if value_follows and not word.startswith("--"):
            shown.append(MASK)
        elif equals and names_a_secret(name):
            shown.append(f"{name}={MASK}")
        else:
            shown.append(word)
        value_follows = word.startswith("-") and not equals and names_a_secret(word)
    return shown
