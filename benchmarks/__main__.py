"""Runs one benchmark by name."""

import importlib
import sys

NAMES = (
    *("step", "equality", "reset", "startup", "memory", "loop", "render", "collect", "record"),
    "rescore",
)


def main() -> int:
    """Run the benchmark that the first argument names; its options follow."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in NAMES:
        print(f"usage: python -m benchmarks {{{','.join(NAMES)}}} [--help]")
        return 2
    sys.argv[:2] = [f"python -m benchmarks {name}"]
    return int(importlib.import_module(f"benchmarks.{name}").main() or 0)


if __name__ == "__main__":
    sys.exit(main())
