"""Show the functions in which a compile of N jobs spends its time, without the writing, under cProfile.

A profiler makes short functions look dearer than they are. Take from it where to look, and from bench.py what was won.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import tempfile
from pathlib import Path

from workload import trainings, write_spec

from tfgitops.compiler.session import compile_all, open_session


def profile(count: int, top: int, order: str) -> None:
    """Compile some jobs once with empty caches, as in a new process, and print the top functions.

    Raises:
        RuntimeError: the workload is no longer a spec without errors.
    """
    with tempfile.TemporaryDirectory(prefix="tfgitops-profile-") as folder:
        environment = Path(folder) / "environments" / "bench"
        write_spec(environment / "environment.yaml", trainings(count))
        session = open_session([environment])
        gc.disable()  # as the command line does
        profiler = cProfile.Profile()
        [compiled] = profiler.runcall(compile_all, session)
    if not compiled.ok:
        raise RuntimeError("\n".join(diagnostic.message for diagnostic in compiled.diagnostics))
    pstats.Stats(profiler).strip_dirs().sort_stats(order).print_stats(top)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", type=int, nargs="?", default=1000, help="how many jobs (default: %(default)s)")
    parser.add_argument("--top", type=int, default=40, metavar="N", help="how many functions (default: %(default)s)")
    parser.add_argument("--sort", choices=["tottime", "cumtime", "ncalls"], default="tottime", help="their order")
    arguments = parser.parse_args()
    profile(arguments.jobs, arguments.top, arguments.sort)
