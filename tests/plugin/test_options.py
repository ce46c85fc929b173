"""Settings: what is accepted, what is refused and how."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_robomem.options import OPTIONS
from pytest_robomem.settings import SettingsError, make_settings, parse_seeds, public_arguments
from tests.golden import ROOT
from tests.plugin.conftest import Bench


def defaults(**given_values: str) -> dict[str, str | None]:
    return {option.key: option.default for option in OPTIONS} | {"policy": "hold"} | given_values


@pytest.mark.parametrize(
    ("spec", "seeds"),
    [
        ("100", [100]),
        ("100:103", [100, 101, 102]),
        ("100,105,110:113", [100, 105, 110, 111, 112]),
        (" 3 , 1 ", [3, 1]),
    ],
)
def test_seeds(spec: str, seeds: list[int]) -> None:
    assert list(parse_seeds(spec)) == seeds


@pytest.mark.parametrize(
    "spec", ["", "a", "-1", "5:5", "5:3", "1:2:3", "1,,2", "1,1", "0:3,2", "4294967296", "1.5", "²"]
)
def test_nonsense_seeds_are_refused(spec: str) -> None:
    with pytest.raises(ValueError, match=r"seed|range"):
        parse_seeds(spec)


@given(st.lists(st.integers(0, 2**32 - 1), unique=True, min_size=1))
def test_any_list_of_seeds_is_kept(seeds: list[int]) -> None:
    assert list(parse_seeds(",".join(map(str, seeds)))) == seeds


@pytest.mark.parametrize(
    ("rules", "first", "last", "prompts"),
    [("guide", 100, 149, "ours"), ("official", 50, 100, "published"), ("strict", 100, 149, "ours")],
)
def test_the_rulebook_knows_its_sweep_and_its_wording(
    rules: str, first: int, last: int, prompts: str
) -> None:
    settings = make_settings(defaults(rules=rules, seeds="sweep"), ROOT)
    assert (settings.seeds[0], settings.seeds[-1]) == (first, last)
    assert len(settings.seeds) == last - first + 1
    assert settings.prompts == prompts
    assert make_settings(defaults(rules=rules, prompts="stem"), ROOT).prompts == "stem"


@pytest.mark.parametrize(
    ("key", "value", "flag"),
    [
        ("rules", "lenient", "--robomem-rules"),
        ("success", "maybe", "--robomem-success"),
        ("max_steps", "0", "--robomem-max-steps"),
        ("max_steps", "many", "--robomem-max-steps"),
        ("replan_steps", "-1", "--robomem-replan-steps"),
        ("settle_steps", "-1", "--robomem-settle-steps"),
        ("image_size", "0", "--robomem-image-size"),
        ("timeout", "0", "--robomem-timeout"),
        ("timeout", "nan", "--robomem-timeout"),
        ("policy_kwargs", "[1]", "--policy-kwargs"),
        ("policy_kwargs", "{'a': 1}", "--policy-kwargs"),
        ("policy", "no_such_file.py:build", "--policy"),
        ("policy", ":build", "--policy"),
        ("policy", "module:", "--policy"),
        ("seeds", "5:5", "--seeds"),
        ("video", "always", "--robomem-video"),
        ("render", "glx", "--robomem-render"),
        ("prompts", "german", "--robomem-prompts"),
    ],
)
def test_each_nonsense_value_names_its_option(key: str, value: str, flag: str) -> None:
    with pytest.raises(SettingsError) as caught:
        make_settings(defaults(**{key: value}), ROOT)
    assert str(caught.value).startswith(f"{flag} (or ini robomem_{key}): ")


def test_nonsense_ends_the_run_before_any_worker_starts(bench: Bench) -> None:
    result = bench.run("--seeds=9:9", "--robomem-max-steps=-3", "-n2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--seeds (or ini robomem_seeds): the range 9:9 is empty*"])
    result.stderr.fnmatch_lines(["*--robomem-max-steps*greater than 0*"])
    result.stdout.no_fnmatch_line("*worker*")


def test_every_option_has_an_ini_twin(bench: Bench) -> None:
    bench.pytester.makeini(
        "[pytest]\nrobomem_policy = mine\nrobomem_seeds = 5:7\nrobomem_max_steps = 12\n"
        "robomem_prompts = published\n"
    )
    bench.run("-m", "task04", policy=None).assert_outcomes(failed=2)
    records = bench.records()
    assert [record["seed"] for record in records] == [5, 6]
    assert records[0]["steps"] == 12
    assert records[0]["prompt"].startswith("Open and close all drawers in order to check.")
    bench.run("-m", "task04", "--seeds=9", policy=None).assert_outcomes(failed=1)


def test_secrets_are_hidden_wherever_arguments_are_shown() -> None:
    words = ["--policy=mine", '--policy-kwargs={"api_key": "sesame", "port": 1}', "--policy-kwargs"]
    shown = public_arguments([*words, '{"nested": [{"Token": "sesame"}]}', "sesame-street"])
    assert shown == [
        "--policy=mine",
        '--policy-kwargs={"api_key": "***", "port": 1}',
        "--policy-kwargs",
        '{"nested": [{"Token": "***"}]}',
        "sesame-street",
    ]
    assert public_arguments(["--policy-kwargs={broken sesame"]) == ["--policy-kwargs=***"]


def test_the_key_of_a_policy_is_in_no_file_and_no_output(bench: Bench) -> None:
    result = bench.run(
        "-m", "basket", "--junit-xml=junit.xml", "-n2", kind="raises", task=2, api_key="sesame"
    )
    result.assert_outcomes(errors=1, failed=2)
    written = [path for path in bench.folder.rglob("*") if path.is_file()]
    assert len(written) > 5
    for text in (result.stdout.str(), result.stderr.str()):
        assert "sesame" not in text
    for path in written:
        assert b"sesame" not in path.read_bytes(), path
