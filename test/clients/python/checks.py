"""What every Python client shares: a line a check, the table of values, and how a driver's value compares with its text."""

import contextlib
import datetime
import decimal
import json
import math
import os
import pathlib
import struct
import traceback

VALUES = json.loads(pathlib.Path(os.environ["VARVE_VALUES"]).read_text())
USER, PASSWORD, CA = os.environ["VARVE_USER"], os.environ["VARVE_PASSWORD"], os.environ["VARVE_CA"]
PORTS = {name: int(os.environ[f"VARVE_{name}"]) for name in ("PG", "PG_SECURE", "MYSQL", "MYSQL_SECURE")}


@contextlib.contextmanager
def check(name):
    """Prints `ok NAME`, or `FAIL NAME: why` where the block raises."""
    try:
        yield
        print(f"ok {name}", flush=True)
    except Exception as error:  # noqa: BLE001: every failure is a line
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"FAIL {name}: {said[:400]} ({pathlib.Path(place.filename).name}:{place.lineno})", flush=True)


def raises(kinds, work, says=""):
    """The error that `work` ends with; one that is not of `kinds`, or does not say `says`, is a failure."""
    try:
        work()
    except kinds as error:
        assert says in str(error), f"said {error!r}, not {says!r}"
        return error
    raise AssertionError("no error")


def columns(dialect):
    return [column for column in VALUES["columns"] if column.get("only", dialect) == dialect]


def create_table(name, dialect, change=lambda column: column["type"]):
    fields = ", ".join(f"{column['name']} {change(column)}" for column in columns(dialect))
    return f"CREATE TABLE {name} (id INT PRIMARY KEY, ts TIMESTAMP TIME INDEX, {fields})"


def rows(dialect):
    """The rows of the table, texts and None: one a value, then one of NULLs."""
    width = max(len(column["values"]) for column in columns(dialect))
    return [[column["values"][i] for column in columns(dialect)] for i in range(width)] + [[None] * len(columns(dialect))]


def literal(column, text, backslashes=False):
    """A value as SQL has it."""
    if text is None:
        return "NULL"
    kind = column["kind"]
    if kind in ("int", "uint64", "bool"):
        return text
    if kind == "binary":
        return f"X'{text}'"
    if backslashes:
        text = text.replace("\\", "\\\\")
    return "'" + text.replace("'", "''") + "'"


def native(column, text):
    """A value as Python has it."""
    if text is None:
        return None
    kind = column["kind"]
    if kind == "bool":
        return text == "true"
    if kind in ("int", "uint64"):
        return int(text)
    if kind in ("float32", "float64"):
        return float(text)
    if kind == "decimal":
        return decimal.Decimal(text)
    if kind == "binary":
        return bytes.fromhex(text)
    if kind == "date":
        return datetime.date.fromisoformat(text)
    if kind == "timestamp":
        return datetime.datetime.fromisoformat(text)
    return text


def _single(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def same(column, value, text):
    """Whether a driver's value is the one of the text."""
    want, kind = native(column, text), column["kind"]
    if want is None or value is None:
        return value is want
    if kind in ("float32", "float64"):
        value = float(value)
        if math.isnan(want):
            return math.isnan(value)
        return value == want if kind == "float64" else _single(value) == _single(want)
    if kind in ("uint64", "bool"):
        return int(value) == want
    if kind == "json":
        return (json.loads(value) if isinstance(value, str) else value) == json.loads(want)
    return value == want and isinstance(value, type(want))


def compare(dialect, found):
    """Fails where rows that a driver found are not those of the table; names the columns."""
    want = rows(dialect)
    assert len(found) == len(want), f"{len(found)} rows, not {len(want)}"
    for got, row in zip(found, want):
        for column, value, text in zip(columns(dialect), got, row, strict=True):
            assert same(column, value, text), f"column {column['name']} ({column['type']}): {value!r}, not {text!r}"
