# SPDX-License-Identifier: Apache-2.0
"""Steps of one rank among several: --world, --zero, --fit world, --global-batch."""
import pytest
from test_plan import BIN, plan, result
from test_plan_steps import assert_adds_up

pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
WHERE = ("--gpu", "a100-40gb", "--seq", 256)


def account(made, name):
    return next((line["bytes"] for line in made["ledger"]["children"][1]["children"] if line["id"] == name), 0)


def known_by(line):
    return {line["known_by"]}.union(*map(known_by, line.get("children", [])))


def test_ranks_that_share_nothing_need_what_one_device_needs():
    one, four = result("gpt2", *WHERE), result("gpt2", *WHERE, "--world", 4)
    assert four["peak"] == one["peak"]
    assert known_by(one["ledger"]) == {"derived", "estimated"}
    assert known_by(four["ledger"]) == {"estimated"}


@pytest.mark.parametrize("zero, shared", [(1, ["optimizer_state"]), (2, ["optimizer_state"]), (3, ["optimizer_state", "parameters"])])
def test_a_rank_has_its_share_of_what_is_shared(zero, shared):
    made = result("gpt2", *WHERE, "--world", 4, "--zero", zero, "--checkpoint", "full")
    states = result("gpt2", "--gpu", "a100-40gb", "--world", 4, "--zero", zero)
    assert_adds_up(made["ledger"])
    for name in ("parameters", "optimizer_state"):
        tensors = 12 * 12 + 4
        assert 0 <= account(made, name) - account(states, name) <= 2 * tensors, name
    whole = result("gpt2", *WHERE, "--checkpoint", "full")
    for name in shared:
        assert account(made, name) < 0.3 * account(whole, name) or account(whole, name) == 0


def test_more_is_shared_with_each_stage():
    needs = [result("gpt2", *WHERE, "--world", 8, "--zero", zero)["needed_bytes"] for zero in range(4)]
    assert sorted(needs, reverse=True) == needs and needs[3] < needs[0]


def test_the_smallest_number_of_ranks_that_fits():
    asked = ("llama-3.1-8b", "--gpu", "h100-80gb", "--seq", 1024, "--zero", 3)
    found = result(*asked, "--fit", "world")
    ranks = found["values"]["smallest"]
    assert ranks > 1 and found["verdict"] == "fits" and found["setup"]["world"] == ranks
    assert f"/ {ranks} ranks" in str(found["formulas"])
    assert result(*asked, "--world", ranks)["needed_bytes"] == found["needed_bytes"]
    fewer = plan(*asked, "--world", ranks - 1, "--json", status=0)
    assert '"verdict": "fits"' not in fewer.stdout
    assert "NOT EVEN 65,536 RANKS FIT" in plan("llama-3.1-8b", "--gpu", "t4", "--seq", 1024, "--zero", 1, "--fit", "world", status=1).stdout


def test_a_training_is_shared_by_its_ranks():
    one = result("gpt2", *WHERE, "--tokens", "1B")["time"]
    eight = result("gpt2", *WHERE, "--tokens", "1B", "--world", 8)["time"]
    assert eight["tokens_per_second"] == pytest.approx(8 * one["tokens_per_second"])
    assert eight["training"]["seconds"] == pytest.approx(one["training"]["seconds"] / 8)
    assert eight["training"]["gpu_hours"] == pytest.approx(one["training"]["gpu_hours"])


def test_a_global_batch_is_micro_batches_times_ranks():
    by_batch = result("gpt2", *WHERE, "--micro-batch", 2, "--world", 4, "--global-batch", 32)
    by_count = result("gpt2", *WHERE, "--micro-batch", 2, "--world", 4, "--accumulate", 4)
    assert by_batch["peak"] == by_count["peak"] and by_batch["flops"] == by_count["flops"]
    table = result("gpt2", *WHERE, "--micro-batch", "1,2", "--global-batch", 4)["points"]
    assert [point["flops"]["tokens"] for point in table] == [1024, 1024]


@pytest.mark.parametrize("flags, said", [
    (("--fit", "world"), "more ranks change nothing"),
    (("--fit", "world", "--world", 2, "--zero", 1), "looked for and given at once"),
    (("--zero", 1), "--world N as well"),
    (("--zero", 2, "--world", 1), "one rank has nobody to share with"),
    (("--global-batch", 5, "--micro-batch", 2), "not made of such micro batches"),
    (("--global-batch", 0), "not made of such micro batches"),
    (("--global-batch", 4, "--accumulate", 2), "one of the two"),
    (("--global-batch", 4, "--fit", "micro-batch"), "one of the two")])
def test_what_is_refused(flags, said):
    assert said in plan("gpt2", *WHERE, *flags, status=2).stderr


def test_what_is_of_one_rank_and_what_of_all_is_said():
    one, eight = plan("gpt2", *WHERE, "--tokens", "1B").stdout, plan("gpt2", *WHERE, "--tokens", "1B", "--world", 8, "--zero", 1).stdout
    for words in ("FLOPS of a step of 256 tokens on one rank", "TIME of a step of one rank without time on the wire", "tokens/s of all 8 ranks",
                  "GPU-hours (", "without time on the wire", "one of 8 ranks, ZeRO stage 1: its whole step"):
        assert words in eight
    assert "rank" not in one.split("PHASES")[1] and "wire" not in one
    assert "ZeRO stage 1: its states by closed form" in plan("gpt2", "--world", 8, "--zero", 1).stdout
