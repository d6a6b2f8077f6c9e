"""The console script: it must start quickly, so the garbage collector sleeps before anything is imported."""

import gc
import sys

from tfgitops.streams import attach, detach


def main() -> None:
    """Run the command line."""
    gc.disable()  # one compile makes no garbage in circles that would be worth the time to look for
    attach()
    try:
        from tfgitops.cli import app  # noqa: PLC0415 - imports make garbage, too

        app()
    except SystemExit as end:
        sys.exit(detach(end.code if isinstance(end.code, int) else int(end.code is not None)))
    finally:
        gc.freeze()  # nor does the interpreter at its exit
