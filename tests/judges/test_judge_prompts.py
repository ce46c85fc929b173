"""Prompts: versions, completeness, and inert values."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from judge_samples import trace

from pytest_robomem.judges.navigation import prompt_id
from pytest_robomem.judges.navigation_metrics import ALL_METRICS, METRICS, TASKS, keys_of
from pytest_robomem.judges.outcomes import PromptError
from pytest_robomem.judges.plan import parse_plan_reply
from pytest_robomem.judges.prompts import fill, load_prompt, prompt_root, read_manifest
from pytest_robomem.judges.traces import PlanTrace, prompt_values

ROOT = prompt_root()
# The hashes that were published, by prompt and version. A changed prompt needs a new version in
# prompts/manifest.json, and a new line here; lines here are never changed.
PUBLISHED = json.loads(Path(__file__).with_name("published_prompts.json").read_text())


def test_a_changed_prompt_has_a_new_version() -> None:
    for name, entry in read_manifest(ROOT).items():
        prompt = load_prompt(ROOT, name)
        published = PUBLISHED[name][str(prompt.version)]
        assert prompt.sha256 == published, f"{name} was changed without a new version"
        assert entry["sha256"].items() >= PUBLISHED[name].items()
        assert len(set(entry["sha256"].values())) == len(entry["sha256"])
        assert max(map(int, entry["sha256"])) == prompt.version


def test_every_prompt_file_is_in_the_manifest() -> None:
    files = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*.md")}
    assert files == {entry["file"] for entry in read_manifest(ROOT).values()}
    assert len(files) == 2 + 8 + 1


@pytest.fixture
def own_prompts(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT, tmp_path / "prompts"))


def test_loading_refuses_a_change_without_a_version(own_prompts: Path) -> None:
    path = own_prompts / "plan" / "user.md"
    path.write_bytes(path.read_bytes() + b"!")
    with pytest.raises(PromptError, match=r"raise its version and add \"2\": \"[0-9a-f]{64}\""):
        load_prompt(own_prompts, "plan/user")


def test_line_ends_of_a_checkout_do_not_matter(own_prompts: Path) -> None:
    path = own_prompts / "plan" / "user.md"
    before = load_prompt(ROOT, "plan/user")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_prompt(own_prompts, "plan/user") == before


@pytest.mark.parametrize("damage", ["missing", "broken", "no version"])
def test_a_damaged_manifest_is_a_prompt_error(own_prompts: Path, damage: str) -> None:
    path = own_prompts / "manifest.json"
    if damage == "missing":
        (own_prompts / "plan" / "user.md").unlink()
    elif damage == "broken":
        path.write_text("{")
    else:
        path.write_text(
            json.dumps({"prompts": {"plan/user": {"file": "x", "version": 3, "sha256": {}}}})
        )
    with pytest.raises(PromptError):
        load_prompt(own_prompts, "plan/user")


def test_a_folder_without_prompts_is_a_prompt_error(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match=r"no manifest\.json"):
        prompt_root(tmp_path)


def test_braces_and_field_names_in_values_stay_inert() -> None:
    hostile = "{error_reason} {{x}} {0} %s \\1 \\g<0> {remaining_actions}"
    values = prompt_values(
        PlanTrace.model_validate(trace(instruction=hostile, scene_graph={"{instruction}": "{{"}))
    )
    text = fill(load_prompt(ROOT, "plan/user").text, values)
    assert hostile in text
    assert '{"{instruction}": "{{"}' in text
    assert text.count(trace()["executed_actions"][0]) == 1


def test_the_user_template_has_exactly_the_ten_fields() -> None:
    values = prompt_values(PlanTrace.model_validate(trace()))
    found = re.findall(r"\{(\w+)\}", load_prompt(ROOT, "plan/user").text)
    assert sorted(found) == sorted(values) == sorted(set(found))
    assert len(found) == 10


@pytest.mark.parametrize("template", ["{a}", "{a}{b}{b}", "no"])
def test_templates_must_name_each_field_once(template: str) -> None:
    with pytest.raises(PromptError, match="once"):
        fill(template, {"a": "1", "b": "2"})


@pytest.mark.parametrize("modality", ["video", "image"])
@pytest.mark.parametrize("task", TASKS)
def test_navigation_prompts_define_their_own_metrics_and_no_others(
    task: str, modality: str
) -> None:
    text = load_prompt(ROOT, prompt_id(task, modality)).text  # type: ignore[arg-type]
    defined = re.findall(r"^- ([A-Z0-9_]+): ", text, re.MULTILINE)
    assert defined == [keys_of(task, metric)[0] for metric in METRICS[task]]  # type: ignore[index,arg-type]
    assert f"exactly these {len(defined)} keys" in text.replace("\n", " ")
    assert not re.search(r"\{[a-z_]+\}", text), "a navigation prompt has no placeholders"
    assert 'In doubt "0"' in text
    assert modality in text.split("\n")[2]


def test_metric_counts_per_task() -> None:
    assert [len(METRICS[task]) for task in TASKS] == [7, 7, 7, 10]
    assert len(ALL_METRICS) == 10


def test_prompt_texts_differ_between_tasks_and_modalities() -> None:
    texts = {load_prompt(ROOT, name).sha256 for name in read_manifest(ROOT)}
    assert len(texts) == len(read_manifest(ROOT))


def test_plan_prompt_shows_four_worked_cases_with_valid_replies() -> None:
    text = load_prompt(ROOT, "plan/system").text
    replies = [parse_plan_reply(line) for line in text.split("\n") if line.startswith('{"summary"')]
    assert [reply.score for reply in replies] == [3, 3, 4, 3]
    assert all(reply.success_boolean for reply in replies)
