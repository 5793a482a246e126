"""Answers from Python are those of the command line; errors are too."""

import json
import os
import pickle
import subprocess

import pytest

import openwafer


def cli(*args):
    """What the program says: exit code, standard output, standard error."""
    done = subprocess.run(
        [os.environ["WAFER_PROGRAM"], *map(str, args)], capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def test_estimate_is_the_answer_of_the_command_line():
    answer = openwafer.estimate("bert-large", machine="wse2", batch=8192, seq=128)
    asked = ("estimate", "bert-large", "--machine", "wse2", "--batch", 8192, "--seq", 128)
    assert answer.to_dict() == json.loads(cli(*asked, "--json", "-")[1])
    assert str(answer) == cli(*asked)[1]


def test_keys_are_attributes_items_and_completions():
    answer = openwafer.estimate("bert-tiny", batch=64, epoch_samples=6400)
    assert answer.epoch_seconds == answer["epoch_seconds"] == pytest.approx(100 * answer.step_seconds)
    assert answer.memory.weights_bytes == answer["memory"]["weights_bytes"]
    assert answer.layers[0].name == answer["layers"][0]["name"]
    assert "samples_per_second" in dir(answer)
    with pytest.raises(AttributeError, match="no key 'sample_rate'; there are model, machine"):
        answer.sample_rate


def test_annotated_keys_are_there():
    answer = openwafer.estimate("bert-tiny", machine="h100", batch=8)
    assert set(openwafer.Answer.__annotations__) <= set(answer)


def test_a_notebook_shows_a_short_table_and_one_line():
    answer = openwafer.estimate("bert-tiny", batch=64)
    assert "<th>samples_per_second</th>" in answer._repr_html_()
    assert repr(answer).startswith("<Answer: bert-tiny on wse2, train, streamed: ")
    assert "\n" not in repr(answer)


def test_answers_can_be_copied_and_pickled():
    answer = openwafer.estimate("bert-tiny", batch=64)
    assert pickle.loads(pickle.dumps(answer)) == answer
    copied = answer.to_dict()
    copied["memory"].clear()
    assert answer.memory


def test_options_of_all_kinds_reach_the_question():
    answer = openwafer.estimate(
        "gpt3-1.3b", machine="a100-80gb", systems=8, tp=2, pp=2, dp=2, batch=64, micro_batch=2,
        sequence_parallel=True, sharding="optimizer", recompute="full", precision="bf16", seq=None,
    )
    told = json.loads(
        cli("estimate", "gpt3-1.3b", "--machine", "a100-80gb", "--systems", 8, "--tp", 2, "--pp", 2,
            "--dp", 2, "--batch", 64, "--micro-batch", 2, "--sequence-parallel", "--sharding",
            "optimizer", "--recompute", "full", "--precision", "bf16", "--json", "-")[1]
    )
    assert answer == told
    assert answer.parallelism.tensor == 2 and answer.parallelism.sequence is True


@pytest.mark.parametrize(
    "options, args, error",
    [
        ({"batch": 0}, ["--batch", "0"], openwafer.InputError),
        ({"sparsity": 1}, ["--sparsity", "1"], openwafer.InputError),
        ({"machine": "wse9"}, ["--machine", "wse9"], openwafer.InputError),
        ({"machine": "v100-32gb", "batch": 1}, ["--machine", "v100-32gb", "--batch", "1"],
         openwafer.CapacityError),
    ],
)
def test_errors_have_the_text_of_the_command_line(options, args, error):
    model = "gpt3-175b" if error is openwafer.CapacityError else "gpt2"
    code, _, text = cli("estimate", model, *args)
    with pytest.raises(error) as raised:
        openwafer.estimate(model, **options)
    assert "wafer: " + str(raised.value) + "\n" == text
    assert code == (3 if error is openwafer.CapacityError else 2)


def test_errors_are_of_one_family():
    assert issubclass(openwafer.InputError, (openwafer.Error, ValueError))
    assert issubclass(openwafer.CapacityError, openwafer.Error)
    with pytest.raises(openwafer.InputError, match="bert-large"):
        openwafer.estimate("bert-larg")


@pytest.mark.parametrize(
    "options, text",
    [
        ({"phase": "tain"}, '--phase: expected train or infer, found "tain"'),
        ({"batch": 1.5}, "--batch: expected a whole number below 2^53, found 1.5"),
        ({"batch": "many"}, '--batch: expected a whole number below 2^53, found "many"'),
        ({"sparsity": float("nan")}, "--sparsity: expected the share of weights that are zero, from 0 (dense) to less than 1, "
         'or N:M, N non-zeros in every M, as 2:4, found "nan"'),
        ({"dim": {"seq": 0}}, "--dim seq: expected a whole number from 1, found 0"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(options, text):
    with pytest.raises(openwafer.InputError) as raised:
        openwafer.estimate("gpt2", **options)
    assert str(raised.value) == text


def test_an_option_that_is_not_there_is_a_type_error_with_the_nearest():
    with pytest.raises(TypeError, match="no option 'micro_bach'; did you mean micro_batch?"):
        openwafer.estimate("gpt2", micro_bach=1)


def test_help_and_signature_list_every_option():
    import inspect

    parameters = inspect.signature(openwafer.estimate).parameters
    _, text, _ = cli("estimate", "--help")
    spelled = {"no_sequence_parallel", "json", "markdown", "csv", "help", "paper_roofline"}
    for name in set(openwafer.Options.__annotations__) - spelled:
        assert name in parameters
        assert "--" + name.replace("_", "-") in text, f"{name} is no option of the command line"
        assert name in openwafer.estimate.__doc__, f"{name} has no line in Options"


def test_compare_is_the_answer_of_the_command_line():
    names = ["wse2", "wse3x4", "a100-80gbx8"]
    compared = openwafer.compare("gpt3-1.3b", names, batch=512)
    asked = ("compare", "gpt3-1.3b", "--machines", ",".join(names), "--batch", 512)
    assert compared.to_dict() == json.loads(cli(*asked, "--json", "-")[1])
    assert str(compared) == cli(*asked)[1]
    assert compared == openwafer.compare("gpt3-1.3b", "wse2,wse3x4,a100-80gbx8", batch=512)
    assert compared["wse3x4"].ratio == compared.rows[1].ratio > 1
    assert "wse3x4" in repr(compared) and "<td>wse3x4</td>" in compared._repr_html_()


def test_compare_takes_machines_and_no_machine():
    with pytest.raises(TypeError, match="machines"):
        openwafer.compare("gpt2", ["wse2"], machine="wse3")


def test_validate_takes_the_rows_that_come_along_and_files(tmp_path):
    lines = open(os.path.join(os.path.dirname(__file__), "../../validation/system.csv")).readlines()
    mine = tmp_path / "mine.csv"
    mine.write_text("".join(lines[:40]))
    heard = []
    validation = openwafer.validate(mine, progress=lambda done, of: heard.append((done, of)))
    assert validation.to_dict() == json.loads(cli("validate", mine, "--json", "-")[1])
    assert heard[-1][0] == heard[-1][1] == len(validation.rows)
    assert repr(validation).startswith("<Validation: mean error ")
    with pytest.raises(openwafer.InputError, match="nowhere.csv"):
        openwafer.validate("nowhere.csv")


def test_machines_and_models_are_listed():
    assert "wse2" in [m.name for m in openwafer.machines()]
    assert openwafer.machines("wse2").name == "wse2"
    # BERT-base has 12 layers of width 768 (Devlin et al. 2018, section 3).
    bert = next(m for m in openwafer.models() if m.name == "bert-base")
    assert (bert.layers, bert.hidden) == (12, 768)
    assert [m.to_dict() for m in openwafer.models()] == json.loads(cli("models", "--json", "-")[1])


def test_paths_are_taken_as_such(tmp_path):
    machine = tmp_path / "mine.toml"
    machine.write_text('base = "wse2"\nname = "mine"\n')
    with pytest.raises(openwafer.InputError, match="mine.toml"):
        openwafer.estimate("bert-tiny", machine=tmp_path / "absent" / "mine.toml")
    with pytest.raises(TypeError):
        openwafer.estimate(42)


def test_prices_are_asked_for_by_machine():
    priced = openwafer.estimate("gpt2", batch=64, tokens=1e9, price={"wse2": 100})
    hours = priced.train_seconds / 3600
    assert priced.cost_usd == pytest.approx(100 * hours)
    assert priced.cost_of == "training"
    compared = openwafer.compare("gpt2", ["wse2", "h100x8"], batch=64, price={"wse2": 100, "h100": 2})
    assert all(row.cost_usd > 0 for row in compared.rows)
    with pytest.raises(openwafer.InputError, match="--price"):
        openwafer.estimate("gpt2", price={"wse2": -1})
    with pytest.raises(openwafer.InputError, match="nothing is asked of that machine"):
        openwafer.estimate("gpt2", price={"h100": 1})


def test_ways_to_run_a_wafer_have_their_options():
    resident = openwafer.estimate("llama3-8b", phase="infer", batch=1, seq=2048, cores="480x480")
    assert resident.resident.cores == 480
    pipelined = openwafer.estimate("gpt2", mode="pipelined", region=307840)
    assert pipelined.pipeline.region_pes <= 307840
    late = openwafer.estimate("bert-tiny", phase="infer", batch=1, host_latency=0.5)
    assert late.host_latency_seconds == 0.5
