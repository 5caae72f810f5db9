"""PyMySQL: the text protocol, values written by the client; sign-in methods, streams, batches, KILL."""

import concurrent.futures
import datetime
import decimal
import threading

import pymysql

from checks import CA, PASSWORD, PORTS, USER, VALUES, check, columns, compare, create_table, literal, native, raises, rows

OPEN = {"host": "127.0.0.1", "port": PORTS["MYSQL"], "user": "someone", "database": "public"}
SECURE = {"host": "localhost", "port": PORTS["MYSQL_SECURE"], "user": USER, "password": PASSWORD, "database": "public"}
COLUMNS = columns("mysql")
SELECT = f"SELECT {', '.join(column['name'] for column in COLUMNS)} FROM py_pymysql ORDER BY id"


def connect(**more):
    return pymysql.connect(**{**OPEN, "autocommit": True, **more})


def ask(client, sql, parameters=None):
    with client.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(map(list, cursor.fetchall()))


def connecting():
    with check("PyMySQL: connects"), connect() as client:
        assert ask(client, "SELECT 1") == [[1]]
        client.ping()
        client.select_db("information_schema")
        assert ask(client, "SELECT database()") == [["information_schema"]]
    with check("PyMySQL: right password, in clear and by TLS with the certificate checked"):
        for more in ({"ssl_disabled": True}, {"ssl_ca": CA, "ssl_verify_cert": True, "ssl_verify_identity": True}):
            with pymysql.connect(**SECURE, **more) as client:
                assert ask(client, "SELECT 'ä'") == [["ä"]]
    with check("PyMySQL: wrong password is 1698, an unknown database 1102"):
        for more, number in (({**SECURE, "password": "wrong"}, 1698), ({**OPEN, "database": "nowhere"}, 1102)):
            error = raises(pymysql.MySQLError, lambda: pymysql.connect(**more))
            assert error.args[0] == number, error.args


def values():
    stamped = [[i, datetime.datetime(2024, 1, 1, 0, 0, i), *map(native, COLUMNS, row)] for i, row in enumerate(rows("mysql"))]
    shown = ", ".join(["%s"] * (len(COLUMNS) + 2))
    with connect() as client:
        for way in ("literals", "parameters", "executemany"):
            with check(f"PyMySQL: every type, written by {way}"), client.cursor() as cursor:
                cursor.execute("DROP TABLE IF EXISTS py_pymysql")
                cursor.execute(create_table("py_pymysql", "mysql"))
                if way == "literals":
                    for i, row in enumerate(rows("mysql")):
                        cursor.execute(f"INSERT INTO py_pymysql VALUES ({i}, {i}, {', '.join(literal(c, v, True) for c, v in zip(COLUMNS, row))})")
                elif way == "parameters":
                    for row in stamped:
                        assert cursor.execute(f"INSERT INTO py_pymysql VALUES ({shown})", row) == 1
                else:
                    assert cursor.executemany(f"INSERT INTO py_pymysql VALUES ({shown})", stamped) == len(stamped)
                compare("mysql", ask(client, SELECT))
        with check("PyMySQL: parameters of every type find their rows"):
            for i, row in enumerate(rows("mysql")[0:3]):
                for column, value in zip(COLUMNS, row):
                    if column["kind"] in ("json", "float32"):
                        continue
                    found = ask(client, f"SELECT id FROM py_pymysql WHERE {column['name']} = %s AND id = {i}", [native(column, value)])
                    assert found == [[i]], (column["name"], value, found)
        with check("PyMySQL: times; nine digits of a second are left a text"):
            assert ask(client, "SELECT CAST('12:34:56.789' AS TIME)") == [[datetime.timedelta(hours=12, minutes=34, seconds=56, milliseconds=789)]]
            found = ask(client, "SELECT CAST('2024-01-01 00:00:00.123456789' AS TIMESTAMP(9))")
            assert found == [["2024-01-01 00:00:00.123456789"]], found


def statements():
    with connect() as client:
        with check("PyMySQL: errors carry numbers, and the connection lives on"):
            for error in VALUES["errors"]:
                failure = raises(pymysql.MySQLError, lambda: ask(client, error["sql"]))
                assert failure.args[0] == error["number"], (error["sql"], failure.args)
            assert ask(client, "SELECT 1") == [[1]]
        with check("PyMySQL: transactions pass"):
            client.begin()
            assert ask(client, "SELECT 1") == [[1]]
            client.commit()
            client.begin()
            client.rollback()
            client.autocommit(False)
            assert ask(client, "SELECT 2") == [[2]]
            client.autocommit(True)
        with check("PyMySQL: streams by an unbuffered cursor, and leaves one in the middle"):
            stream = VALUES["stream"]
            with client.cursor(pymysql.cursors.SSCursor) as cursor:
                cursor.execute(stream["sql"])
                assert sum(row[0] for row in cursor) == int(stream["sum"])
            with client.cursor(pymysql.cursors.SSCursor) as cursor:
                cursor.execute(stream["sql"])
                assert cursor.fetchone() is not None
            assert ask(client, "SELECT 3") == [[3]]
        with check("PyMySQL: a large batch in one statement"), client.cursor() as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS py_batch_my (h INT PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE, n DECIMAL(20,2))")
            batch = [(i, datetime.datetime(2024, 1, 1), i / 2, decimal.Decimal(i)) for i in range(20_000)]
            assert cursor.executemany("INSERT INTO py_batch_my VALUES (%s, %s, %s, %s)", batch) == 20_000
            assert ask(client, "SELECT count(*), sum(v) FROM py_batch_my") == [[20_000, 99995000.0]]
        with check("PyMySQL: KILL QUERY from another connection is 1317 and leaves a usable connection"):
            def kill():
                with connect() as other:
                    ask(other, f"KILL QUERY {client.thread_id()}")
            timer = threading.Timer(0.3, kill)
            timer.start()
            failure = raises(pymysql.MySQLError, lambda: ask(client, VALUES["slow"]))
            assert failure.args[0] == 1317, failure.args
            timer.join()
            assert ask(client, "SELECT 1") == [[1]]
    with check("PyMySQL: a client that goes away in the middle of a query ends it"):
        slow = connect(read_timeout=1)
        raises(pymysql.MySQLError, lambda: ask(slow, VALUES["slow"]))
        with connect() as client:
            assert ask(client, "SELECT 1") == [[1]]
    with check("PyMySQL: several statements where the client asks for them"):
        with connect(client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS) as client, client.cursor() as cursor:
            cursor.execute("SELECT 1; SELECT 2")
            assert (cursor.fetchall(), cursor.nextset(), cursor.fetchall()) == (((1,),), True, ((2,),))


def many():
    with check("PyMySQL: connections at once"):
        def one(i):
            with connect() as client:
                return [ask(client, "SELECT %s * 2", [i + j])[0][0] for j in range(10)]
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            assert list(threads.map(one, range(20))) == [[(i + j) * 2 for j in range(10)] for i in range(20)]


connecting()
values()
statements()
many()
print("done")
