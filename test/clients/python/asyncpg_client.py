"""asyncpg: binary only, everything prepared; its introspection of types, copies, cursors, pool, cancel."""

import asyncio
import datetime
import ssl

import asyncpg

from checks import CA, PASSWORD, PORTS, USER, VALUES, check, columns, compare, create_table, native, rows

OPEN = {"host": "127.0.0.1", "port": PORTS["PG"], "user": "someone", "database": "public", "ssl": False}
SECURE = {"host": "localhost", "port": PORTS["PG_SECURE"], "user": USER, "password": PASSWORD, "database": "public"}
COLUMNS = columns("postgres")
NAMES = ", ".join(column["name"] for column in COLUMNS)
SELECT = f"SELECT {NAMES} FROM py_asyncpg ORDER BY id"


async def raises(awaited, says="", state=None):
    try:
        await awaited
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        assert says in str(error), f"said {error!r}, not {says!r}"
        assert state is None or error.sqlstate == state, (error.sqlstate, state)
        return error
    raise AssertionError("no error")


async def connecting():
    with check("asyncpg: connects"):
        client = await asyncpg.connect(**OPEN)
        assert client.get_server_version().major == 16
        await client.close()
    with check("asyncpg: right password by SCRAM, in clear and by TLS"):
        for kind in (False, ssl.create_default_context(cafile=CA)):
            client = await asyncpg.connect(**SECURE, ssl=kind)
            assert await client.fetchval("SELECT 'ä'") == "ä"
            await client.close()
    with check("asyncpg: wrong password is 28P01, an unknown database is refused"):
        await raises(asyncpg.connect(**{**SECURE, "password": "wrong"}, ssl=False), state="28P01")
        await raises(asyncpg.connect(**{**OPEN, "database": "nowhere"}), "nowhere")


async def values(client):
    stamped = [[i, datetime.datetime(2024, 1, 1, 0, 0, i), *map(native, COLUMNS, row)] for i, row in enumerate(rows("postgres"))]
    shown = ", ".join(f"${i + 1}" for i in range(len(COLUMNS) + 2))
    for way in ("parameters", "executemany", "copy_records_to_table"):
        with check(f"asyncpg: every type in binary, written by {way}"):
            await client.execute("DROP TABLE IF EXISTS py_asyncpg")
            await client.execute(create_table("py_asyncpg", "postgres"))
            if way == "parameters":
                prepared = await client.prepare(f"INSERT INTO py_asyncpg VALUES ({shown})")
                for row in stamped:
                    await prepared.fetch(*row)
            elif way == "executemany":
                await client.executemany(f"INSERT INTO py_asyncpg VALUES ({shown})", stamped)
            else:
                await client.copy_records_to_table("py_asyncpg", records=stamped)
            compare("postgres", [list(row.values()) for row in await client.fetch(SELECT)])
    with check("asyncpg: parameters of every type find their rows"):
        for i, row in enumerate(rows("postgres")[0:3]):
            for column, value in zip(COLUMNS, row):
                if column["kind"] in ("json", "float32"):
                    continue
                found = await client.fetch(f"SELECT id FROM py_asyncpg WHERE {column['name']} = $1 AND id = {i}", native(column, value))
                assert [each["id"] for each in found] == [i], (column["name"], value, found)


async def statements(client):
    with check("asyncpg: errors carry SQLSTATEs, and the connection lives on"):
        for error in VALUES["errors"]:
            await raises(client.fetch(error["sql"]), state=error["sqlstate"])
            await raises(client.execute(error["sql"]), state=error["sqlstate"])
        assert await client.fetchval("SELECT 1") == 1
    with check("asyncpg: columns of a prepared statement are known before it runs"):
        prepared = await client.prepare("SELECT $1::INT AS a, $2::STRING AS b")
        assert [each.name for each in prepared.get_parameters()] == ["int4", "text"], prepared.get_parameters()
        assert [(each.name, each.type.name) for each in prepared.get_attributes()] == [("a", "int4"), ("b", "varchar")]
    with check("asyncpg: the last day of its calendar, which it sends as infinity, is refused by that name"):
        for value in (datetime.date.max, datetime.date.min, datetime.datetime.max, datetime.datetime.min):
            kind = "TIMESTAMP(6)" if isinstance(value, datetime.datetime) else "DATE"
            await raises(client.fetchval(f"SELECT $1::{kind}", value), "infinity", "22008")
    with check("asyncpg: intervals and times"):
        assert await client.fetchval("SELECT INTERVAL '1 day 2 hours'") == datetime.timedelta(days=1, hours=2)
        assert await client.fetchval("SELECT CAST('12:34:56.789' AS TIME)") == datetime.time(12, 34, 56, 789000)
    with check("asyncpg: arrays"):
        assert await client.fetchval("SELECT count(*) FROM generate_series(1, 5) WHERE value = ANY($1::BIGINT[])", [2, 3]) == 2
        assert await client.fetchval("SELECT ARRAY['a', NULL, 'c']") == ["a", None, "c"]
    with check("asyncpg: transactions pass, cursors within them"):
        async with client.transaction():
            stream, total = VALUES["stream"], 0
            async for row in client.cursor(stream["sql"], prefetch=10_000):
                total += row[0]
            assert total == int(stream["sum"])
            cursor = await client.cursor("SELECT value FROM generate_series(1, 100)")
            assert [len(await cursor.fetch(n)) for n in (10, 200)] == [10, 90]
    with check("asyncpg: a failed transaction rolls back, the connection lives on"):
        transaction = client.transaction()
        await transaction.start()
        await raises(client.fetch("SELECT 1/0"))
        await raises(client.fetch("SELECT 1"), state="25P02")
        await transaction.rollback()
        assert await client.fetchval("SELECT 1") == 1
    with check("asyncpg: a type codec set by name"):
        await client.set_type_codec("json", encoder=repr, decoder=lambda text: ("decoded", text), schema="pg_catalog")
        assert await client.fetchval("SELECT parse_json('[1]')") == ("decoded", "[1]")
        await client.reset_type_codec("json", schema="pg_catalog")
    with check("asyncpg: copies a query out"):
        parts = []
        async def take(part):
            parts.append(part)
        await client.copy_from_query("SELECT 1 AS a UNION ALL SELECT 2 ORDER BY a", output=take, format="csv")
        assert b"".join(parts) == b"1\n2\n", parts
    with check("asyncpg: a cancelled task and a timeout leave a usable connection"):
        task = asyncio.create_task(client.fetch(VALUES["slow"]))
        await asyncio.sleep(0.3)
        task.cancel()
        try:
            await task
            raise AssertionError("not cancelled")
        except asyncio.CancelledError:
            pass
        assert await client.fetchval("SELECT 1") == 1
        try:
            await client.fetch(VALUES["slow"], timeout=0.3)
            raise AssertionError("no timeout")
        except TimeoutError:
            pass
        assert await client.fetchval("SELECT 2") == 2


async def pool():
    with check("asyncpg: a pool, queries at once, connections reset between them"):
        async with asyncpg.create_pool(**OPEN, min_size=4, max_size=8) as shared:
            answers = await asyncio.gather(*(shared.fetchval("SELECT $1::INT * 2", i) for i in range(100)))
            assert answers == [i * 2 for i in range(100)]


async def main():
    await connecting()
    client = await asyncpg.connect(**OPEN)
    await values(client)
    await statements(client)
    await client.close()
    await pool()


asyncio.run(main())
print("done")
