"""SQLAlchemy over psycopg, asyncpg and PyMySQL: expressions, inserts of many rows, streams, and the Inspector."""

import asyncio
import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from checks import PORTS, VALUES, check, raises

URLS = {
    "psycopg": f"postgresql+psycopg://someone@127.0.0.1:{PORTS['PG']}/public",
    "PyMySQL": f"mysql+pymysql://someone@127.0.0.1:{PORTS['MYSQL']}/public",
}
TABLE = """CREATE TABLE {name} (host STRING, ts TIMESTAMP(3) TIME INDEX, cpu DOUBLE NOT NULL DEFAULT 0.5, n BIGINT NULL COMMENT 'how many',
  ok BOOLEAN, size DECIMAL(20, 4), raw VARBINARY, d DATE, PRIMARY KEY (host))"""
AT = datetime.datetime(2024, 1, 1)


def expressions(name, engine):
    with check(f"SQLAlchemy, {name}: connects, with its first queries"), engine.connect() as client:
        assert client.scalar(sa.select(sa.literal(41) + 1)) == 42
    with check(f"SQLAlchemy, {name}: inserts many, selects, counts, updates, deletes"), engine.connect() as client:
        client.execute(sa.text(f"DROP TABLE IF EXISTS sa_{name.lower()}"))
        client.execute(sa.text(TABLE.format(name=f"sa_{name.lower()}")))
        table = sa.table(f"sa_{name.lower()}", *(sa.column(each, kind) for each, kind in COLUMNS.items()))
        made = [{"host": f"h{i}", "ts": AT, "cpu": i / 2, "n": i, "ok": i % 2 == 0, "raw": bytes([i % 256]), "d": AT.date()} for i in range(1000)]
        client.execute(table.insert(), made)
        client.commit()
        assert client.scalar(sa.select(sa.func.count()).select_from(table)) == 1000
        row = client.execute(sa.select(table).where(table.c.host == "h7", table.c.ok.is_(False))).mappings().one()
        assert dict(row) == made[7], dict(row)
        by = sa.select(table.c.ok, sa.func.sum(table.c.cpu).label("sum")).where(table.c.n.in_([1, 2, 3, 4])).group_by(table.c.ok).order_by("sum")
        assert [tuple(each) for each in client.execute(by)] == [(False, 2.0), (True, 3.0)]
        assert client.execute(table.update().where(table.c.host == "h1").values(n=100)).rowcount == 1
        assert client.execute(table.delete().where(table.c.host == "h2")).rowcount == 1
        assert client.execute(sa.select(table.c.n).order_by(table.c.n.desc()).limit(2).offset(1)).scalars().all() == [998, 997]
    with check(f"SQLAlchemy, {name}: streams"), engine.connect().execution_options(stream_results=True, yield_per=10_000) as client:
        assert sum(row[0] for row in client.execute(sa.text(VALUES["stream"]["sql"]))) == int(VALUES["stream"]["sum"])
    with check(f"SQLAlchemy, {name}: errors are those of its tree"), engine.connect() as client:
        raises(sa.exc.ProgrammingError, lambda: client.execute(sa.text("SELECT 1 FROM nowhere")), "nowhere")
    with check(f"SQLAlchemy, {name}: a transaction passes, a failed one is rolled back"):
        with engine.begin() as client:
            assert client.scalar(sa.text("SELECT 1")) == 1
        with engine.connect() as client:
            raises(sa.exc.SQLAlchemyError, lambda: client.execute(sa.text("SELECT 1/0")))
            client.rollback()
            assert client.scalar(sa.text("SELECT 2")) == 2


COLUMNS = {"host": sa.String, "ts": sa.DateTime, "cpu": sa.Double, "n": sa.BigInteger, "ok": sa.Boolean, "raw": sa.LargeBinary, "d": sa.Date}


def inspector(name, engine):
    inspect = sa.inspect(engine)
    table = f"sa_{name.lower()}"
    with check(f"SQLAlchemy, {name}: Inspector, schemas and tables"):
        schemas = inspect.get_schema_names()
        assert "public" in schemas and "information_schema" in schemas, schemas
        assert table in inspect.get_table_names(), inspect.get_table_names()
        assert inspect.has_table(table) and not inspect.has_table("nowhere")
        assert isinstance(inspect.get_view_names(), list)
    if name == "PyMySQL":
        print("skip SQLAlchemy, PyMySQL: Inspector, columns: it reads SHOW CREATE TABLE, whose types are the contract's: TIMESTAMP(3)")
        return
    with check(f"SQLAlchemy, {name}: Inspector, columns"):
        columns = {column["name"]: column for column in inspect.get_columns(table)}
        assert list(columns) == ["host", "ts", "cpu", "n", "ok", "size", "raw", "d"], list(columns)
        shown = {each: str(column["type"]) for each, column in columns.items()}
        assert isinstance(columns["size"]["type"], sa.Numeric) and columns["size"]["type"].scale == 4, shown
        for each, kind in (("host", sa.String), ("ts", sa.DateTime), ("cpu", sa.Float), ("n", sa.BigInteger), ("d", sa.Date)):
            assert isinstance(columns[each]["type"], kind), shown
        assert not columns["cpu"]["nullable"] and columns["n"]["nullable"], columns
        assert columns["n"].get("comment") == "how many", columns["n"]
    with check(f"SQLAlchemy, {name}: Inspector, keys and indexes"):
        assert "host" in inspect.get_pk_constraint(table)["constrained_columns"], inspect.get_pk_constraint(table)
        assert inspect.get_foreign_keys(table) == [] and isinstance(inspect.get_indexes(table), list)
        inspect.get_unique_constraints(table)
        inspect.get_check_constraints(table)
        inspect.get_table_comment(table)
    with check(f"SQLAlchemy, {name}: reflects a table, and queries it"):
        reflected = sa.Table(table, sa.MetaData(), autoload_with=engine)
        with engine.connect() as client:
            assert client.scalar(sa.select(sa.func.count()).select_from(reflected).where(reflected.c.n < 10)) > 0


async def asynchronous():
    with check("SQLAlchemy, asyncpg: a query, at once and in turn"):
        engine = create_async_engine(f"postgresql+asyncpg://someone@127.0.0.1:{PORTS['PG']}/public", pool_size=4)
        async def ask(i):
            async with engine.connect() as client:
                return await client.scalar(sa.select(sa.literal(i, sa.Integer) * 2))
        assert await asyncio.gather(*(ask(i) for i in range(20))) == [i * 2 for i in range(20)]
        await engine.dispose()


for name, url in URLS.items():
    engine = sa.create_engine(url, pool_size=4)
    expressions(name, engine)
    inspector(name, engine)
    engine.dispose()
asyncio.run(asynchronous())
print("done")
