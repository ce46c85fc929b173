"""Where the prompts are, which version they have, and how values are put into them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from .outcomes import PromptError


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as it was read: its id, version, LF-normalised text and the text's sha256."""

    prompt_id: str
    version: int
    sha256: str
    text: str


@lru_cache(maxsize=8)
def prompt_root(chosen: Path | None = None) -> Path:
    """Return the folder of the prompts: the chosen one, the packaged one, or the source tree's.

    Raises `PromptError` when none of them holds a manifest.
    """
    package = Path(__file__).resolve().parent.parent
    places = [chosen] if chosen is not None else [package / "prompts", package.parent / "prompts"]
    for place in places:
        if (place / "manifest.json").is_file():
            return place
    raise PromptError(f"no manifest.json of prompts in {', '.join(map(str, places))}")


def normalised_sha256(content: bytes) -> tuple[str, str]:
    """Return the text with LF line ends and its sha256, so that a checkout's line ends are moot.

    Raises `UnicodeDecodeError` where the content is not UTF-8.
    """
    text = content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    return text, hashlib.sha256(text.encode("utf-8")).hexdigest()


def read_manifest(root: Path) -> dict[str, Any]:
    """Read `manifest.json`: `{"prompts": {id: {"file", "version", "sha256": {version: hash}}}}`.

    Raises `PromptError` where it cannot be read or has another form.
    """
    try:
        content = json.loads((root / "manifest.json").read_text("utf-8"))
        prompts = content["prompts"]
        for entry in prompts.values():
            if str(entry["version"]) not in entry["sha256"] or not isinstance(entry["file"], str):
                raise KeyError("version")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise PromptError(f"{root / 'manifest.json'}: {type(error).__name__}: {error}") from None
    return dict(prompts)


@lru_cache(maxsize=64)
def load_prompt(root: Path, prompt_id: str) -> Prompt:
    """Read one prompt and hold it against the manifest.

    Raises `PromptError` where it is missing or was changed without a new version.
    """
    entry = read_manifest(root).get(prompt_id)
    if entry is None:
        raise PromptError(f"{root / 'manifest.json'} does not list the prompt {prompt_id!r}")
    path = root / entry["file"]
    try:
        text, sha256 = normalised_sha256(path.read_bytes())
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"cannot read the prompt {path}: {error}") from None
    version = int(entry["version"])
    if entry["sha256"][str(version)] != sha256:
        raise PromptError(
            f"{path} differs from version {version} in the manifest: raise its version and add "
            f'"{version + 1}": "{sha256}" to its hashes'
        )
    return Prompt(prompt_id, version, sha256, text)


@lru_cache(maxsize=8)
def prompt_set_sha256(root: Path, kind: str) -> str:
    """Hash of all prompts of a kind ("plan", "navigation", "rollout"), to keep results apart."""
    ids = sorted(name for name in read_manifest(root) if name.split("/")[0] == kind)
    hashes = [(name, load_prompt(root, name).sha256) for name in ids]
    return hashlib.sha256(json.dumps(hashes).encode()).hexdigest()


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace each `{name}` once, in one pass, so that braces inside a value stay inert.

    Raises `PromptError` unless the template names every value exactly once.
    """
    pattern = re.compile(r"\{(" + "|".join(map(re.escape, values)) + r")\}")
    found = pattern.findall(template)
    if sorted(found) != sorted(values):
        raise PromptError(f"the template must name each of {sorted(values)} once, has {found}")
    return pattern.sub(lambda match: values[match.group(1)], template)
