"""GreptimeDB's Python ingester: rows of every type, NULLs, deletes, bulk writes, sign-in, failures; read back by Arrow Flight."""

import datetime
import decimal
import json
import os

from greptimedb_ingester import Client, Column, ColumnDataType as Type, GreptimeError, SemanticType, WriteOptions
from pyarrow import flight

from checks import PASSWORD, USER, check, raises
from flight_requests import answer

OPEN = f"127.0.0.1:{os.environ['VARVE_GRPC']}"
SECURE = os.environ["VARVE_GRPC_SECURE"]
reader = flight.FlightClient(f"grpc://{OPEN}")
client = Client([OPEN])
UTC = datetime.timezone.utc

TAG, FIELD, TIME = SemanticType.TAG, SemanticType.FIELD, SemanticType.TIMESTAMP
POINTS = [Column("host", Type.STRING, TAG), Column("ts", Type.TIMESTAMP_MILLISECOND, TIME), Column("x", Type.FLOAT64, FIELD)]

# Columns of every kind; what is given, and what is read: the ends, a value amid them, and NULL.
KINDS = {
    "b": (Type.BOOLEAN, [True, False, None]),
    "i8": (Type.INT8, [-128, 127, None]),
    "i16": (Type.INT16, [-32768, 32767, None]),
    "i32": (Type.INT32, [-(2**31), 2**31 - 1, None]),
    "i64": (Type.INT64, [-(2**63), 2**63 - 1, None]),
    "u8": (Type.UINT8, [0, 255, None]),
    "u16": (Type.UINT16, [0, 65535, None]),
    "u32": (Type.UINT32, [0, 2**32 - 1, None]),
    "u64": (Type.UINT64, [0, 2**64 - 1, None]),
    "f32": (Type.FLOAT32, [0.5, -3.4028234663852886e38, None]),
    "f64": (Type.FLOAT64, [5e-324, -1.7976931348623157e308, None]),
    "s": (Type.STRING, ["", "käse 🧀 \r\n", None]),
    "bin": (Type.BINARY, [b"", bytes(range(256)), None]),
    "d": (Type.DATE, [datetime.date(1000, 1, 1), datetime.date(9999, 12, 30), None]),
    "t0": (Type.TIMESTAMP_SECOND, [datetime.datetime(1970, 1, 1, tzinfo=UTC), datetime.datetime(2261, 12, 31, 23, 59, 59, tzinfo=UTC), None]),
    "t3": (Type.TIMESTAMP_MILLISECOND, [datetime.datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC), datetime.datetime(2261, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC), None]),
    "t6": (Type.TIMESTAMP_MICROSECOND, [-1, datetime.datetime(2024, 2, 29, 1, 2, 3, 456_789, tzinfo=UTC), None]),
    "t9": (Type.TIMESTAMP_NANOSECOND, [-1, 1_700_000_000_123_456_789, None]),
    "j": (Type.JSON, ['{"a":[1,2.5,null]}', "[]", None]),
}
DECIMALS = [decimal.Decimal("9" * 28 + "." + "9" * 10), decimal.Decimal("-0.0000000001"), None]
# Parts of a second that columns count.
UNITS = {"t0": 1, "t3": 10**3, "t6": 10**6, "t9": 10**9}


def ask(sql):
    """Rows, as lists."""
    return [list(row.values()) for row in answer(reader, sql).to_pylist()]


def points(start, count, host="a"):
    return [[host, at * 1000, at / 2] for at in range(start, start + count)]


def wanted(name, value):
    """A value as SQL reads it: timestamps as numbers of their unit."""
    if isinstance(value, datetime.datetime):
        elapsed = value - datetime.datetime(1970, 1, 1, tzinfo=UTC)
        return elapsed // datetime.timedelta(microseconds=1) * UNITS[name] // 10**6
    return value


def rows_of_every_type():
    columns = [Column("k", Type.STRING, TAG), Column("ts", Type.TIMESTAMP_MILLISECOND, TIME)]
    columns += [Column(name, kind, FIELD) for name, (kind, _) in KINDS.items()]
    columns.append(Column("n", Type.DECIMAL128, FIELD, precision=38, scale=10))
    given = [["k", at, *(values[at] for _, values in KINDS.values()), DECIMALS[at]] for at in range(3)]
    with check("ingester: every type and NULL"):
        assert client.insert("py_types", columns, given) == 3
        shown = [f"{name}::BIGINT" if name in UNITS else name for name in KINDS]
        found = ask(f"SELECT {', '.join(shown)}, n FROM py_types ORDER BY ts")
        for at, row in enumerate(found):
            for name, value in zip([*KINDS, "n"], row, strict=True):
                given_value = DECIMALS[at] if name == "n" else KINDS[name][1][at]
                if name == "j" and value is not None:
                    value, given_value = json.loads(value), json.loads(given_value)
                want = wanted(name, given_value)
                assert value == want, f"{name} of row {at}: {value!r}, not {want!r}"
    with check("ingester: what it made"):
        made = ask("SHOW CREATE TABLE py_types")[0][1]
        for part in ('PRIMARY KEY ("k")', 'TIME INDEX ("ts")', '"u64" BIGINT UNSIGNED', '"n" DECIMAL(38, 10)', '"j" JSON'):
            assert part in made, f"no {part} in {made}"


def rows_and_deletes():
    for compression in (None, "gzip", "zstd"):
        with check(f"ingester: rows, compression {compression}"):
            packed = Client([OPEN], send_compression=compression, accept_compression=compression)
            assert packed.insert(f"py_rows_{compression}".lower(), POINTS, points(0, 5000)) == 5000
            assert ask(f"SELECT count(*), sum(x) FROM py_rows_{compression}") == [[5000, 6_248_750.0]]
    with check("ingester: rows as dictionaries; one again is the newer"):
        row = {"host": "d", "ts": datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), "x": 1.0}
        assert client.insert("py_points", POINTS, [row, {**row, "x": None}, {**row, "ts": 2000}]) == 3
        assert ask("SELECT ts::BIGINT, x FROM py_points ORDER BY ts") == [[1000, None], [2000, 1.0]]
    with check("ingester: deletes"):
        client.insert("py_points", POINTS, points(10, 10, "gone"))
        assert client.delete("py_points", POINTS[:2], [["gone", at * 1000] for at in range(10, 15)]) == 5
        assert ask("SELECT count(*) FROM py_points WHERE host = 'gone'") == [[5]]
    with check("ingester: a column that comes later"):
        client.insert("py_points", [*POINTS, Column("later", Type.INT64, FIELD)], [["later", 1, 1.0, 7]])
        assert ask("SELECT later FROM py_points WHERE host = 'later' OR (host = 'd' AND ts = 2000) ORDER BY later NULLS LAST") == [[7], [None]]
    with check("ingester: hints"):
        client.insert("py_hints", POINTS, points(0, 2), hints=[("ttl", "30d"), ("append_mode", "true")])
        made = ask("SHOW CREATE TABLE py_hints")[0][1]
        assert "30days" in made and "append_mode" in made, made
    with check("ingester: health"):
        client.health_check()


def bulk():
    for compression in ("none", "lz4", "zstd"):
        with check(f"ingester: bulk writes, compression {compression}"):
            table = f"py_bulk_{compression}"
            client.insert(table, POINTS, points(0, 1))
            with_options = WriteOptions(compression=compression)
            writer = client.bulk_writer(table, POINTS, with_options)
            for part in range(10):
                rows = writer.alloc_rows(1000)
                rows.add_rows(points(part * 1000, 1000, f"h{part % 3}"))
                response = writer.write(rows)
                assert response.affected_rows == 1000, response
            writer.finish()
            assert ask(f"SELECT count(*), count(DISTINCT host), sum(x) FROM {table} WHERE host <> 'a'") == [[10_000, 3, 24_997_500.0]]
    with check("ingester: bulk writes side by side"):
        client.insert("py_bulk_side", POINTS, points(0, 1))
        writer = client.bulk_writer("py_bulk_side", POINTS, WriteOptions(parallelism=8))
        for part in range(40):
            rows = writer.alloc_rows(100)
            rows.add_rows(points(part * 100, 100, "side"))
            writer.write_async(rows)
        assert sum(each.affected_rows for each in writer.finish_with_responses()) == 4000
        assert ask("SELECT count(*) FROM py_bulk_side WHERE host = 'side'") == [[4000]]

    def into_nothing():
        writer = client.bulk_writer("py_nowhere", POINTS)
        rows = writer.alloc_rows(1)
        rows.add_rows(points(0, 1))
        writer.write(rows)

    with check("ingester: bulk writes into no table"):
        assert "not found" in str(raises(GreptimeError, into_nothing)).lower()


def failures():
    with check("ingester: another type than the table has"):
        wrong = [*POINTS[:2], Column("x", Type.STRING, FIELD)]
        said = str(raises(GreptimeError, lambda: client.insert("py_points", wrong, [["a", 1, "text"]])))
        assert "x" in said, said
    with check("ingester: an unknown database"):
        raises(GreptimeError, lambda: Client([OPEN], database="nowhere").insert("t", POINTS, points(0, 1)))


def sign_in():
    address = f"127.0.0.1:{SECURE}"
    with check("ingester: signs in; rows and bulk writes"):
        signed = Client([address], username=USER, password=PASSWORD)
        assert signed.insert("py_in", POINTS, points(0, 3)) == 3
        writer = signed.bulk_writer("py_in", POINTS)
        rows = writer.alloc_rows(2)
        rows.add_rows(points(5, 2))
        assert writer.write(rows).affected_rows == 2
        writer.finish()
    for what, login in (("a wrong password", {"username": USER, "password": "wrong"}), ("no credentials", {})):
        with check(f"ingester: {what}"):
            said = str(raises(GreptimeError, lambda: Client([address], **login).insert("py_in", POINTS, points(0, 1))))
            assert "password" in said or "auth" in said.lower(), said


rows_of_every_type()
rows_and_deletes()
bulk()
failures()
sign_in()
print("done")
