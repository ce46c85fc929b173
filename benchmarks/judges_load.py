"""How close the judges come to the ideal time: N samples, W at a time, a server with a latency.

    python benchmarks/judges_load.py [--samples 500] [--workers 8] [--latency 0.2]
        [--kind video|plan] [--mode threads|xdist] [--size-mb 0]

The server runs in a process of its own. "threads" is one pytest process with
--judge-concurrency=W, "xdist" is -n W. Time is that of the whole command, start-up included.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests" / "judges"))

from fake_gemini import MODEL, Behaviour, Call, FakeGemini, friendly  # noqa: E402
from judge_samples import ENVIRONMENT, command_line, sample, trace, write_image, write_video  # noqa: E402


def forgetful(call: Call) -> Behaviour:
    """Answer, and keep no media, so that the server needs no memory that the judges could use."""
    behaviour = friendly(call)
    call.body = {}
    return behaviour


def serve(latency: float, pipe: Connection) -> None:
    """Run the server until told to stop; then send back how many calls came, and at most when."""
    with FakeGemini(forgetful, latency=latency) as server:
        pipe.send(server.url)
        pipe.recv()
        pipe.send((len(server.calls), server.most_in_flight))


def write_samples(folder: Path, kind: str, count: int, size_mb: float) -> Path:
    """Write a manifest; every video differs from the others."""
    if kind == "plan":
        path = folder / "load.plan.jsonl"
        rows = [trace(id=f"t{number}", instruction=f"Do {number}.") for number in range(count)]
    else:
        path = folder / "load.nav.jsonl"
        write_image(folder / "scene.png", 200)
        clip = write_video(folder / "clip.mp4").read_bytes()
        padding = bytes(int(size_mb * 1e6))
        for number in range(count):
            (folder / f"v{number}.mp4").write_bytes(clip + padding + number.to_bytes(4, "big"))
        rows = [
            sample(sample_id=f"v{number}", output_path=f"v{number}.mp4") for number in range(count)
        ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def main() -> None:
    """Measure once and print a line of figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--kind", choices=["video", "plan"], default="video")
    parser.add_argument("--mode", choices=["threads", "xdist"], default="threads")
    parser.add_argument("--size-mb", type=float, default=0)
    options = parser.parse_args()
    here, there = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(
        target=serve, args=(options.latency, there)
    )
    server.start()
    url = here.recv()
    ways = {
        "threads": [f"--judge-concurrency={options.workers}"],
        "xdist": ["-n", str(options.workers), "--judge-concurrency=1"],
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_samples(folder, options.kind, options.samples, options.size_mb)
        environment = {**os.environ, **ENVIRONMENT, "GEMINI_API_KEY": "none"}
        started = time.monotonic()
        done = subprocess.run(
            command_line(
                path.name,
                "-q",
                f"--judge-model={MODEL}",
                f"--judge-base-url={url}",
                f"--judge-cache={folder / 'cache'}",
                *ways[options.mode],
            ),
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        took = time.monotonic() - started
    # Before the server is waited for, which would be counted too.
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    here.send("stop")
    calls, most = here.recv()
    server.join()
    ideal = options.samples * options.latency / options.workers
    print(
        f"{options.mode} {options.kind} {options.size_mb:g} MB: {took:.1f} s, ideal {ideal:.1f} s, "
        f"ratio {took / ideal:.2f}, calls {calls}, at most {most} at a time, "
        f"CPU {children.ru_utime + children.ru_stime:.1f} s, "
        f"peak {children.ru_maxrss / 1024:.0f} MiB, "
        f"{done.stdout.strip().splitlines()[-1]}"
    )


if __name__ == "__main__":
    main()
