"""Do one piece of work for each of several items, on all cores, as if it were done for one after the other."""

from __future__ import annotations

import io
import os
import pickle
import signal
import sys
import tempfile
import threading
from contextlib import redirect_stderr, suppress
from typing import IO, TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Item = TypeVar("Item")
    Done = TypeVar("Done")
    Found = Iterator[tuple[int, Done, str]]

_FORKS_MAX = 7  # a limit of memory: each fork holds the compiler's own tables, and the work on one item
_NUMBER = 4  # bytes of an item's number in the pipe
_PIPE = 1 << 16  # bytes that a pipe of Linux holds


def forks_for(count: int) -> int:
    """Return how many forks may help with so many items; none where a fork is not safe, or no other core is free."""
    if not hasattr(os, "sched_getaffinity") or threading.active_count() > 1 or count * _NUMBER > _PIPE:
        return 0
    return min(len(os.sched_getaffinity(0)), count, _FORKS_MAX + 1) - 1


def in_parallel(work: Callable[[Item], Done], items: Sequence[Item], forks: int) -> list[Done]:
    """Return the result of each item, in order, worked out by this process and its forks.

    Results are pickled. A process takes the next item when it is free. All that is written to standard error comes at
    the end, in the order of the items. The work that a fork does not finish, whatever happens to it, is done here.
    """
    todo, fill = os.pipe()
    os.write(fill, b"".join(number.to_bytes(_NUMBER, "big") for number in range(len(items))))
    os.close(fill)
    children: list[tuple[int, IO[bytes]]] = []
    found: dict[int, tuple[Done, str]] = {}
    try:
        for _ in range(forks):
            children.append(_fork(lambda: _worked(work, items, _numbers(todo))))  # noqa: PERF401 - one may fail
        for number, done, said in _worked(work, items, _numbers(todo)):
            found[number] = done, said
        while children:
            for number, done, said in _results(*children[-1]):
                found[number] = done, said
            children.pop()
        missing = [number for number in range(len(items)) if number not in found]
        found |= {number: (done, said) for number, done, said in _worked(work, items, missing)}
    finally:
        os.close(todo)
        for pid, file in children:  # something ended the work
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            file.close()
    sys.stderr.write("".join(found[number][1] for number in range(len(items))))
    return [found[number][0] for number in range(len(items))]


def _numbers(pipe: int) -> Iterator[int]:
    while number := os.read(pipe, _NUMBER):
        yield int.from_bytes(number, "big")


def _worked(work: Callable[[Item], Done], items: Sequence[Item], numbers: Iterable[int]) -> Found[Done]:
    for number in numbers:
        with redirect_stderr(io.StringIO()) as said:
            done = work(items[number])
        yield number, done, said.getvalue()


def _fork(found: Callable[[], Found[Done]]) -> tuple[int, IO[bytes]]:
    """Start a fork that pickles what it finds into a file, and return its process id and the file."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with its last user; a pipe would fill up
    parent, pid = os.getpid(), os.fork()
    if pid:
        return pid, file
    with suppress(BaseException):  # what was not done here is done, and said, by the parent
        for one in found():
            pickle.dump(one, file, pickle.HIGHEST_PROTOCOL)
            if os.getppid() != parent:  # nobody waits for more
                break
        file.flush()
    os._exit(0)


def _results(pid: int, file: IO[bytes]) -> Found[Done]:
    """Wait for a fork, and yield what it finished."""
    os.waitpid(pid, 0)
    with file, suppress(Exception):
        file.seek(0)
        while True:
            yield pickle.load(file)  # noqa: S301 - our own
