"""Workers of a Dask cluster as an engine: whole parts are played there, and written here or there.

Needs the extra ``milsim[dask]``. What goes over the wire is Dask's own format, which trusts both
ends: scheduler and workers belong in a network that you trust, or behind Dask's TLS. No run that is
read is unpickled.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import uuid
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError as FutureCancelledError
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from milsim.errors import RunError, UsageError, quote
from milsim.files import read_text, reason_of
from milsim.store.engines import Failure, Heard, Made, Making, Span, Stored
from milsim.store.remote import (
    Answer,
    LostTaskError,
    Task,
    code_here,
    differing,
    drive,
    play_task,
    refusal,
    warmed,
)

SECONDS_TO_CONNECT = 10.0
SECONDS_TO_TELL = 120.0
"""A machine that stood still for a while is no scheduler that is gone."""
SECONDS_WITHOUT_WORKERS = 60.0
_SECONDS_BETWEEN_LOOKS = 2.0
_GOES_ON = "what is written stays, and the same command goes on"


class Dask:
    """The workers of a scheduler; to be closed, or used in a ``with``.

    ``scheduler`` is its address (``tcp://host:8786``), or ``scheduler_file`` the file that ``dask
    scheduler --scheduler-file`` writes. With ``folder``, a run folder on a path that all workers
    share, they write the parts themselves. ``told`` hears what is waited for. Raises
    :class:`~milsim.errors.UsageError` without the extra or with no scheduler,
    :class:`~milsim.errors.RunError` for one that does not answer.
    """

    def __init__(
        self,
        scheduler: str | None = None,
        *,
        scheduler_file: str | Path | None = None,
        folder: str | Path | None = None,
        told: Callable[[str], None] | None = None,
    ) -> None:
        """Connect."""
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            raise UsageError(
                "--engine dask: needs the extra milsim[dask]: pip install 'milsim[dask]'"
            ) from None
        if (scheduler is None) == (scheduler_file is None):
            raise UsageError("--engine dask: give one of --scheduler and --scheduler-file")
        self.address = (
            scheduler if scheduler is not None else _address_in(Path(str(scheduler_file)))
        )
        self.folder = None if folder is None else str(Path(folder).resolve())
        self.told = told
        for name in ("distributed", "distributed.client", "distributed.core", "tornado"):
            # What they would say of a scheduler that is gone is our one line.
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client: Any = distributed.Client(
                self.address, timeout=SECONDS_TO_CONNECT, set_as_default=False
            )
        except (OSError, ValueError, TypeError, ImportError) as error:
            # An OSError of theirs tells a long story of which the class is the point.
            why = "does not answer" if isinstance(error, OSError) else f"is no address ({error})"
            raise RunError(
                f"scheduler {self.address}: {' '.join(why.split())}; start it with: dask scheduler"
            ) from None

    def __enter__(self) -> Dask:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Let go of the scheduler; what is under way there is given up."""
        with suppress(Exception):
            self._client.close(timeout=2)

    def make(
        self, making: Making[Any], spans: Iterable[Span], stop: Callable[[], bool], heard: Heard
    ) -> Iterator[Made | Stored | Failure]:
        """The parts of these spans, in order; none is begun any more once ``stop`` says so."""
        pool = _Workers(self._client, self.address, writing=self.folder is not None)
        first = Task(making, (), code_here(getattr(making.plan, "policies", ())), self.folder)
        with pool.told(), _token_in(self.folder) as token:
            if pool.found(stop, self.told):
                pool.check(first, token, stop)
                yield from drive(pool, making, spans, stop, heard, self.folder)


def _address_in(path: Path) -> str:
    try:
        text = read_text(path, 1_000_000)
        for seconds in (0.1, 0.4, 1.5):
            if not text:  # the file is there for a moment before what it says
                time.sleep(seconds)
                text = read_text(path, 1_000_000)
        address = json.loads(text)["address"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else "is torn or not Dask's"
        raise RunError(
            f"scheduler-file {path}: {reason}; dask scheduler --scheduler-file writes it"
        ) from None
    if not isinstance(address, str) or not address.isprintable():
        raise RunError(f"scheduler-file {path}: {quote(address)} is no address")
    return address


@contextmanager
def _token_in(folder: str | None) -> Iterator[str]:
    """The name of a hidden file that is there for a while: who sees it, shares the folder."""
    name = f".shared-{uuid.uuid4().hex}.tmp"
    if folder is None:
        yield name
        return
    path = Path(folder) / name
    path.touch()
    try:
        yield name
    finally:
        path.unlink(missing_ok=True)


def _played_by(dask_worker: Any) -> list[str]:
    """The tasks that a worker plays just now."""
    return [str(task.key) for task in dask_worker.state.executing]


class _Workers:
    """The workers of a client as a `milsim.store.remote.Pool`."""

    def __init__(self, client: Any, address: str, *, writing: bool) -> None:
        self.client, self.address, self.writing = client, address, writing
        self._width = 0
        self._news = threading.Event()
        self._looked = self._seen = float("-inf")

    @contextmanager
    def told(self) -> Iterator[None]:
        """Turn what a lost connection raises into a RunError."""
        from distributed.comm.core import CommClosedError

        try:
            yield
        except (CommClosedError, CancelledError, FutureCancelledError, TimeoutError) as error:
            raise self._gone() from error

    def _gone(self) -> RunError:
        return RunError(f"scheduler {self.address}: is gone; {_GOES_ON}")

    def width(self) -> int:
        """Threads of all workers; raises RunError if there have been none for a while."""
        now = time.monotonic()
        if now - self._looked >= _SECONDS_BETWEEN_LOOKS:
            if self.client.status != "running":
                raise self._gone()
            self._width = sum(self.client.nthreads().values())
            self._looked = now
            if self._width or self._seen == float("-inf"):
                self._seen = now
        if not self._width and now - self._seen > SECONDS_WITHOUT_WORKERS:
            raise RunError(
                f"scheduler {self.address}: no worker for {SECONDS_WITHOUT_WORKERS:.0f} s; start "
                f"some with: dask worker {self.address} --nthreads 1; {_GOES_ON}"
            )
        return self._width

    def found(self, stop: Callable[[], bool], told: Callable[[str], None] | None = None) -> bool:
        """Wait for workers, which is told if there are none; False if it is stopped meanwhile."""
        while not self.width():
            if told is not None:
                told(f"waiting for workers of {self.address}: dask worker {self.address} ...")
                told = None
            if stop():
                return False
            time.sleep(0.1)
        return not stop()

    def check(self, task: Task, token: str, stop: Callable[[], bool]) -> None:
        """Warm every worker; raises RunError naming those that run other code than the driver."""
        wait = import_module("distributed").wait
        wrong = []
        answers = self.client.run(code_here, on_error="return")
        for worker, answer in answers.items():
            if isinstance(answer, BaseException):
                text = " ".join(str(answer).split())[:120]
                wrong.append((worker, f"cannot load milsim ({type(answer).__name__}: {text})"))
            else:
                policies = {k: v for k, v in task.code.items() if k.startswith("policy ")}
                said = differing(answer | policies, task.code)
                if said:
                    wrong.append((worker, said))
        if wrong:
            more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
            raise RunError(refusal(wrong[0][0] + more, wrong[0][1]))
        futures = {
            worker: self.client.submit(
                warmed, task, token, workers=[worker], allow_other_workers=False, pure=False
            )
            for worker in answers
        }
        try:
            while any(not future.done() for future in futures.values()) and not stop():
                if self.client.status != "running":
                    raise self._gone()
                there = self.client.nthreads()
                # A worker that went meanwhile is not waited for.
                futures = {w: f for w, f in futures.items() if w in there or f.done()}
                with suppress(TimeoutError), self.client.as_current():
                    wait(list(futures.values()), timeout=0.5)
            for worker, future in futures.items():
                if future.status == "error":
                    raise future.exception()
                said = future.result() if future.status == "finished" else ""
                if said:
                    raise RunError(refusal(worker, said))
        finally:
            self.client.cancel(list(futures.values()))

    def submit(self, task: Task) -> Any:
        """A future, whose end wakes who waits."""
        future = self.client.submit(play_task, task, pure=False)
        future.add_done_callback(self._heard)
        return future

    def _heard(self, _future: Any) -> None:
        self._news.set()

    def done(self, handle: Any) -> bool:
        """Whether it is.

        A result that is lost with its worker is not done any more: the scheduler has it played
        again. Futures are cancelled when the connection is lost, or the scheduler forgot them.
        """
        if handle.status == "cancelled" and self.client.status != "running":
            raise self._gone()
        return bool(handle.done())

    def wait(self, handle: Any, seconds: float) -> None:
        """Wait for it, or any other.

        An event costs nothing; asking Dask's own ``wait`` ten times a second took the driver 1 % of
        a core.
        """
        self.width()
        if not handle.done():
            self._news.wait(seconds)
        self._news.clear()

    def results(self, handles: Sequence[Any]) -> list[Answer | BaseException | None]:
        """Those that ended well are fetched together."""
        from distributed.comm.core import CommClosedError

        well = [future for future in handles if future.status == "finished"]
        there: dict[str, Answer | BaseException | None]
        try:
            there = dict(zip((f.key for f in well), self.client.gather(well), strict=True))
        except (CommClosedError, CancelledError, TimeoutError):
            raise
        except Exception:
            # One of them is lost by now, or cannot be read: which of them, shows alone.
            there = {future.key: self._fetched(future) for future in well}
        return [
            there[future.key] if future.key in there else self._fate(future) for future in handles
        ]

    def _fetched(self, future: Any) -> Answer | BaseException | None:
        from distributed.comm.core import CommClosedError

        try:
            answer: Answer = self.client.gather(future)
        except (CommClosedError, CancelledError, TimeoutError):
            raise
        except Exception as error:
            return error if future.status == "finished" else self._fate(future)
        return answer

    def _fate(self, future: Any) -> BaseException | None:
        """What became of a task that has no result; None of one that is played again."""
        from distributed.scheduler import KilledWorker

        if not self.done(future) or future.status == "finished":
            return None
        if future.status == "cancelled":
            return LostTaskError("the scheduler forgot it")
        error: BaseException | None = future.exception(timeout=SECONDS_TO_TELL)
        if isinstance(error, KilledWorker):
            return LostTaskError(f"last on {getattr(error.last_worker, 'address', 'a worker')}")
        return error

    def name_of(self, handle: Any) -> str:
        """The address of the worker that has the result."""
        with suppress(Exception):
            for workers in self.client.who_has([handle]).values():
                return str(workers[0])
        return "unknown"

    def withdraw(self, handles: Sequence[Any]) -> list[bool]:
        """Cancel those that no worker plays; if it writes them, too, those that no worker has.

        Between the question and the answer one may be begun: then it is played for nothing.
        """
        try:
            if self.writing:
                there = self.client.processing()
            else:
                there = self.client.run(_played_by, on_error="ignore")
            begun = {key for keys in there.values() for key in keys}
        except Exception:  # the scheduler is gone: nothing can be taken back, nor will it come
            return [False] * len(handles)
        gone = [not future.done() and future.key not in begun for future in handles]
        self.client.cancel([f for f, is_gone in zip(handles, gone, strict=True) if is_gone])
        return gone

    def drop(self, handles: Sequence[Any]) -> None:
        """Cancel them."""
        with suppress(Exception):  # of a scheduler that is gone, too
            if handles and self.client.status == "running":
                self.client.cancel(list(handles))


__all__ = ["Dask"]
