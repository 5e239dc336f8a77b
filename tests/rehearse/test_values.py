# SPDX-License-Identifier: Apache-2.0
"""Values that steer a script: computed where they can be, answered by named policies where not."""


def policies(run):
    return {p["policy"] for p in run.policies}


def test_small_values_are_computed(rehearse):
    run = rehearse("values.py")
    assert "script: values right" in run.stderr
    assert "read-int" not in policies(run)
    assert all("values.py" in p["line"] for p in run.policies)


def test_generation_makes_exactly_its_tokens(rehearse):
    run = rehearse("generate.py")
    assert "script: generated" in run.stderr
    assert "index" in policies(run) and "generation" not in run.not_seen


def test_routing_is_balanced_unless_asked(rehearse):
    run = rehearse("experts.py")
    assert "script: tokens [1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024]" in run.stderr
    assert "routing-balanced" in policies(run)
    skewed = rehearse("experts.py", flags=["--routing", "skewed"])
    assert "script: tokens [4096, 4096, 0, 0, 0, 0, 0, 0]" in skewed.stderr


def test_the_gradient_scaler_keeps_its_scale(rehearse):
    run = rehearse("scaler.py", flags=["--steps", "all"])
    assert "script: scale kept" in run.stderr
    assert "found-inf" in policies(run)


def test_allocations_do_not_change(rehearse):
    """With the evaluation the allocator does the same, byte for byte."""
    on = rehearse("mlp.py")
    off = rehearse("mlp.py", environment={"ULLAGE_VALUES": "0"})
    assert on.peak == off.peak and on.phases == off.phases
