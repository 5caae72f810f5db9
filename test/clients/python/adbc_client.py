"""Flight SQL by ADBC: statements, parameters, ingest, metadata, sessions, sign-in."""
import os

import adbc_driver_flightsql.dbapi as flight_sql
import pyarrow as pa

from checks import PASSWORD, USER, check, raises

OPEN = f"grpc://127.0.0.1:{os.environ['VARVE_GRPC']}"
SECURE = f"grpc://127.0.0.1:{os.environ['VARVE_GRPC_SECURE']}"
LOGIN = {"username": USER, "password": PASSWORD}


def holds(name, condition):
    with check(name):
        assert condition, "it does not hold"


def refuses(name, work, says):
    with check(name):
        raises(flight_sql.Error, work, says)


def rows(cursor, text, values=None):
    cursor.execute(text, values) if values else cursor.execute(text)
    return cursor.fetchall()


def statements(cursor):
    cursor.execute("DROP TABLE IF EXISTS adbc")
    cursor.execute("CREATE TABLE adbc (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)")
    cursor.execute("INSERT INTO adbc VALUES (1000, 'a', 1.5), (2000, 'b', 2.5)")
    holds("adbc: rows", rows(cursor, "SELECT host, v FROM adbc ORDER BY host") == [("a", 1.5), ("b", 2.5)])
    holds("adbc: parameters", rows(cursor, "SELECT v FROM adbc WHERE host = ? AND v > ?", ("a", 1.0)) == [(1.5,)])
    cursor.executemany("INSERT INTO adbc VALUES (?, ?, ?)", [(3000, "c", 3.0), (4000, "d", None)])
    holds("adbc: executemany", cursor.rowcount == 2 and rows(cursor, "SELECT count(*), sum(v) FROM adbc") == [(4, 7.0)])
    cursor.execute("SELECT * FROM adbc ORDER BY ts")
    table = cursor.fetch_arrow_table()
    holds("adbc: arrow", table.num_rows == 4 and table.schema.field("ts").type == pa.timestamp("ms"))
    holds("adbc: show", ("adbc",) in rows(cursor, "SHOW TABLES"))
    refuses("adbc: unknown table", lambda: cursor.execute("SELECT * FROM nowhere"), "nowhere")


def many(cursor):
    count = 10_000
    cursor.execute("DROP TABLE IF EXISTS adbc_many")
    cursor.execute("CREATE TABLE adbc_many (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)")
    given = [(at, f"h{at % 100}", None if at % 10 == 3 else at / 2) for at in range(count)]
    cursor.executemany("INSERT INTO adbc_many VALUES (?, ?, ?)", given)
    changed = cursor.rowcount
    found = rows(cursor, "SELECT count(*), count(v), count(DISTINCT host), max(v) FROM adbc_many")
    holds("adbc: executemany of 10,000 rows", changed == count and found == [(count, count - 1000, 100, 4999.5)])
    cursor.executemany("INSERT INTO adbc_many (host, ts) VALUES (upper(?), ?::BIGINT + 1)", [("x", -3), ("x", -2)])
    holds("adbc: executemany of computed rows", rows(cursor, "SELECT host, ts::BIGINT FROM adbc_many WHERE ts < 0") == [("X", -2), ("X", -1)])
    cursor.executemany("DELETE FROM adbc_many WHERE host = ? AND ts = ?", [(f"h{at}", at) for at in range(50)])
    holds("adbc: executemany of deletes", cursor.rowcount == 50 and rows(cursor, "SELECT count(*) FROM adbc_many") == [(count - 48,)])
    wrong = [(at, None if at == 70 else "h", 1.0) for at in range(100_000, 100_100)]
    refuses("adbc: executemany with a row that is wrong", lambda: cursor.executemany("INSERT INTO adbc_many VALUES (?, ?, ?)", [(None, "h", 1.0), *wrong]), "ts")
    holds("adbc: and none of its rows", rows(cursor, "SELECT count(*) FROM adbc_many WHERE ts > 99999") == [(0,)])


def ingest(cursor):
    data = pa.table({"ts": pa.array([1, 2, 3], pa.timestamp("us")), "h": ["x", "y", "z"], "v": [1.0, 2.0, None]})
    cursor.execute("DROP TABLE IF EXISTS adbc_in")
    for mode, count in (("create", 3), ("append", 6), ("replace", 3), ("create_append", 6)):
        cursor.adbc_ingest("adbc_in", data, mode=mode)
        holds(f"adbc: ingest {mode}", rows(cursor, "SELECT count(*) FROM adbc_in") == [(count,)])
    refuses("adbc: ingest into what is there", lambda: cursor.adbc_ingest("adbc_in", data, mode="create"), "already exists")


def metadata(connection):
    holds("adbc: info", connection.adbc_get_info()["vendor_name"] == "Varve")
    holds("adbc: table types", "TABLE" in connection.adbc_get_table_types())
    schema = connection.adbc_get_table_schema("adbc")
    holds("adbc: table schema", schema.names == ["ts", "host", "v"] and not schema.field("ts").nullable)
    catalogs = connection.adbc_get_objects(depth="all", table_name_filter="adbc").read_all().to_pylist()
    found = [t["table_name"] for c in catalogs for s in c["catalog_db_schemas"] for t in s["db_schema_tables"]]
    holds("adbc: objects", found == ["adbc"])


def sign_in():
    with flight_sql.connect(SECURE, db_kwargs=LOGIN, autocommit=True) as connection:
        with connection.cursor() as cursor:
            holds("adbc: signs in", rows(cursor, "SELECT 1") == [(1,)])
            cursor.execute("CREATE DATABASE IF NOT EXISTS adbc_other")
            connection.adbc_connection.set_options(**{"adbc.connection.db_schema": "adbc_other"})
            holds("adbc: session", rows(cursor, "SELECT database()") == [("adbc_other",)])
    wrong = {**LOGIN, "password": "wrong"}
    refuses("adbc: wrong password", lambda: flight_sql.connect(SECURE, db_kwargs=wrong, autocommit=True), "")


with flight_sql.connect(OPEN, autocommit=True) as open_connection:
    with open_connection.cursor() as open_cursor:
        statements(open_cursor)
        many(open_cursor)
        ingest(open_cursor)
    metadata(open_connection)
sign_in()
print("done")
