"""What no test can do without where time itself is tested: a witness of how long machine and server stood still.

    with Stalls(cluster) as stalls:
        ...
    assert waited < 5 + stalls.seconds

    @undisturbed                  # or @undisturbed(most=2.0), seconds
    def test_durations(ctx): ...
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from typing import Callable

from cluster import Cluster
from context import Context, Skip

USUAL = 0.25  # seconds that a write takes at most on a machine that does not stand still, with the pause before it
ATTEMPTS = 5
LIMIT = 600  # seconds for all of them


class Stalls:
    """seconds: how much longer than usual the writes took of a client that writes all the time."""

    def __init__(self, cluster: Cluster) -> None:
        self.api, self.seconds = cluster.api, 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)

    def _measure(self) -> None:
        before, count = time.monotonic(), 0
        while not self._over.wait(0.05):
            with contextlib.suppress(OSError):
                self.api.patch("/api/v1/namespaces/default", {"metadata": {"annotations": {"slipway.dev/test-stalls": str(count)}}})
            now, count = time.monotonic(), count + 1
            self.seconds += max(0.0, now - before - USUAL)
            before = now

    def __enter__(self) -> "Stalls":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def undisturbed(function: Callable | None = None, *, most: float = 0.2):
    """Decorator of a test whose durations must be kept by the machine too.

    A failure while machine and server stood still for more than `most` seconds says nothing about the program: the test is made again.
    Any other failure stands.
    """
    if function is None:
        return functools.partial(undisturbed, most=most)

    @functools.wraps(function)
    def test(ctx: Context) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            with Stalls(ctx.cluster) as stalls:
                try:
                    return function(ctx)
                except Skip:
                    raise
                except Exception as error:
                    trouble = error
            if attempt == ATTEMPTS or stalls.seconds <= most:
                raise trouble
            print(f"# {ctx.name}: again, for everything stood still for {stalls.seconds:.1f} s: {str(trouble)[:200]!r}", flush=True)
            ctx.kill_children()

    test.limit = max(getattr(function, "limit", 0), LIMIT)
    return test
