"""Media: checks before any call, inline and uploaded parts, order and settings on the wire."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
import pytest
from fake_gemini import FakeGemini, camel, failed, generated, hanging, navigation_json
from judge_samples import sample, write_video

from pytest_robomem.judges.media import check_decodable, fingerprint
from pytest_robomem.judges.navigation_samples import NavigationSample
from pytest_robomem.judges.outcomes import AttemptFailedError, JudgeStatus

MakeRuntime = Callable[..., Any]


def judge(runtime: Any, folder: Path, **changes: Any) -> Any:
    checked = NavigationSample.model_validate(sample(**changes))
    return runtime.navigation(checked, folder=folder, source="s").result(60)


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_order_of_the_message(server: FakeGemini, make_runtime: MakeRuntime, media: Path) -> None:
    level = {"destination": "location_description"}
    judge(make_runtime(), media, location_text="beside the green sofa", level=level)
    call = server.calls[0]
    assert len(call.body["contents"]) == 1
    kinds = [
        "text" if "text" in part else camel(part["inlineData"])["mimeType"] for part in call.parts
    ]
    assert kinds == ["text", "image/png", "text", "video/mp4"]
    assert call.texts[0].startswith("# Role")
    assert "beside the green sofa" in call.texts[1]
    assert call.media == [
        ("image/png", sha(media / "scene.png")),
        ("video/mp4", sha(media / "walk.mp4")),
    ]
    assert call.parts[3]["videoMetadata"] == {"fps": 4.0}
    assert "videoMetadata" not in call.parts[1]
    assert "systemInstruction" not in call.body


def test_no_location_text_without_one(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    judge(make_runtime(), media)
    assert len(server.calls[0].texts) == 1
    assert len(server.calls[0].parts) == 3


def test_media_first_resolution_and_fps(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    runtime = make_runtime(media_order="media-first", media_resolution="low", fps=8)
    verdict = judge(runtime, media)
    kinds = ["text" if "text" in part else "media" for part in server.calls[0].parts]
    assert kinds == ["media", "media", "text"]
    assert server.calls[0].config["mediaResolution"] == "MEDIA_RESOLUTION_LOW"
    assert server.calls[0].parts[1]["videoMetadata"] == {"fps": 8.0}
    assert (verdict.provenance.fps, verdict.provenance.media_resolution) == (8, "low")
    assert verdict.provenance.media_sha256 == (sha(media / "scene.png"), sha(media / "walk.mp4"))


def test_images(server: FakeGemini, make_runtime: MakeRuntime, media: Path) -> None:
    verdict = judge(make_runtime(), media, modality="image", output_path="end.png", task="slag")
    assert [mime for mime, _ in server.calls[0].media] == ["image/png", "image/png"]
    assert (len(verdict.metrics), verdict.gates["overall"]) == (10, 1)
    assert verdict.provenance.fps is None


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("missing", "no such file"),
        ("folder", "no regular file"),
        ("empty", "is empty"),
        ("garbage", "no frame of it can be decoded"),
        ("cut", "no frame of it can be decoded"),
        ("no output", "gave no output"),
        ("scene missing", "no such file"),
        ("scene garbage", "cannot be decoded"),
        ("scene type", "no image of a usable type"),
    ],
)
def test_unusable_media_cost_nothing(
    damage: str, reason: str, server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    video, changes = media / "walk.mp4", {}
    content = video.read_bytes()
    if damage in ("missing", "folder"):
        video.unlink()
    if damage == "folder":
        video.mkdir()
    elif damage == "empty":
        video.write_bytes(b"")
    elif damage == "garbage":
        video.write_bytes(b"\0\1\2" * 5000)
    elif damage == "cut":
        video.write_bytes(content[: len(content) // 3])
    elif damage == "no output":
        changes = {"output_path": None}
    elif damage == "scene missing":
        (media / "scene.png").unlink()
    elif damage == "scene garbage":
        (media / "scene.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 50)
    elif damage == "scene type":
        changes = {"scene_ref": "walk.mp4"}
    verdict = judge(make_runtime(), media, **changes)
    assert (verdict.status, verdict.success, verdict.metrics) == ("file_failed", None, None)
    assert reason in verdict.reason
    assert not server.calls
    assert not server.files


def test_an_image_bomb_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, media: Path
) -> None:
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(AttemptFailedError, match="cannot be decoded") as caught:
        check_decodable(fingerprint(media / "scene.png", "image"))
    assert caught.value.status is JudgeStatus.FILE_FAILED


def test_too_large_a_file(media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_robomem.judges.media.LARGEST_FILE_BYTES", 10)
    with pytest.raises(AttemptFailedError, match="more than the 10"):
        fingerprint(media / "walk.mp4", "video")


@pytest.mark.parametrize("name", ["a.mov", "a.webm", "a.avi"])
def test_usual_containers(tmp_path: Path, name: str) -> None:
    frames = np.zeros((3, 48, 48, 3), dtype=np.uint8)
    codec = {"a.mov": "libx264", "a.webm": "libvpx", "a.avi": "mpeg4"}[name]
    iio.imwrite(tmp_path / name, frames, fps=4, codec=codec)
    check_decodable(fingerprint(tmp_path / name, "video"))


def test_large_media_are_uploaded_once_for_all_votes_and_deleted(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    size = (media / "scene.png").stat().st_size
    verdict = judge(make_runtime(inline_limit=size, votes=3), media)
    assert verdict.status == "ok"
    assert len(server.calls) == 3
    (stored,) = server.files.values()
    assert stored.sha256.hexdigest() == sha(media / "walk.mp4")
    assert (stored.mime_type, stored.deleted) == ("video/mp4", True)
    for call in server.calls:
        assert call.media[0] == ("image/png", sha(media / "scene.png"))
        assert call.media[1] == ("video/mp4", f"{server.url}/v1beta/{stored.name}")
        assert call.parts[2]["videoMetadata"] == {"fps": 4.0}


def test_uploads_are_sent_in_chunks(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    with (media / "walk.mp4").open("ab") as file:
        file.truncate(9 * 2**20)
    assert judge(make_runtime(inline_limit=0), media).status == "ok"
    sizes = sorted(stored.data for stored in server.files.values())
    assert sizes == [(media / "scene.png").stat().st_size, 9 * 2**20]
    assert all(stored.deleted for stored in server.files.values())


def test_a_file_that_the_server_cannot_use(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    server.file_states = ("PROCESSING", "FAILED")
    verdict = judge(make_runtime(inline_limit=0), media)
    assert (verdict.status, verdict.metrics) == ("file_failed", None)
    assert "codec not supported" in verdict.reason
    assert not server.calls
    assert all(stored.deleted for stored in server.files.values())


def test_a_file_that_is_never_ready(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    server.file_states = ("PROCESSING",)
    verdict = judge(make_runtime(inline_limit=0, deadline=0.5), media)
    assert (verdict.status, len(server.calls)) == ("file_failed", 0)
    assert "not ready" in verdict.reason
    assert all(stored.deleted for stored in server.files.values())


@pytest.mark.parametrize("code", [429, 503])
def test_a_failed_upload_is_tried_again(
    code: int, server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    server.upload_script.append(failed(code, "UNAVAILABLE"))
    assert judge(make_runtime(inline_limit=0), media).status == "ok"


def test_an_upload_that_is_refused(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    server.upload_script.append(failed(403, "PERMISSION_DENIED", "not yours"))
    verdict = judge(make_runtime(inline_limit=0), media)
    assert (verdict.status, len(server.calls)) == ("file_failed", 0)
    assert "not yours" in verdict.reason


def test_an_upload_that_hangs_is_left_at_the_deadline(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    server.upload_script.append(hanging())
    verdict = judge(make_runtime(inline_limit=0, deadline=0.5), media)
    assert (verdict.status, len(server.calls)) == ("file_failed", 0)


def test_uploads_are_deleted_when_the_run_is_interrupted(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    server.responder = lambda _: hanging()
    runtime = make_runtime(inline_limit=0)
    pending = runtime.navigation(
        NavigationSample.model_validate(sample()), folder=media, source="s"
    )
    while not server.calls:
        assert not pending.done()
        time.sleep(0.02)
    runtime.close()
    assert len(server.files) == 2
    assert all(stored.deleted for stored in server.files.values())


def test_a_later_frame_may_be_broken(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    write_video(media / "walk.mp4", 5, frames=40)
    assert judge(make_runtime(), media).status == "ok"


def test_frame_tokens_are_recorded(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    usage = {
        "promptTokenCount": 900,
        "promptTokensDetails": [
            {"modality": "TEXT", "tokenCount": 300},
            {"modality": "VIDEO", "tokenCount": 550},
            {"modality": "IMAGE", "tokenCount": 50},
        ],
    }
    server.responder = lambda call: generated(navigation_json(call), usage=usage)
    vote = judge(make_runtime(), media).votes[0]
    assert (vote.usage.prompt, vote.usage.media, vote.usage.output) == (900, 600, 0)
