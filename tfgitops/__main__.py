"""The program: it must start quickly, so the garbage collector sleeps before anything is imported."""

import gc
import sys


def main() -> None:
    """Run the command line."""
    gc.disable()  # one compile makes no garbage in circles that would be worth the time to look for
    from tfgitops.cli import app  # noqa: PLC0415 - imports make garbage, too
    from tfgitops.cli.streams import attach, detach  # noqa: PLC0415

    attach()
    try:
        app()
    except SystemExit as end:
        sys.exit(detach(end.code if isinstance(end.code, int) else int(end.code is not None)))
    finally:
        gc.freeze()  # nor does the interpreter at its exit


if __name__ == "__main__":
    main()
