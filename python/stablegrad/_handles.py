"""C handles that Python owns: released by close(), or when the object is collected."""

import ctypes
import weakref

from ._errors import StableGradError
from ._library import library


class Handle:
    """Owns one C handle. `keep` holds what the handle needs to outlive it."""

    def __init__(self, create, destroy, *keep):
        pointer = ctypes.c_void_p()
        create(ctypes.byref(pointer))
        self.keep = keep
        self._pointer = pointer.value
        self._finalizer = weakref.finalize(self, destroy, self._pointer)

    @property
    def pointer(self):
        if not self._finalizer.alive:
            raise StableGradError("used after close()")
        return self._pointer

    def close(self):
        self._finalizer()


class Closing:
    """A context manager around `close()`."""

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()


def make_pool(threads):
    """A pool handle; None for one thread, which needs no pool. 0: one for each processor."""
    if threads == 1:
        return None
    lib = library()
    return Handle(lambda out: lib.sg_pool_create(out, threads, None), lib.sg_pool_destroy)


def pointer_of(handle):
    """The C pointer of a handle, None for None."""
    return handle.pointer if handle is not None else None
