"""psycopg 3: values as text and binary, bound by the server and by the client, prepared, copied, piped; pool, cancel, cursors."""

import concurrent.futures
import datetime
import json
import threading
import time

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Json
from psycopg_pool import ConnectionPool

from checks import CA, PASSWORD, PORTS, USER, VALUES, check, columns, compare, create_table, literal, native, raises, rows

OPEN = f"host=127.0.0.1 port={PORTS['PG']} user=someone dbname=public"
SECURE = {"host": "localhost", "hostaddr": "127.0.0.1", "port": PORTS["PG_SECURE"], "user": USER, "password": PASSWORD, "dbname": "public"}
NAMES = ", ".join(column["name"] for column in columns("postgres"))
SELECT = f"SELECT {NAMES} FROM py_psycopg ORDER BY id"


def connect(**more):
    return psycopg.connect(OPEN, autocommit=True, **more)


def connecting():
    with check("psycopg: connects"), connect() as client:
        assert client.execute("SELECT 1").fetchone() == (1,)
        assert client.info.server_version >= 160000, client.info.server_version
    with check("psycopg: right password by SCRAM, in clear and by TLS"):
        for mode in ("disable", "require", "verify-full"):
            with psycopg.connect(**SECURE, sslmode=mode, sslrootcert=CA) as client:
                assert client.pgconn.ssl_in_use == (mode != "disable")
                assert client.execute("SELECT 'ä'").fetchone() == ("ä",)
    with check("psycopg: wrong password and unknown user are 28P01"):
        for change in ({"password": "wrong"}, {"user": "nobody"}):
            error = raises(psycopg.OperationalError, lambda: psycopg.connect(**{**SECURE, **change}), "FATAL")
            assert "password" in str(error), str(error)
    with check("psycopg: an unknown database is refused"):
        raises(psycopg.OperationalError, lambda: psycopg.connect(OPEN, dbname="nowhere"), "nowhere")


def values():
    with connect() as client:
        for way in ("literals", "parameters", "client-side parameters", "copy as text", "copy in binary", "executemany"):
            with check(f"psycopg: every type, written by {way}"):
                client.execute("DROP TABLE IF EXISTS py_psycopg")
                client.execute(create_table("py_psycopg", "postgres"))
                write(client, way)
                if way == "client-side parameters":  # it writes '…'::timestamp, which is of milliseconds here
                    finer = "t6 = CAST('1000-01-01 00:00:00.000001' AS TIMESTAMP(6)), t9 = CAST('1677-09-22 00:00:00.000001' AS TIMESTAMP(9))"
                    client.execute(f"UPDATE py_psycopg SET {finer} WHERE id = 0")
                    for i in (1, 2):
                        finer = ", ".join(f"{c['name']} = '{c['values'][i]}'" for c in columns("postgres") if c["name"] in ("t6", "t9"))
                        client.execute(f"UPDATE py_psycopg SET {finer} WHERE id = {i}")
                for binary in (False, True):
                    compare("postgres", client.cursor(binary=binary).execute(SELECT).fetchall())
        with check("psycopg: parameters of every type find their rows, prepared"):
            for column in columns("postgres"):
                for i, text in enumerate(rows("postgres")[0:3]):
                    value = text[columns("postgres").index(column)]
                    if column["kind"] in ("json", "float32"):
                        continue
                    for mark in ("%s", "%b"):
                        found = client.execute(
                            f"SELECT id FROM py_psycopg WHERE {column['name']} = {mark} AND id = {i}", [native(column, value)], prepare=True
                        ).fetchall()
                        assert found == [(i,)], (column["name"], value, mark, found)


def write(client, way):
    shown = ", ".join(["%s"] * (len(columns("postgres")) + 2))
    wrap = lambda column, value: Json(json.loads(value)) if column["kind"] == "json" and value else value
    all_rows = [[i, i, *(wrap(c, native(c, v)) for c, v in zip(columns("postgres"), row))] for i, row in enumerate(rows("postgres"))]
    insert = f"INSERT INTO py_psycopg VALUES ({shown})"
    stamped = [[i, datetime.datetime(2024, 1, 1, 0, 0, i), *rest] for i, _, *rest in all_rows]
    if way == "literals":
        for i, row in enumerate(rows("postgres")):
            client.execute(f"INSERT INTO py_psycopg VALUES ({i}, {i}, {', '.join(literal(c, v) for c, v in zip(columns('postgres'), row))})".encode())
    elif way == "parameters":
        for row in stamped:
            client.execute(insert, row)
    elif way == "client-side parameters":
        for row in stamped:
            psycopg.ClientCursor(client).execute(insert, row)
    elif way == "executemany":
        cursor = client.cursor()
        cursor.executemany(insert, stamped)
        assert cursor.rowcount == len(stamped), cursor.rowcount
    else:
        binary = way.endswith("binary")
        oids = {"b": "bool", "i8": "int2", "i16": "int2", "i32": "int4", "i64": "int8", "u8": "int2", "u16": "int4", "u32": "int8", "u64": "numeric",
                "f32": "float4", "f64": "float8", "odd": "float8", "n38": "numeric", "n8": "numeric", "s": "text", "bin": "bytea", "d": "date", "j": "json"}
        with client.cursor().copy(f"COPY py_psycopg FROM STDIN{' WITH (FORMAT binary)' if binary else ''}") as copy:
            if binary:
                copy.set_types(["int4", "timestamp", *(oids.get(c["name"], "timestamp") for c in columns("postgres"))])
            for row in stamped:
                copy.write_row(row)


def statements():
    with connect() as client:
        with check("psycopg: errors carry SQLSTATEs, and the connection lives on"):
            for error in VALUES["errors"]:
                for parameters in (None, []):
                    failure = raises(psycopg.Error, lambda: client.execute(error["sql"], parameters))
                    assert failure.sqlstate == error["sqlstate"], (error["sql"], failure.sqlstate)
            assert client.execute("SELECT 1").fetchone() == (1,)
        with check("psycopg: transactions pass, a failed one takes nothing but its end"):
            client.execute("CREATE TABLE IF NOT EXISTS py_tx (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)")
            with client.transaction():
                client.execute("INSERT INTO py_tx VALUES (%s, %s, %s)", ["a", datetime.datetime(2024, 1, 1), 1.5])
            with client.transaction():
                client.execute("SELECT 1")
                raises(psycopg.Error, lambda: client.transaction().__enter__() and None or client.execute("SELECT 1/0"))
                raise psycopg.Rollback
            assert client.execute("SELECT h, v FROM py_tx").fetchall() == [("a", 1.5)]
        with check("psycopg: pipeline mode"):
            with client.pipeline():
                cursors = [client.execute("SELECT %s::INT", [i]) for i in range(50)]
            assert [cursor.fetchone()[0] for cursor in cursors] == list(range(50))
        with check("psycopg: a failure within a pipeline leaves a usable connection"):
            def failing():
                with client.pipeline():
                    client.execute("SELECT 1")
                    client.execute("SELECT 1 FROM nowhere")
                    client.execute("SELECT 2")
            raises(psycopg.Error, failing, "nowhere")
            assert client.execute("SELECT 3").fetchone() == (3,)
        with check("psycopg: streams, by a single-row cursor and by one of the server"):
            stream = VALUES["stream"]
            assert sum(row[0] for row in client.cursor().stream(stream["sql"])) == int(stream["sum"])
            with client.transaction(), client.cursor("named") as cursor:
                cursor.itersize = 10_000
                cursor.execute(stream["sql"])
                assert sum(row[0] for row in cursor) == int(stream["sum"])
        with check("psycopg: copies a query out"), client.cursor().copy("COPY (SELECT 1, 'a' UNION ALL SELECT 2, NULL) TO STDOUT") as copy:
            assert sorted(copy.rows()) == [("1", "a"), ("2", None)]
        with check("psycopg: arrays and rows by name"):
            assert client.execute("SELECT value AS v FROM generate_series(1, 5) WHERE value = ANY(%s) ORDER BY 1", [[2, 3]]).fetchall() == [(2,), (3,)]
            assert client.cursor(row_factory=dict_row).execute("SELECT 1 AS a").fetchone() == {"a": 1}
        with check("psycopg: a large batch"):
            client.execute("CREATE TABLE IF NOT EXISTS py_batch (h INT PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)")
            at = datetime.datetime(2024, 1, 1)
            client.cursor().executemany("INSERT INTO py_batch VALUES (%s, %s, %s)", [(i, at, i / 2) for i in range(2000)])
            assert client.execute("SELECT count(*), sum(v) FROM py_batch").fetchone() == (2000, 999500.0)
        with check("psycopg: a cancelled query is 57000 and leaves a usable connection"):
            for cancel in (client.cancel, client.cancel_safe):
                threading.Timer(0.3, cancel).start()
                began = time.monotonic()
                failure = raises(psycopg.Error, lambda: client.execute(VALUES["slow"]))
                assert failure.sqlstate == "57000" and time.monotonic() - began < 20, failure.sqlstate
                assert client.execute("SELECT 1").fetchone() == (1,)


def pool():
    with check("psycopg: a pool, queries at once"), ConnectionPool(OPEN, min_size=4, max_size=8, kwargs={"autocommit": True}) as shared:
        def ask(i):
            with shared.connection() as client:
                return client.execute("SELECT %s::INT * 2", [i]).fetchone()[0]
        with concurrent.futures.ThreadPoolExecutor(16) as threads:
            assert list(threads.map(ask, range(100))) == [i * 2 for i in range(100)]


connecting()
values()
statements()
pool()
print("done")
