"""The console script: it must start quickly, so the garbage collector sleeps before anything is imported."""

import gc


def main() -> None:
    """Run the command line."""
    gc.disable()  # one compile makes no garbage in circles that would be worth the time to look for
    try:
        from tfgitops.cli import app  # noqa: PLC0415 - imports make garbage, too

        app()
    finally:
        gc.freeze()  # nor does the interpreter at its exit
