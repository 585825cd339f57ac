# SPDX-License-Identifier: LGPL-2.1-or-later
"""Read traces of FKT, Fast Kernel Tracing, by its library, libfkt.

    import fkt

    with fkt.open("trace_file") as trace:
        for call in trace.calls(name="sys_openat", begin="12s", end="13s"):
            if call["errno"]:
                print(call["process"], call["args"], call["errno"])

Times are nanoseconds since the first event, as in fkt_query's tables (cycles, where the trace has
no clock), and so are the names of what rows hold. What is asked for is looked for by the library:
of a window, no more of the file is read than it takes.
"""

from __future__ import annotations

import ctypes
import errno
import operator
import os
import stat
import sys
import threading
import warnings
import weakref
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_bool,
    c_char,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_uint,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    cast,
)
from fnmatch import fnmatchcase
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple, Type, Union

__all__ = ["open", "Trace", "Error", "TraceWarning"]

Row = Dict[str, Any]
Time = Union[int, str]
Some = Union[int, Sequence[int]]
Names = Union[str, Sequence[str]]

_UINT64_MAX = 2**64 - 1
_PID_UNKNOWN = 2**32 - 1
_ERRNO_MAX = 4095
_SLOT_CODES = 1 << 19
_CPUS = 1 << 16
_ERROR_BYTES = 256
_NAME_BYTES = 80
_VALUE_NAME_BYTES = 600
_STATE_BYTES = 12
_FIELDS_MAX = 66
_COUNTERS_MAX = 4
# Counters that count nanoseconds.
_CLOCKS = ("cpu-clock", "task-clock")

# enum fkt_next
_END, _EVENT, _GAP, _WAIT = range(4)
_GAPS = ("lost", "missing", "damaged", "discarded", "overwritten")

# enum fkt_row
_ROW_IRQ = _SLOT_CODES
_ROW_SOFTIRQ = _ROW_IRQ + 0x10000
_ROW_FUNCTION = _ROW_SOFTIRQ + 64
_ROW_USER = _ROW_FUNCTION + 0x10000
_ROW_BEFORE = _ROW_USER + 3
_ROWS = _ROW_BEFORE + 4
_CODE_VECTOR_ENTRY, _CODE_VECTOR_EXIT = 0x1080, 0x10C0

# enum fkt_kind
_KINDS = ("point", "entry", "exit", "cpu_entry", "cpu_exit")

# enum fkt_field_type
(
    _FIELD_SIGNED,
    _FIELD_UNSIGNED,
    _FIELD_HEX,
    _FIELD_CYCLES,
    _FIELD_PID,
    _FIELD_IRQ,
    _FIELD_SOFTIRQ,
    _FIELD_TRIGGER,
    _FIELD_TRAP,
    _FIELD_DEVICE,
    _FIELD_STATE,
    _FIELD_SYMBOL,
    _FIELD_FUNCTION,
    _FIELD_COMM,
    _FIELD_STRING,
    _FIELD_QUOTED,
    _FIELD_CHAR,
    _FIELD_ARGUMENT,
    _FIELD_RESULT,
    _FIELD_RESULT_UNSIGNED,
    _FIELD_VOID,
    _FIELD_ARRAY,
    _FIELD_CODE,
    _FIELD_ENUM,
) = range(24)

# enum fkt_value_kind
_VALUE_NONE, _VALUE_SIGNED, _VALUE_UNSIGNED, _VALUE_TEXT, _VALUE_ARRAY = range(5)

# How many events are read at once, for the analysis and as rows.
_STEP = 4096
# So many are read behind the end of a window to learn what threads were at before it.
_LOOK_AHEAD = 1000000


class Error(Exception):
    """A trace cannot be opened, or not be read to its end."""


class TraceWarning(UserWarning):
    """Something is missing in a trace, or wrong with it, but it can be read."""


# ---- libfkt's structures, of <fkt/trace.h> ----


class _Event(Structure):
    _fields_ = [
        ("stamp", c_uint64),
        ("args", c_void_p),
        ("code", c_uint32),
        ("pid", c_uint32),
        ("imm", c_uint16),
        ("cpu", c_uint16),
        ("lane", c_uint16),
        ("words", c_uint8),
    ]


class _Gap(Structure):
    _fields_ = [
        ("kind", c_int),
        ("lane", c_uint16),
        ("cpu", c_uint16),
        ("count", c_uint64),
        ("after", c_uint64),
    ]


class _ReadStats(Structure):
    _fields_ = [
        ("events", c_uint64),
        ("pages", c_uint64),
        ("index_pages", c_uint64),
        ("damaged", c_uint64),
        ("missing", c_uint64),
        ("lost", c_uint64),
        ("foreign", c_bool),
        ("first", c_uint64),
        ("last", c_uint64),
    ]


class _CodeRow(Structure):
    _fields_ = [
        ("first", c_uint32),
        ("count", c_uint32),
        ("kind", c_uint32),
        ("pair", c_uint32),
        ("layer", c_char_p),
        ("name", c_char_p),
        ("spec", c_char_p),
    ]


class _Process(Structure):
    _fields_ = [
        ("tid", c_uint32),
        ("tgid", c_uint32),
        ("cpu", c_uint16),
        ("released", c_bool),
        ("kernel", c_bool),
        ("comm", c_char * 17),
        ("parent", c_uint32),
    ]


class _Wanted(Structure):
    keep: List[Any]  # what it points to lives as long

    _fields_ = [
        ("first", c_uint64),
        ("from_", c_uint64),
        ("code", c_void_p),
        ("cpu", c_void_p),
        ("pid", c_void_p),
        ("pids", c_size_t),
        ("comm", c_char_p),
    ]


class _EventRow(Structure):
    _fields_ = [
        ("stamp", c_uint64),
        ("time", c_int64),
        ("code", c_uint32),
        ("pid", c_uint32),
        ("id", c_uint32),
        ("cpu", c_uint16),
        ("imm", c_uint16),
    ]


class _Field(Structure):
    _fields_ = [
        ("type", c_uint8),
        ("bytes", c_uint8),
        ("offset", c_uint8),
        ("immediate", c_bool),
        ("bare", c_bool),
        ("name", c_char * 32),
        ("element", c_uint8),
        ("elements", c_uint8),
        ("unit", c_char_p),
        ("names", c_void_p),
    ]


class _Value(Structure):
    _fields_ = [
        ("kind", c_int),
        ("number", c_uint64),
        ("text", c_void_p),
        ("bytes", c_size_t),
    ]


class _RowSums(Structure):
    _fields_ = [
        ("own", c_uint64),
        ("total", c_uint64),
        ("calls", c_uint64),
        ("partial", c_uint64),
    ]


class _ThreadSums(Structure):
    _fields_ = [
        ("id", c_uint32),
        ("cycles", c_uint64),
        ("user", c_uint64),
        ("kernel", c_uint64),
        ("before", c_uint64),
        ("interrupts", c_uint64),
        ("waiting", c_uint64),
        ("sleeping", c_uint64 * 5),
        ("switches", c_uint64),
        ("left_out", c_uint64),
        ("untraced", c_uint64),
        ("program", c_uint64),
    ]


class _Call(Structure):
    _fields_ = [
        ("row", c_uint32),
        ("caller", c_uint32),
        ("id", c_uint32),
        ("leader", c_uint32),
        ("outside", c_uint32),
        ("cpu", c_uint16),
        ("depth", c_uint32),
        ("interrupt", c_bool),
        ("partial", c_bool),
        ("entered", c_bool),
        ("counts", c_bool),
        ("begin", c_uint64),
        ("end", c_uint64),
        ("cycles", c_uint64),
        ("own", c_uint64),
        ("former", c_uint32),
        ("former_own", c_uint64),
        ("only_elapsed", c_uint64),
        ("entry_words", c_uint),
        ("entry_args", c_void_p),
        ("entry", POINTER(_Event)),
        ("exit", POINTER(_Event)),
        ("counted", POINTER(c_uint64)),
    ]


class _Wait(Structure):
    _fields_ = [
        ("id", c_uint32),
        ("state", c_uint32),
        ("outer", c_uint32),
        ("inner", c_uint32),
        ("cpu", c_uint16),
        ("next", c_uint32),
        ("left", c_uint64),
        ("woken", c_uint64),
        ("back", c_uint64),
        ("from_", c_uint64),
        ("to", c_uint64),
        ("waker", c_uint32),
        ("waker_row", c_uint32),
        ("back_cpu", c_uint16),
    ]


_WARN_FN = CFUNCTYPE(None, c_void_p, c_char_p)
_CALL_FN = CFUNCTYPE(None, c_void_p, POINTER(_Call))
_WAIT_FN = CFUNCTYPE(None, c_void_p, POINTER(_Wait))


class _Hooks(Structure):
    _fields_ = [
        ("arg", c_void_p),
        ("enter", c_void_p),
        ("leave", _CALL_FN),
        ("wait", _WAIT_FN),
        ("moved", c_void_p),
        ("charges", c_void_p),
        ("keep_args", c_bool),
        ("leaders", c_bool),
    ]


# Of <fkt/trace.h>: what a function returns, and what it takes.
_FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "fkt_open": (c_void_p, [c_char_p, _WARN_FN, c_void_p, c_char_p]),
    "fkt_close": (None, [c_void_p]),
    "fkt_is_complete": (c_bool, [c_void_p]),
    "fkt_info": (c_char_p, [c_void_p, c_char_p]),
    "fkt_has_clock": (c_bool, [c_void_p]),
    "fkt_cycles_to_ns": (c_int64, [c_void_p, c_int64]),
    "fkt_ns_to_cycles": (c_uint64, [c_void_p, c_uint64]),
    "fkt_has_wall_clock": (c_bool, [c_void_p]),
    "fkt_wall_ns": (c_int64, [c_void_p, c_uint64]),
    "fkt_parse_time": (c_bool, [c_char_p, POINTER(c_uint64)]),
    "fkt_reader_new_window": (c_void_p, [c_void_p, c_uint64, c_uint64]),
    "fkt_reader_free": (None, [c_void_p]),
    "fkt_look_back": (c_uint64, [c_void_p, c_uint64]),
    "fkt_span": (c_bool, [c_void_p, POINTER(c_uint64), POINTER(c_uint64)]),
    "fkt_next": (c_int, [c_void_p, POINTER(_Event)]),
    "fkt_gap": (POINTER(_Gap), [c_void_p]),
    "fkt_read_stats": (POINTER(_ReadStats), [c_void_p]),
    "fkt_code_row": (POINTER(_CodeRow), [c_void_p, c_uint32]),
    "fkt_code_name": (None, [c_void_p, c_uint32, c_char_p]),
    "fkt_code_like": (c_uint32, [c_void_p, c_uint32, c_char_p]),
    "fkt_errno_name": (c_char_p, [c_int]),
    "fkt_state_letters": (None, [c_uint32, c_char_p]),
    "fkt_processes_new": (c_void_p, [c_void_p]),
    "fkt_processes_free": (None, [c_void_p]),
    "fkt_process_id": (c_uint32, [c_void_p, c_uint32, c_uint16]),
    "fkt_process": (POINTER(_Process), [c_void_p, c_uint32]),
    "fkt_process_count": (c_uint32, [c_void_p]),
    "fkt_next_wanted": (c_int, [c_void_p, c_void_p, POINTER(_Wanted), POINTER(_Event)]),
    "fkt_next_rows": (c_int, [c_void_p, c_void_p, POINTER(_Wanted), POINTER(_EventRow), c_uint]),
    "fkt_fields": (c_uint, [c_void_p, c_uint32, POINTER(_Field)]),
    "fkt_field_value": (c_bool, [POINTER(_Field), POINTER(_Event), POINTER(_Value)]),
    "fkt_put_name": (
        c_void_p,
        [c_void_p, c_void_p, POINTER(_Field), POINTER(_Event), c_uint64, c_void_p],
    ),
    "fkt_analysis_new": (c_void_p, [c_void_p, c_void_p, POINTER(_Hooks)]),
    "fkt_analysis_free": (None, [c_void_p]),
    "fkt_analysis_read": (c_int, [c_void_p, c_void_p, c_void_p, c_uint]),
    "fkt_analysis_charge": (None, [c_void_p, c_uint64, c_bool]),
    "fkt_analysis_end": (c_int, [c_void_p, c_uint64]),
    "fkt_analysis_is_settled": (c_bool, [c_void_p]),
    "fkt_analysis_row": (POINTER(_RowSums), [c_void_p, c_uint32]),
    "fkt_analysis_threads": (POINTER(_ThreadSums), [c_void_p, POINTER(c_size_t)]),
    "fkt_row_name": (None, [c_void_p, c_uint32, c_char_p]),
    "fkt_row_code": (c_uint32, [c_void_p, c_uint32]),
    "fkt_row_layer": (c_char_p, [c_void_p, c_uint32]),
    "fkt_row_interrupts": (c_bool, [c_void_p, c_uint32]),
    "fkt_counters": (c_uint, [c_void_p]),
    "fkt_counter_name": (c_char_p, [c_void_p, c_uint, c_char_p]),
    "fkt_analysis_counted": (c_uint64, [c_void_p, c_uint32, c_uint]),
}


def _load() -> Any:
    """libfkt as the loader finds it; FKT_LIBRARY names another one."""
    name = os.environ.get("FKT_LIBRARY", "libfkt.so.0")
    try:
        library = ctypes.CDLL(name)
        for function, (result, arguments) in _FUNCTIONS.items():
            known = getattr(library, function)
            known.restype = result
            known.argtypes = arguments
    except (OSError, AttributeError) as error:
        raise ImportError(
            f"{error}: libfkt of the same release is needed (make install, or FKT_LIBRARY=FILE)"
        ) from error
    return library


_fkt = _load()
_free = ctypes.CDLL(None).free
_free.argtypes = [c_void_p]
_free.restype = None


def _text(name: Optional[bytes]) -> Optional[str]:
    return None if name is None else name.decode("utf-8", "replace")


def _check(result: int) -> int:
    if result < 0:
        raise MemoryError() if result == -errno.ENOMEM else Error(os.strerror(-result))
    return result


def _list(value: Names) -> List[str]:
    return [value] if isinstance(value, str) else list(value)


def _indices(value: Some) -> List[int]:
    """One or several, also of numpy's numbers."""
    try:
        return [operator.index(value)]  # type: ignore[arg-type]
    except TypeError:
        return [operator.index(number) for number in value]  # type: ignore[union-attr]


def _cpus(value: Some) -> List[int]:
    cpus = _indices(value)
    for cpu in cpus:
        if not 0 <= cpu < _CPUS:
            raise ValueError(f"{cpu}: there is no such CPU")
    return cpus


def _tids(value: Some) -> List[int]:
    """-1 is a thread that is not known, as in arrays; ctypes would cut what is too large."""
    tids = [_PID_UNKNOWN if tid == -1 else tid for tid in _indices(value)]
    for tid in tids:
        if not 0 <= tid <= _PID_UNKNOWN:
            raise ValueError(f"{tid}: there is no such thread")
    return tids


def _known(pid: int) -> Optional[int]:
    return None if pid == _PID_UNKNOWN else pid


class _Scan:
    """A reader and the threads as it sees them, freed together, at the latest with the trace."""

    def __init__(self, trace: Trace, begin: int, end: int) -> None:
        self.trace = trace
        self.hooks: Any = None
        self.tell: Any = None
        self.error: Optional[BaseException] = None
        self.analysis: Optional[int] = None
        self.reader: Optional[int] = None
        self.processes: Optional[int] = None
        trace._scans.add(self)
        self.processes = _fkt.fkt_processes_new(trace._check_open())
        self.reader = _fkt.fkt_reader_new_window(trace._trace, begin, end)
        if not self.processes or not self.reader:
            self.free()
            raise MemoryError

    def analyse(self, hooks: Optional[_Hooks], tell: Any = None) -> None:
        """The analysis lives as long, and so do the hooks; tell is the code that they are."""
        self.hooks = hooks
        self.tell = tell
        self.analysis = _fkt.fkt_analysis_new(
            self.trace._trace, self.processes, byref(hooks) if hooks else None
        )
        if not self.analysis:
            raise MemoryError

    def read(self) -> bool:
        """Some events more: whether there may be more of them."""
        self.check()
        return (
            self.hooked(_fkt.fkt_analysis_read, self.analysis, self.processes, self.reader, _STEP)
            > 0
        )

    def end(self, last: int) -> None:
        """There are no more events."""
        self.hooked(_fkt.fkt_analysis_end, self.analysis, last)

    def hooked(self, function: Any, *arguments: Any) -> int:
        """Call the library, which calls hooks; what one of them has raised comes out here.

        A signal, such as Ctrl-C, raises its exception where a hook begins, before the hook can
        catch it, and ctypes gives it to sys.unraisablehook. Signals are the main thread's alone.
        """
        if not self.tell or threading.current_thread() is not threading.main_thread():
            result = function(*arguments)
        else:
            former = sys.unraisablehook

            def catch(what: Any) -> None:
                trace = what.exc_traceback
                if trace and trace.tb_frame.f_code is self.tell:
                    self.error = self.error or what.exc_value
                else:
                    former(what)

            try:
                sys.unraisablehook = catch
                result = function(*arguments)
            finally:
                if sys.unraisablehook is catch:
                    sys.unraisablehook = former
        if self.error:
            raise self.error
        self.trace._raise()
        return _check(result)

    def other_window(self, begin: int, end: int) -> None:
        """Read elsewhere, with the same threads."""
        self.trace._missing(self)
        reader, self.reader = self.reader, None
        _fkt.fkt_reader_free(reader)
        self.reader = _fkt.fkt_reader_new_window(self.trace._trace, begin, end)
        if not self.reader:
            raise MemoryError

    def check(self) -> None:
        """After rows were given to somebody, who may have closed the trace."""
        if not self.reader:
            raise ValueError("the trace was closed while it was read")

    def process(self, id: int) -> Any:
        return _fkt.fkt_process(self.processes, id).contents

    def stats(self) -> Any:
        return _fkt.fkt_read_stats(self.reader).contents

    def free(self) -> None:
        """What is freed is forgotten before: Ctrl-C may come at any moment, and free() again."""
        analysis, self.analysis = self.analysis, None
        _fkt.fkt_analysis_free(analysis)
        reader, self.reader = self.reader, None
        _fkt.fkt_reader_free(reader)
        processes, self.processes = self.processes, None
        _fkt.fkt_processes_free(processes)
        self.trace._scans.discard(self)


def _warned_of(trace: "weakref.ref[Trace]") -> Callable[[Any, bytes], None]:
    """What the library calls with a warning; the trace is not kept by it."""

    def warned(_: Any, sentence: bytes) -> None:
        known = trace()
        if not known:
            return
        try:
            known._warn(_text(sentence) or "")
        except BaseException as error:  # pylint: disable=broad-except
            known._error = known._error or error

    return warned


def _is_stream(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISBLK(mode) or stat.S_ISDIR(mode))


class _Code:
    """What is known of the events of a code."""

    def __init__(self, trace: int, code: int) -> None:
        name = ctypes.create_string_buffer(_NAME_BYTES)
        fields = (_Field * _FIELDS_MAX)()
        row = _fkt.fkt_code_row(trace, code)

        _fkt.fkt_code_name(trace, code, name)
        self.name = _text(name.value)
        self.layer = _text(row.contents.layer) if row else ""
        kind = row.contents.kind if row else 0
        self.kind = _KINDS[kind] if kind < len(_KINDS) else "point"
        count = _fkt.fkt_fields(trace, code, fields)
        self.fields = [(_text(field.name) or "", field) for field in fields[:count]]


def open(path: Union[str, "os.PathLike[str]"]) -> Trace:
    """Open a trace, a file: what fkt_record has written, whole, cut off or damaged.

    Raises fkt.Error if it is none. What is wrong but harmless is warned of, as fkt.TraceWarning.
    """
    return Trace(path)


class Trace:
    """A trace. Any number of its iterators may be used at a time; close() ends them all.

    Threads may use iterators of their own; none may go on while another one closes the trace.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        first, last = c_uint64(), c_uint64()

        self._scans: Set[_Scan] = set()
        self._codes: Dict[int, _Code] = {}
        self._rows: Dict[int, Optional[str]] = {}
        self._told: Set[str] = set()
        self._error: Optional[BaseException] = None
        self._trace: Optional[int] = None
        self.path = os.fsdecode(path)
        self._warn_fn = _WARN_FN(_warned_of(weakref.ref(self)))
        if self.path == "-":
            raise Error("a trace is read from a file, not from standard input")
        if "\0" in self.path:
            raise ValueError("there is a null character in the file's name")
        if _is_stream(self.path):
            raise Error(f"{self.path}: it is read more than once, and so cannot be a stream")
        self._trace = _fkt.fkt_open(os.fsencode(self.path), self._warn_fn, None, error)
        if not self._trace:
            raise Error(f"{self.path}: {_text(error.value)}")
        self._has_clock: bool = _fkt.fkt_has_clock(self._trace)
        self.has_events: bool = _fkt.fkt_span(self._trace, byref(first), byref(last))
        self._first = first.value if self.has_events else 0
        self._last = last.value if self.has_events else 0
        self._counters: List[str] = self._counter_columns()
        self._raise()
        if not self.is_complete:
            self._warn("was cut off; its end is not there")

    def close(self) -> None:
        """Free it and all that was got from it. Closing it again does nothing."""
        for scan in list(self._scans):
            scan.free()
        trace, self._trace = self._trace, None
        _fkt.fkt_close(trace)

    def __enter__(self) -> Trace:
        self._check_open()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        where: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_trace", None):
            self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a trace cannot be copied; open it once more")

    def _check_open(self) -> int:
        if not self._trace:
            raise ValueError("the trace is closed")
        return self._trace

    def _raise(self) -> None:
        """A warning of the library's that is to be an error; it cannot go through the library."""
        if self._error:
            error, self._error = self._error, None
            raise error

    def _warn(self, sentence: str) -> None:
        """Say it once, however often the trace is read."""
        if sentence not in self._told:
            self._told.add(sentence)
            warnings.warn(f"{self.path}: {sentence}", TraceWarning, stacklevel=3)

    def _missing(self, scan: _Scan) -> None:
        """Nothing is lost silently: what is missing in what was read."""
        self._raise()
        stats = scan.stats()
        for count, one, many, how in (
            (stats.lost, "event was", "events were", "lost while it was recorded"),
            (stats.missing, "page is", "pages are", "missing"),
            (stats.damaged, "page is", "pages are", "damaged"),
        ):
            if count:
                self._warn(f"{count} {one if count == 1 else many} {how}")
        if stats.foreign:
            self._warn("pages of another recording follow, which are not read")

    # ---- what the trace says of itself ----

    @property
    def is_complete(self) -> bool:
        """Whether the recording ended in order."""
        return bool(_fkt.fkt_is_complete(self._check_open()))

    @property
    def has_clock(self) -> bool:
        """Whether times are nanoseconds; if not, they are cycles."""
        return self._has_clock

    @property
    def duration(self) -> int:
        """From the first event to a time that no event is later than."""
        self._check_open()
        return self._span(self._last - self._first)

    def info(self, key: str) -> Optional[str]:
        """What the recorder says of it: "command", "machine", "release", ..."""
        return _text(_fkt.fkt_info(self._check_open(), key.encode()))

    def wall_ns(self, time: int) -> Optional[int]:
        """The time of day of a time of this trace, in nanoseconds since 1970, if it is known."""
        trace = self._check_open()
        if not _fkt.fkt_has_wall_clock(trace):
            return None
        return int(_fkt.fkt_wall_ns(trace, self._stamp(time)))

    # ---- times, names, values ----

    def _counter_columns(self) -> List[str]:
        """How those are called in rows; each has a name of its own, whatever the trace says."""
        text = ctypes.create_string_buffer(_NAME_BYTES)
        columns: List[str] = []
        for number in range(_fkt.fkt_counters(self._trace)):
            name = _text(_fkt.fkt_counter_name(self._trace, number, text)) or ""
            column = name.replace("-", "_") + ("_ns" if name in _CLOCKS else "")
            while column in columns or column in _NO_COUNTERS:
                column += "_"
            columns.append(column)
        return columns

    def _count(self, row: Row, prefix: str, counts: List[Any]) -> None:
        for column, count in zip(self._counters, counts):
            row[prefix + column] = count

    def _span(self, cycles: int) -> int:
        if not self._has_clock:
            return cycles
        return int(_fkt.fkt_cycles_to_ns(self._trace, cycles))

    def _time(self, stamp: int) -> int:
        return self._span(stamp - self._first)

    def _stamp(self, time: Time) -> int:
        if isinstance(time, str):
            ns = c_uint64()
            if not self._has_clock:
                raise Error(f"{self.path}: does not say how fast its clock is")
            if not _fkt.fkt_parse_time(time.encode(), byref(ns)):
                raise ValueError(f'{time}: such as "12.5", "900ms" or "20us"')
            time = ns.value
        time = min(operator.index(time), _UINT64_MAX)
        if time <= 0:
            return 0
        if self._has_clock:
            time = int(_fkt.fkt_ns_to_cycles(self._trace, time))
        return min(self._first + time, _UINT64_MAX)

    def _window(self, begin: Optional[Time], end: Optional[Time]) -> Tuple[int, int]:
        self._check_open()
        return (
            0 if begin is None else self._stamp(begin),
            _UINT64_MAX if end is None else self._stamp(end),
        )

    def _scan(self, begin: int, end: int) -> _Scan:
        """From so far before a window that it is known how things stood when it began."""
        trace = self._check_open()
        return _Scan(self, _fkt.fkt_look_back(trace, begin) if begin else 0, end)

    def _code(self, code: int) -> _Code:
        known = self._codes.get(code)
        if known is None:
            known = self._codes[code] = _Code(self._check_open(), code)
        return known

    def _row(self, row: int) -> Optional[str]:
        if row not in self._rows:
            name = ctypes.create_string_buffer(_NAME_BYTES)
            if row < _ROWS:
                _fkt.fkt_row_name(self._trace, row, name)
            self._rows[row] = _text(name.value) if row < _ROWS else None
        return self._rows[row]

    def name(self, code: int) -> str:
        """The name of a code, as events_arrays() has them."""
        return self._code(code).name or ""

    def _values(self, scan: _Scan, code: _Code, event: _Event, immediates: bool = True) -> Row:
        """The fields of an event, with the names of what they number."""
        values: Row = {}
        value = _Value()
        for name, field in code.fields:
            if field.immediate and not immediates:
                continue
            if field.type == _FIELD_VOID:
                values[name] = None
                continue
            if not _fkt.fkt_field_value(byref(field), byref(event), byref(value)):
                break
            values[name] = self._value(field, value, event)
            named = self._value_name(scan, field, event, value)
            if named is not None:
                values[f"{name}_name"] = named
        return values

    def _value(self, field: _Field, value: _Value, event: _Event) -> Any:
        number = value.number
        if value.kind == _VALUE_TEXT:
            return ctypes.string_at(value.text, value.bytes).decode("utf-8", "replace")
        if value.kind == _VALUE_ARRAY:
            return self._elements(field, event)
        if field.type == _FIELD_STATE:
            return self._state(number)
        if field.type == _FIELD_CHAR:
            return chr(number & 0xFF)
        if value.kind == _VALUE_SIGNED and number >= 1 << 63:
            number -= 1 << 64
        return number

    def _elements(self, field: _Field, event: _Event) -> List[Any]:
        element = _Field.from_buffer_copy(field)
        element.type = field.element
        element.bytes = field.bytes // field.elements
        element.elements = 0
        values = []
        for i in range(field.elements):
            value = _Value()
            element.offset = field.offset + i * element.bytes
            _fkt.fkt_field_value(byref(element), byref(event), byref(value))
            values.append(self._value(element, value, event))
        return values

    def _value_name(
        self, scan: _Scan, field: _Field, event: _Event, value: _Value
    ) -> Optional[str]:
        kind, number = field.type, value.number
        is_error = kind == _FIELD_RESULT and number > _UINT64_MAX - _ERRNO_MAX
        is_named = (
            _FIELD_PID <= kind <= _FIELD_DEVICE
            or kind in (_FIELD_SYMBOL, _FIELD_FUNCTION, _FIELD_CODE, _FIELD_ENUM)
            or is_error
        )
        if not is_named:
            return None
        to = ctypes.create_string_buffer(_VALUE_NAME_BYTES)
        begin = ctypes.addressof(to)
        end = _fkt.fkt_put_name(
            self._trace, scan.processes, byref(field), byref(event), number, begin
        )
        return _text(to.raw[: end - begin]) if end != begin else None

    @staticmethod
    def _state(state: int) -> str:
        letters = ctypes.create_string_buffer(_STATE_BYTES)
        _fkt.fkt_state_letters(state & 0xFFFFFFFF, letters)
        return _text(letters.value) or ""

    # ---- events ----

    def _wanted(
        self,
        begin: int,
        name: Optional[Names],
        cpu: Optional[Some],
        tid: Optional[Some],
        process: Optional[str],
    ) -> _Wanted:
        wanted = _Wanted(first=self._first, from_=begin)
        wanted.keep = []
        if name is not None:
            codes = (c_uint8 * _SLOT_CODES)()
            for pattern in _list(name):
                code = _fkt.fkt_code_like(self._trace, 0, pattern.encode())
                while code < _SLOT_CODES:
                    codes[code] = 1
                    code = _fkt.fkt_code_like(self._trace, code + 1, pattern.encode())
            wanted.code = cast(codes, c_void_p)
            wanted.keep.append(codes)
        if cpu is not None:
            cpus = (c_uint8 * _CPUS)()
            for number in _cpus(cpu):
                cpus[number] = 1
            wanted.cpu = cast(cpus, c_void_p)
            wanted.keep.append(cpus)
        if tid is not None:
            # One more, so that an empty list is none and not any.
            numbers = _tids(tid)
            tids = (c_uint32 * (len(numbers) + 1))(*numbers)
            wanted.pid = cast(tids, c_void_p)
            wanted.pids = len(numbers)
            wanted.keep.append(tids)
            if process is not None:
                raise ValueError("threads are asked for by tid or by process, not by both")
        elif process is not None:
            wanted.comm = process.encode()
        return wanted

    def events(
        self,
        begin: Optional[Time] = None,
        end: Optional[Time] = None,
        *,
        name: Optional[Names] = None,
        cpu: Optional[Some] = None,
        tid: Optional[Some] = None,
        process: Optional[str] = None,
    ) -> Iterator[Row]:
        """The events from begin on and before end, in the order of time.

        name: patterns such as "vfs_*"; cpu, tid: numbers; process: the name of the thread. Each
        event is a dict: time, stamp, cpu, tid, pid, process, code, name, layer, kind, and args, a
        dict of its fields. What numbers a process, an interrupt, an error ... has its name beside
        it, as FIELD_name. Who was current where is None if that is not known.
        """
        first, last = self._window(begin, end)
        wanted = self._wanted(first, name, cpu, tid, process)
        return self._events(first, last, wanted)

    def _events(self, first: int, last: int, wanted: _Wanted) -> Iterator[Row]:
        # Here and in the other iterators: one that never begins must leave nothing behind.
        scan = self._scan(first, last)
        try:
            for what, event in self._next(scan, wanted):
                if what == _EVENT:
                    yield self._event(scan, event)
            self._missing(scan)
        finally:
            scan.free()

    @staticmethod
    def _next(scan: _Scan, wanted: _Wanted) -> Iterator[Tuple[int, _Event]]:
        """What there is to tell up to the end, in one structure, which the next one overwrites."""
        event = _Event()
        while True:
            scan.check()
            what = _check(
                _fkt.fkt_next_wanted(scan.reader, scan.processes, byref(wanted), byref(event))
            )
            scan.trace._raise()
            if what == _END:
                break
            yield what, event

    def _event(self, scan: _Scan, event: _Event) -> Row:
        code = self._code(event.code)
        id = _fkt.fkt_process_id(scan.processes, event.pid, event.cpu)
        process = scan.process(id)
        return {
            "time": self._time(event.stamp),
            "stamp": event.stamp,
            "cpu": event.cpu,
            "tid": _known(event.pid),
            "pid": _known(process.tgid),
            "process": _text(process.comm) if id else None,
            "code": event.code,
            "name": code.name,
            "layer": code.layer,
            "kind": code.kind,
            "args": self._values(scan, code, event),
        }

    def events_arrays(
        self,
        begin: Optional[Time] = None,
        end: Optional[Time] = None,
        *,
        name: Optional[Names] = None,
        cpu: Optional[Some] = None,
        tid: Optional[Some] = None,
        process: Optional[str] = None,
    ) -> Dict[str, Any]:
        """The same as arrays of numpy, without arguments: time, stamp, cpu, tid and code.

        Millions of events a second. name() tells the name of a code; a tid that is not known is -1.
        """
        import numpy

        first, last = self._window(begin, end)
        wanted = self._wanted(first, name, cpu, tid, process)
        scan = self._scan(first, last)
        rows = (_EventRow * _STEP)()
        kind = numpy.dtype(
            [
                ("stamp", "u8"),
                ("time", "i8"),
                ("code", "u4"),
                ("tid", "u4"),
                ("id", "u4"),
                ("cpu", "u2"),
                ("imm", "u2"),
            ]
        )
        parts = [numpy.empty(0, kind)]
        try:
            while True:
                count = _fkt.fkt_next_rows(
                    scan.reader, scan.processes, byref(wanted), rows, _STEP
                )
                if count == 0:
                    break
                if count > 0:
                    parts.append(numpy.frombuffer(memoryview(rows), kind, count).copy())
                elif count != -errno.EAGAIN:  # there are none as yet
                    _check(count)
            self._missing(scan)
        finally:
            scan.free()
        all = numpy.concatenate(parts)
        tids = all["tid"].astype("i8")
        tids[tids == _PID_UNKNOWN] = -1
        return {
            "time": all["time"].copy(),
            "stamp": all["stamp"].copy(),
            "cpu": all["cpu"].copy(),
            "tid": tids,
            "code": all["code"].copy(),
        }

    def losses(self) -> Iterator[Row]:
        """What is missing: kind ("lost", "missing", "damaged", ...), count, cpu, lane, time."""
        self._check_open()
        return self._losses()

    def _losses(self) -> Iterator[Row]:
        scan = _Scan(self, 0, _UINT64_MAX)
        # Nothing but what is missing is of interest.
        wanted = self._wanted(_UINT64_MAX, None, None, None, None)
        try:
            for what, event in self._next(scan, wanted):
                if what != _GAP:
                    continue
                gap = _fkt.fkt_gap(scan.reader).contents
                yield {
                    "kind": _GAPS[gap.kind] if gap.kind < len(_GAPS) else "unknown",
                    "count": gap.count,
                    "lane": gap.lane,
                    "cpu": None if gap.cpu == 0xFFFF else gap.cpu,
                    "time": self._time(event.stamp),
                }
        finally:
            scan.free()

    # ---- calls and waits ----

    def _thread(self, row: Row, scan: _Scan, id: int, prefix: str = "") -> None:
        process = scan.process(id)
        row[prefix + "tid"] = _known(process.tid)
        row[prefix + "pid"] = _known(process.tgid)
        row[prefix + "process"] = _text(process.comm) if id else None

    @staticmethod
    def _chosen(
        cpu: Optional[Some], tid: Optional[Some], process: Optional[str]
    ) -> Callable[[_Scan, int, int], bool]:
        """Tells whether a thread on a CPU is asked for."""
        cpus = None if cpu is None else set(_cpus(cpu))
        tids = None if tid is None else set(_tids(tid))

        def is_chosen(scan: _Scan, cpu: int, id: int) -> bool:
            thread = scan.process(id)
            return (
                (cpus is None or cpu in cpus)
                and (tids is None or thread.tid in tids)
                and (process is None or (_text(thread.comm) if id else None) == process)
            )

        return is_chosen

    def calls(
        self,
        begin: Optional[Time] = None,
        end: Optional[Time] = None,
        *,
        name: Optional[Names] = None,
        cpu: Optional[Some] = None,
        tid: Optional[Some] = None,
        process: Optional[str] = None,
    ) -> Iterator[Row]:
        """The calls that end from begin on and before end, in the order in which they end.

        System calls, functions and interrupts. Each is a dict: begin, end, elapsed, on_cpu, own
        (without what it called), cpu, tid, pid, process, code, name, layer, depth, parent,
        interrupt, whole (seen from entry to exit), result, errno and args, the arguments as far as
        they are in the first six words of its entry. begin and elapsed are None where the entry was
        not seen. Of a trace with counters there is what each has counted, such as page_faults, and
        without what it called, own_page_faults; None where the entry was not seen.
        """
        first, last = self._window(begin, end)
        names = None if name is None else _list(name)
        is_chosen = self._chosen(cpu, tid, process)
        verdicts: Dict[int, bool] = {}

        def wants(row: int) -> bool:
            verdict = verdicts.get(row)
            if verdict is None:
                text = self._row(row) or ""
                verdict = verdicts[row] = names is None or any(
                    fnmatchcase(text, pattern) for pattern in names
                )
            return verdict

        def make(scan: _Scan, call: _Call) -> Optional[Row]:
            if not call.counts or call.end < first or not wants(call.row):
                return None
            return self._call(scan, call) if is_chosen(scan, call.cpu, call.id) else None

        return self._analysed(first, last, make, None)

    def _call(self, scan: _Scan, call: _Call) -> Row:
        code = int(_fkt.fkt_row_code(self._trace, call.row))
        row: Row = {
            "begin": self._time(call.begin) if call.entered else None,
            "end": self._time(call.end),
            "elapsed": self._span(max(call.end - call.begin, 0)) if call.entered else None,
            "on_cpu": self._span(call.cycles),
            "own": self._span(call.own),
            "cpu": call.cpu,
        }
        self._thread(row, scan, call.id)
        row.update(
            code=code if code < _SLOT_CODES else None,
            name=self._row(call.row),
            layer=_text(_fkt.fkt_row_layer(self._trace, call.row)),
            depth=call.depth,
            parent=self._row(call.caller),
            interrupt=bool(call.interrupt),
            whole=not call.partial,
            result=None,
            errno=None,
            args=self._arguments(scan, call, code),
        )
        if call.exit:
            self._result(row, scan, call.exit.contents)
        counted = call.counted or [None] * 2 * _COUNTERS_MAX
        self._count(row, "", counted[:_COUNTERS_MAX])
        self._count(row, "own_", counted[_COUNTERS_MAX : 2 * _COUNTERS_MAX])
        return row

    def _arguments(self, scan: _Scan, call: _Call, code: int) -> Optional[Row]:
        """Those of the entry; of its immediate there is no more than what the row numbers."""
        if code >= _SLOT_CODES or not call.entered:
            return None
        numbered = _ROW_IRQ <= call.row < _ROW_FUNCTION
        imm = call.row - (_ROW_SOFTIRQ if call.row >= _ROW_SOFTIRQ else _ROW_IRQ)
        event = _Event(
            stamp=call.begin,
            args=call.entry_args,
            code=code,
            imm=imm if numbered else 0,
            cpu=call.cpu,
            words=min(call.entry_words, 15),
        )
        return self._values(scan, self._code(code), event, numbered)

    def _result(self, row: Row, scan: _Scan, exit: _Event) -> None:
        value = _Value()
        for _, field in self._code(exit.code).fields:
            if field.type not in (_FIELD_RESULT, _FIELD_RESULT_UNSIGNED):
                continue
            if not _fkt.fkt_field_value(byref(field), byref(exit), byref(value)):
                return
            row["result"] = self._value(field, value, exit)
            if field.type == _FIELD_RESULT and value.number > _UINT64_MAX - _ERRNO_MAX:
                row["errno"] = _text(_fkt.fkt_errno_name(-row["result"]))
            return

    def waits(
        self,
        begin: Optional[Time] = None,
        end: Optional[Time] = None,
        *,
        cpu: Optional[Some] = None,
        tid: Optional[Some] = None,
        process: Optional[str] = None,
    ) -> Iterator[Row]:
        """The times in which threads did not run that end from begin on and before end.

        Each is a dict: begin, woken, end (None: it lasts), elapsed, asleep, ready (woken, or never
        asleep, and on no CPU), state, cpu, tid, pid, process, in_call and in_function (what it was
        in), next_tid and next_process (who had the CPU then), waker_tid, waker and waker_in.
        """
        first, last = self._window(begin, end)
        is_chosen = self._chosen(cpu, tid, process)

        def make(scan: _Scan, wait: _Wait) -> Optional[Row]:
            if wait.back and wait.back < first:
                return None
            return self._wait(scan, wait) if is_chosen(scan, wait.cpu, wait.id) else None

        return self._analysed(first, last, None, make)

    def _wait(self, scan: _Scan, wait: _Wait) -> Row:
        asleep = ready = None
        if not wait.state:
            ready = wait.to - wait.left
        elif wait.woken:
            asleep = min(wait.woken, wait.to) - wait.left
            ready = wait.to - wait.woken
        else:
            asleep = wait.to - wait.left
        row: Row = {
            "begin": self._time(wait.left),
            "woken": self._time(wait.woken) if wait.woken else None,
            "end": self._time(wait.back) if wait.back else None,
            "elapsed": self._span(max(wait.to - wait.left, 0)),
            "asleep": None if asleep is None else self._span(max(asleep, 0)),
            "ready": None if ready is None else self._span(max(ready, 0)),
            "state": self._state(wait.state),
            "cpu": wait.cpu,
        }
        self._thread(row, scan, wait.id)
        row.update(
            in_call=self._row(wait.outer),
            in_function=self._row(wait.inner) if wait.inner != wait.outer else None,
            next_tid=_known(scan.process(wait.next).tid) if wait.next else None,
            next_process=_text(scan.process(wait.next).comm) if wait.next else None,
            waker_tid=None,
            waker=None,
            waker_in=self._row(wait.waker_row) if wait.woken else None,
        )
        # Who was interrupted by an interrupt that wakes is chance.
        if wait.woken and _fkt.fkt_row_interrupts(self._trace, wait.waker_row):
            row["waker"] = "(interrupt)"
        elif wait.woken:
            row["waker_tid"] = _known(scan.process(wait.waker).tid)
            row["waker"] = _text(scan.process(wait.waker).comm) if wait.waker else None
        return row

    def _analysed(
        self,
        first: int,
        last: int,
        make_call: Optional[Callable[[_Scan, _Call], Optional[Row]]],
        make_wait: Optional[Callable[[_Scan, _Wait], Optional[Row]]],
    ) -> Iterator[Row]:
        """What the analysis tells of while a window is read."""
        rows: List[Row] = []
        scan = self._scan(first, last)

        def hook(make: Any) -> Any:
            def tell(_: Any, what: Any) -> None:
                # An exception cannot go through the library.
                try:
                    row = make(scan, what.contents) if not scan.error else None
                    if row is not None:
                        rows.append(row)
                except BaseException as error:  # pylint: disable=broad-except
                    scan.error = error

            return tell

        try:
            hooks = _Hooks(keep_args=True)
            if make_call:
                hooks.leave = _CALL_FN(hook(make_call))
            if make_wait:
                hooks.wait = _WAIT_FN(hook(make_wait))
            scan.analyse(hooks, hook(None).__code__)
            more = True
            while more:
                more = scan.read()
                # What goes on behind a window is not over in it.
                if not more and last == _UINT64_MAX:
                    scan.end(scan.stats().last)
                for row in rows:
                    yield row
                    scan.check()
                rows.clear()
            self._missing(scan)
        finally:
            scan.free()

    def calls_arrays(self, *window: Optional[Time], **what: Any) -> Dict[str, Any]:
        """What calls() gives, an array of numpy for each column; args are an array of dicts."""
        columns = dict(_CALL_COLUMNS)
        for prefix in ("", "own_"):
            columns.update((prefix + column, "i8") for column in self._counters)
        return _arrays(self.calls(*window, **what), columns)

    def waits_arrays(self, *window: Optional[Time], **what: Any) -> Dict[str, Any]:
        """What waits() gives, an array of numpy for each column."""
        return _arrays(self.waits(*window, **what), _WAIT_COLUMNS)

    # ---- sums ----

    def threads(
        self, begin: Optional[Time] = None, end: Optional[Time] = None
    ) -> List[Row]:
        """What each thread did from begin to end, who ran longest first.

        tid, pid, process, on_cpu (what it was current for), and of this user, in_kernel and
        interrupts; ready (waited for a CPU), asleep, switches. tid is None for the time in which
        it is not known who was current.
        """
        scan = self._sums(begin, end)
        count = c_size_t()
        sums = None
        try:
            sums = _fkt.fkt_analysis_threads(scan.analysis, byref(count))
            if not sums:
                raise MemoryError
            return [self._thread_row(scan, sums[i]) for i in range(count.value)]
        finally:
            if sums:
                _free(cast(sums, c_void_p))
            scan.free()

    def _thread_row(self, scan: _Scan, sums: _ThreadSums) -> Row:
        row: Row = {}
        self._thread(row, scan, sums.id)
        row.update(
            on_cpu=self._span(sums.cycles),
            user=self._span(sums.user + sums.program),
            in_kernel=self._span(sums.kernel + sums.before),
            interrupts=self._span(sums.interrupts),
            ready=self._span(sums.waiting),
            asleep=self._span(sum(sums.sleeping)),
            switches=sums.switches,
        )
        return row

    def functions(
        self, begin: Optional[Time] = None, end: Optional[Time] = None
    ) -> List[Row]:
        """What all time between begin and end went to, the most first.

        name, code, layer, calls, partial, own, total: system calls, functions, interrupts, and what
        is outside of all calls, such as user mode. own adds up to the time of all CPUs. Of a trace
        with counters there is what each has counted, without what was called: own_page_faults.
        """
        scan = self._sums(begin, end)
        rows = []
        try:
            for number in range(_ROWS):
                sums = _fkt.fkt_analysis_row(scan.analysis, number).contents
                counted = [
                    _fkt.fkt_analysis_counted(scan.analysis, number, i)
                    for i in range(len(self._counters))
                ]
                if not (sums.own or sums.calls or sums.partial or any(counted)):
                    continue
                code = int(_fkt.fkt_row_code(self._trace, number))
                rows.append(
                    {
                        "name": self._row(number),
                        "code": code if code < _SLOT_CODES else None,
                        "layer": _text(_fkt.fkt_row_layer(self._trace, number)),
                        "calls": sums.calls,
                        "partial": sums.partial,
                        "own": self._span(sums.own),
                        "total": self._span(sums.total),
                    }
                )
                self._count(rows[-1], "own_", counted)
        finally:
            scan.free()
        return sorted(rows, key=lambda row: int(row["own"]), reverse=True)

    def _sums(self, begin: Optional[Time], end: Optional[Time]) -> _Scan:
        """An analysis of a window, read and ended."""
        first, last = self._window(begin, end)
        scan = self._scan(first, first) if first else _Scan(self, 0, last)
        try:
            scan.analyse(None)
            if first:
                _fkt.fkt_analysis_charge(scan.analysis, 0, False)
                while scan.read():
                    pass
                _fkt.fkt_analysis_charge(scan.analysis, first, True)
                scan.other_window(first, last)
            while scan.read():
                pass
            ended = scan.stats().last
            if last != _UINT64_MAX:
                _fkt.fkt_analysis_charge(scan.analysis, last, False)
                scan.other_window(last, _UINT64_MAX)
                for _ in range(_LOOK_AHEAD // _STEP):
                    if _fkt.fkt_analysis_is_settled(scan.analysis) or not scan.read():
                        break
                ended = max(ended, scan.stats().last)
            scan.end(ended)
            self._missing(scan)
        except BaseException:
            scan.free()
            raise
        return scan


_CALL_COLUMNS = {
    "begin": "i8",
    "end": "i8",
    "elapsed": "i8",
    "on_cpu": "i8",
    "own": "i8",
    "cpu": "u2",
    "tid": "i8",
    "pid": "i8",
    "process": "O",
    "name": "O",
    "depth": "u4",
    "parent": "O",
    "interrupt": "?",
    "whole": "?",
    "result": "O",
    "errno": "O",
    "args": "O",
}
# What no counter's column is called.
_NO_COUNTERS = {*_CALL_COLUMNS, "code", "layer"}
_WAIT_COLUMNS = {
    "begin": "i8",
    "woken": "i8",
    "end": "i8",
    "elapsed": "i8",
    "asleep": "i8",
    "ready": "i8",
    "state": "O",
    "cpu": "u2",
    "tid": "i8",
    "pid": "i8",
    "process": "O",
    "in_call": "O",
    "in_function": "O",
    "waker_tid": "i8",
    "waker": "O",
    "waker_in": "O",
}


def _arrays(rows: Iterator[Row], columns: Dict[str, str]) -> Dict[str, Any]:
    """Rows as arrays; a number that is not known is -1."""
    import numpy

    values: Dict[str, List[Any]] = {column: [] for column in columns}
    for row in rows:
        for column, kind in columns.items():
            value = row[column]
            values[column].append(-1 if value is None and kind == "i8" else value)
    arrays = {}
    for column, kind in columns.items():
        arrays[column] = numpy.empty(len(values[column]), kind)
        arrays[column][:] = values[column]
    return arrays
