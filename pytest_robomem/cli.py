"""The ``robomem`` command."""

import argparse
import sys
from collections.abc import Sequence

from pytest_robomem import package_version
from pytest_robomem.doctor import report_lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the ``robomem`` command; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="robomem", description="Tools beside pytest for robot-memory benchmarks."
    )
    parser.add_argument(
        "--version", action="version", version=f"pytest-robomem {package_version()}"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("doctor", help="check the installation: simulator, assets, rendering")
    parser.parse_args(arguments)
    healthy, lines = report_lines()
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if healthy else 1
