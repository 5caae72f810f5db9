"""Arrow Flight by pyarrow.flight: SQL by tickets, bulk inserts, what there is, sign-in, failures, leaving early."""

import contextlib
import json
import os
import time

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import flight

from arrow_values import TYPES, every_type, many, same_table
from checks import CA, PASSWORD, USER, check, columns, compare, create_table, literal, raises, rows
from flight_requests import Basic, Trailers, answer, request, sql_command

OPEN = f"grpc://127.0.0.1:{os.environ['VARVE_GRPC']}"
SECURE = f"grpc://127.0.0.1:{os.environ['VARVE_GRPC_SECURE']}"
SECURE_TLS = f"grpc+tls://localhost:{os.environ['VARVE_GRPC_SECURE']}"
SECONDS_MAX = 30

trailers = Trailers()
client = flight.FlightClient(OPEN, middleware=[trailers])


def ask(sql, by=client, options=None, **header):
    return answer(by, sql, options, **header)


def run(sql, by=client):
    """Runs what gives no rows; how many it changed. Its one message has metadata {affected_rows {value}} and no schema before it."""
    descriptor = flight.FlightDescriptor.for_command(sql_command(sql))
    return by.get_flight_info(descriptor).total_records


def refuses(name, work, kind, says, code, hint="non_retryable"):
    """The failure's class, its text, and our number in the trailers."""
    with check(name):
        error = raises((flight.FlightError, pa.ArrowException), work, says)
        assert isinstance(error, kind), f"a {type(error).__name__}, not a {kind.__name__}: {error}"
        got = (trailers["x-greptime-err-code"], trailers["x-greptime-err-retry-hint"])
        assert got == (code, hint), f"the trailers say {got}"


def put(table, schema, batches, options=None, by=client):
    """DoPut of batches; acknowledgements as they come, one a batch, read before the next is sent."""
    writer, answers = by.do_put(flight.FlightDescriptor.for_path(table), schema, options)
    told = []
    with writer:
        told.append(json.loads(answers.read().to_pybytes()))
        for number, batch in enumerate(batches, 1):
            writer.write_with_metadata(batch, json.dumps({"request_id": number}).encode())
            told.append(json.loads(answers.read().to_pybytes()))
        writer.done_writing()
        assert answers.read() is None, "an answer too many"
    return [(each["request_id"], each["affected_rows"]) for each in told]


def acknowledged(*counts):
    return list(enumerate([0, *counts]))


def typed_table(name):
    run(f"DROP TABLE IF EXISTS {name}")
    made = ", ".join(f"{column} {sql}" for column, (sql, *_) in TYPES.items())
    run(f"CREATE TABLE {name} (ts TIMESTAMP(3) TIME INDEX, host STRING, zone STRING, {made}, PRIMARY KEY (host, zone))")


def reads():
    with check("pyarrow: values of every type by SQL"):
        run("DROP TABLE IF EXISTS pa_sql")
        run(create_table("pa_sql", "pyarrow"))
        given = rows("pyarrow")
        for number, row in enumerate(given):
            cells = ", ".join(literal(column, text) for column, text in zip(columns("pyarrow"), row))
            assert run(f"INSERT INTO pa_sql VALUES ({number}, {number}, {cells})") == 1
        found = ask("SELECT * FROM pa_sql ORDER BY id").drop_columns(["id", "ts"])
        compare("pyarrow", [list(row.values()) for row in found.to_pylist()])
    with check("pyarrow: lists, structs, maps, intervals and times"):
        found = ask("SELECT [1, 2, NULL] AS l, {'a': 1, 'b': 'x'} AS s, map(['k'], [1]) AS m, [['a'], []] AS ll")
        found.validate(full=True)
        assert found.to_pylist() == [{"l": [1, 2, None], "s": {"a": 1, "b": "x"}, "m": [("k", 1)], "ll": [["a"], []]}], found.to_pylist()
    with check("pyarrow: an answer without rows has its columns"):
        found = ask("SELECT 1 AS a, 'x' AS b WHERE 1 = 0")
        assert found.num_rows == 0 and found.schema.names == ["a", "b"]
    with check("pyarrow: a million rows in chunks"):
        reader = client.do_get(flight.Ticket(request("SELECT value, concat('row ', value) AS t FROM generate_series(1, 1000000)")))
        count = total = chunks = 0
        for chunk in reader:
            batch = chunk.data
            batch.validate(full=True)
            assert batch.column(1)[0].as_py() == f"row {batch.column(0)[0].as_py()}"
            count, total, chunks = count + batch.num_rows, total + pc.sum(batch.column(0)).as_py(), chunks + 1
        assert (count, total) == (1_000_000, 500_000_500_000), (count, total)
        assert chunks > 10, f"{chunks} chunks"
    with check("pyarrow: answers side by side on one connection"):
        readers = [client.do_get(flight.Ticket(request(f"SELECT value + {i} AS v FROM generate_series(1, 200000)"))) for i in range(8)]
        firsts = [next(iter(reader)).data.column(0)[0].as_py() for reader in readers]
        assert firsts == list(range(1, 9)), firsts
        rest = [reader.read_all().num_rows for reader in reversed(readers)]
        assert all(count < 200_000 for count in rest), rest


def leaving():
    slow = "SELECT count(a.value) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b"
    long = "SELECT value, concat('row ', value) FROM generate_series(1, 100000000)"

    def gone(text):
        """Waits until no statement of that text runs."""
        end = time.monotonic() + SECONDS_MAX
        listed = f"SELECT count(*) FROM information_schema.process_list WHERE query LIKE '{text[:20]}%'"
        while ask(listed).column(0)[0].as_py() > 0:
            assert time.monotonic() < end, "it still runs"
            time.sleep(0.05)

    with check("pyarrow: an answer cancelled amid it"):
        reader = client.do_get(flight.Ticket(request(long)))
        for _ in range(5):
            reader.read_chunk()
        reader.cancel()
        # One chunk at a time: read_all of a cancelled reader raises KeyboardInterrupt.
        raises(flight.FlightCancelledError, lambda: [chunk for chunk in reader])
        gone(long)
    with check("pyarrow: a time limit ends a query"):
        options = flight.FlightCallOptions(timeout=0.5)
        raises(flight.FlightTimedOutError, lambda: ask(slow, options=options))
        gone(slow)
    with check("pyarrow: a connection that is closed ends its answers"):
        other = flight.FlightClient(OPEN)
        reader = other.do_get(flight.Ticket(request(long)))
        reader.read_chunk()
        del reader
        other.close()
        del other
        gone(long)
    with check("pyarrow: a put that is cancelled keeps what was acknowledged"):
        run("DROP TABLE IF EXISTS pa_left")
        run("CREATE TABLE pa_left (ts TIMESTAMP(3) TIME INDEX, v DOUBLE)")
        schema = pa.schema([("ts", pa.timestamp("ms")), ("v", pa.float64())])
        writer, answers = client.do_put(flight.FlightDescriptor.for_path("pa_left"), schema)
        answers.read()
        writer.write_batch(pa.record_batch([pa.array([1, 2, 3], pa.timestamp("ms")), pa.array([1.0, 2.0, None])], schema=schema))
        assert json.loads(answers.read().to_pybytes())["affected_rows"] == 3
        del writer, answers
        assert ask("SELECT count(*), count(v) FROM pa_left").to_pylist() == [{"count(*)": 3, "count(v)": 2}]


def puts():
    for name, tag_type in (
        ("plain", pa.string()),
        ("large", pa.large_string()),
        ("views", pa.string_view()),
        ("dictionaries of int32", pa.dictionary(pa.int32(), pa.string())),
        ("dictionaries of uint8", pa.dictionary(pa.uint8(), pa.string())),
    ):
        with check(f"pyarrow: every type and NULL by DoPut, tags {name}"):
            typed_table("pa_types")
            batch = every_type(tag_type)
            assert put("pa_types", batch.schema, [batch]) == acknowledged(4)
            names = ", ".join(batch.schema.names)
            found = ask(f"SELECT {names} FROM pa_types ORDER BY ts")
            same_table(found, pa.table(every_type(pa.string())))
    for compression in (None, "lz4", "zstd"):
        with check(f"pyarrow: ten batches by DoPut, compression {compression}"):
            run("DROP TABLE IF EXISTS pa_many")
            run("CREATE TABLE pa_many (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE, n BIGINT)")
            whole = many(50_000)
            options = flight.FlightCallOptions(write_options=pa.ipc.IpcWriteOptions(compression=compression))
            # Slices begin amid the bytes of validity bits.
            batches = [whole.slice(start, 5003) for start in range(0, 50_000, 5003)]
            assert put("pa_many", whole.schema, batches, options) == acknowledged(*(batch.num_rows for batch in batches))
            same_table(ask("SELECT ts, host, v, n FROM pa_many ORDER BY ts"), pa.table(whole))
    for deltas in (False, True):
        with check(f"pyarrow: dictionaries that change between batches, deltas {deltas}"):
            run("DROP TABLE IF EXISTS pa_dictionary")
            run("CREATE TABLE pa_dictionary (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY)")
            kind = pa.dictionary(pa.int16(), pa.string())
            schema = pa.schema([("ts", pa.timestamp("ms")), ("host", kind)])
            names, batches = [], []
            for number in range(6):
                names = names + [f"h{number}"] if deltas else [f"h{number}", f"g{number}"]
                codes = pa.array([len(names) - 1, 0, None], pa.int16())
                tags = pa.DictionaryArray.from_arrays(codes, pa.array(names))
                batches.append(pa.record_batch([pa.array(range(number * 3, number * 3 + 3), pa.timestamp("ms")), tags], schema=schema))
            options = flight.FlightCallOptions(write_options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas))
            assert put("pa_dictionary", schema, batches, options) == acknowledged(*[3] * 6)
            want = [value for batch in batches for value in batch.column(1).to_pylist()]
            assert ask("SELECT host FROM pa_dictionary ORDER BY ts").column(0).to_pylist() == want
    with check("pyarrow: a batch of 300,000 rows is acknowledged once; empty batches too"):
        run("TRUNCATE TABLE pa_many")
        whole = many(300_000)
        assert put("pa_many", whole.schema, [whole.slice(0, 0), whole, whole.slice(5, 0)]) == acknowledged(0, 300_000, 0)
        found = ask("SELECT count(*) AS c, count(v) AS v, count(DISTINCT host) AS h FROM pa_many").to_pylist()
        assert found == [{"c": 300_000, "v": 300_000 - 300_000 // 11 - 1, "h": 100}], found
    with check("pyarrow: columns in any order, some left out"):
        run("DROP TABLE IF EXISTS pa_some")
        run("CREATE TABLE pa_some (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE, n INT DEFAULT 7, s STRING)")
        batch = pa.record_batch([pa.array(["x"]), pa.array([9], pa.timestamp("ms"))], names=["host", "ts"])
        assert put("pa_some", batch.schema, [batch]) == acknowledged(1)
        assert ask("SELECT host, v, n, s FROM pa_some").to_pylist() == [{"host": "x", "v": None, "n": 7, "s": None}]
    with check("pyarrow: puts beside each other on one connection"):
        run("TRUNCATE TABLE pa_many")
        whole = many(8000)
        open_puts = [client.do_put(flight.FlightDescriptor.for_path("pa_many"), whole.schema) for _ in range(8)]
        for number, (writer, _) in enumerate(open_puts):
            writer.write_batch(whole.slice(number * 1000, 1000))
            writer.done_writing()
        for writer, answers in open_puts:
            assert [json.loads(answers.read().to_pybytes())["affected_rows"] for _ in range(2)] == [0, 1000]
            writer.close()
        same_table(ask("SELECT ts, host, v, n FROM pa_many ORDER BY ts"), pa.table(whole))
    with check("pyarrow: a table that a hint makes"):
        run("DROP TABLE IF EXISTS pa_hint")
        mark = lambda role: {"greptime:semantic_type": role}  # noqa: E731
        schema = pa.schema([pa.field("at", pa.timestamp("us"), metadata=mark("timestamp")), pa.field("k", pa.string(), metadata=mark("tag")), ("v", pa.int32())])
        batch = pa.record_batch([pa.array([1], pa.timestamp("us")), pa.array(["a"]), pa.array([5], pa.int32())], schema=schema)
        options = flight.FlightCallOptions(headers=[(b"x-greptime-hints", b"auto_create_table=true,ttl=30d")])
        assert put("pa_hint", schema, [batch], options) == acknowledged(1)
        made = ask("SHOW CREATE TABLE pa_hint").to_pylist()[0]["Create Table"]
        assert 'PRIMARY KEY ("k")' in made and "30days" in made, made


def failed_puts():
    schema = pa.schema([("ts", pa.timestamp("ms")), ("host", pa.string())])
    batch = pa.record_batch([pa.array([1], pa.timestamp("ms")), pa.array(["a"])], schema=schema)
    refuses("pyarrow: a put to no table", lambda: put("pa_nowhere", schema, [batch]), KeyError, "Table not found: public.pa_nowhere", "4001")
    wrong = pa.record_batch([pa.array([1], pa.timestamp("us")), pa.array(["a"])], names=["ts", "host"])
    refuses("pyarrow: a put of another type", lambda: put("pa_many", wrong.schema, [wrong]), pa.ArrowInvalid, "For column: ts", "1004")
    refuses("pyarrow: a put of an unknown column", lambda: put("pa_many", *unknown(batch)), KeyError, "Column nope", "4002")
    no_time = batch.drop_columns(["ts"])
    refuses("pyarrow: a put without a time", lambda: put("pa_many", no_time.schema, [no_time]), pa.ArrowInvalid, "time index", "1004")

    def amid():
        good = pa.record_batch([pa.array([1, 2], pa.timestamp("ms")), pa.array(["a", "b"])], schema=schema)
        bad = pa.record_batch([pa.array([3, None], pa.timestamp("ms")), pa.array(["a", "b"])], schema=schema)
        put("pa_some", schema, [good, bad, good])

    run("TRUNCATE TABLE pa_some")
    refuses("pyarrow: a put that fails amid it", amid, pa.ArrowInvalid, "ts", "1004")
    with check("pyarrow: what was acknowledged before a failure is there"):
        assert ask("SELECT host FROM pa_some ORDER BY ts").column(0).to_pylist() == ["a", "b"]
    with check("pyarrow: the connection goes on after failures"):
        assert ask("SELECT 1 AS one").to_pylist() == [{"one": 1}]


def unknown(batch):
    longer = batch.append_column("nope", pa.array([1]))
    return longer.schema, [longer]


def described():
    path = flight.FlightDescriptor.for_path("pa_types")
    want = every_type(pa.string()).schema
    with check("pyarrow: GetSchema of a table"):
        schema = client.get_schema(path).schema
        assert {name: schema.field(name).type for name in schema.names} == {each.name: each.type for each in want}
    with check("pyarrow: GetFlightInfo of a table, and its ticket"):
        info = client.get_flight_info(path)
        assert info.schema.names == want.names and len(info.endpoints) == 1
        assert client.do_get(info.endpoints[0].ticket).read_all().num_rows == 4
    with check("pyarrow: GetFlightInfo of a query"):
        info = client.get_flight_info(flight.FlightDescriptor.for_command(request("SELECT host, v FROM pa_many WHERE v > 1")))
        assert info.schema == pa.schema([("host", pa.string()), ("v", pa.float64())]), info.schema
        assert client.do_get(info.endpoints[0].ticket).read_all().num_rows > 0
    with check("pyarrow: ListFlights"):
        listed = {info.descriptor.path[0].decode(): info for info in client.list_flights()}
        assert {"pa_types", "pa_many"} <= set(listed), listed.keys()
        assert listed["pa_many"].schema.names == ["ts", "host", "v", "n"]
    with check("pyarrow: ListFlights of another database"):
        options = flight.FlightCallOptions(headers=[(b"x-greptime-db-name", b"information_schema")])
        assert "pa_types" not in [info.descriptor.path[0].decode() for info in client.list_flights(options=options)]
    with check("pyarrow: ListActions"):
        assert "CreatePreparedStatement" in [action.type for action in client.list_actions()]
    nowhere = flight.FlightDescriptor.for_path("pa_nowhere")
    refuses("pyarrow: GetSchema of no table", lambda: client.get_schema(nowhere), KeyError, "Table not found", "4001")
    refuses("pyarrow: an unknown action", lambda: list(client.do_action(flight.Action("Nope", b""))), NotImplementedError, "Nope", "1001")
    refuses("pyarrow: DoExchange", lambda: client.do_exchange(path)[1].read_chunk(), NotImplementedError, "", "1001")


def failures():
    refuses("pyarrow: no such table", lambda: ask("SELECT * FROM nowhere"), KeyError, "nowhere", "4001")
    refuses("pyarrow: no such column", lambda: ask("SELECT nothing FROM pa_many"), flight.FlightInternalError, "nothing", "3000")
    refuses("pyarrow: a syntax error", lambda: ask("SELECT 1 +"), pa.ArrowInvalid, "", "2000")
    refuses("pyarrow: two statements", lambda: ask("SELECT 1; SELECT 2"), pa.ArrowInvalid, "one", "1004")
    refuses("pyarrow: no such database", lambda: ask("SELECT 1", database="nö"), KeyError, "nö", "4004")
    refuses("pyarrow: a division by zero amid rows", lambda: ask("SELECT 1 / (value - 300000) FROM generate_series(1, 400000)"), pa.ArrowException, "", "3001")
    refuses("pyarrow: a ticket that is none", lambda: client.do_get(flight.Ticket(b"\xff\xff\xff")).read_all(), pa.ArrowInvalid, "ticket", "1004")
    refuses("pyarrow: a ticket of nothing", lambda: client.do_get(flight.Ticket(b"")).read_all(), pa.ArrowInvalid, "ticket", "1004")


def bearer(by):
    return flight.FlightCallOptions(headers=[by.authenticate_basic_token(USER, PASSWORD)])


def sign_in():
    for name, address, options in (("in clear", SECURE, {}), ("by TLS", SECURE_TLS, {"tls_root_certs": open(CA, "rb").read()})):
        with check(f"pyarrow: signs in {name} by a token"), flight.FlightClient(address, **options) as secure:
            token = bearer(secure)
            assert ask("SELECT 'ä' AS a", secure, token).to_pylist() == [{"a": "ä"}]
            secure.get_flight_info(flight.FlightDescriptor.for_command(sql_command("CREATE TABLE IF NOT EXISTS pa_in (ts TIMESTAMP(3) TIME INDEX)")), token)
            batch = pa.record_batch([pa.array([1], pa.timestamp("ms"))], names=["ts"])
            assert put("pa_in", batch.schema, [batch], token, secure) == acknowledged(1)
        with check(f"pyarrow: signs in {name} by the ticket"), flight.FlightClient(address, **options) as secure:
            assert ask("SELECT 1 AS a", secure, login=(USER, PASSWORD)).to_pylist() == [{"a": 1}]
        with check(f"pyarrow: signs in {name} by a handshake"), flight.FlightClient(address, **options) as secure:
            handler = Basic(USER, PASSWORD)
            secure.authenticate(handler)
            assert handler.token is not None
            header = (b"authorization", b"Basic " + handler.token)
            assert ask("SELECT 1 AS a", secure, flight.FlightCallOptions(headers=[header])).to_pylist() == [{"a": 1}]
    with flight.FlightClient(SECURE, middleware=[trailers]) as secure:
        kind = flight.FlightUnauthenticatedError
        refuses("pyarrow: no credentials", lambda: ask("SELECT 1", secure), kind, "", "7003")
        refuses("pyarrow: a wrong password for a token", lambda: secure.authenticate_basic_token(USER, "wrong"), kind, "", "7002")
        refuses("pyarrow: a wrong password in a ticket", lambda: ask("SELECT 1", secure, login=(USER, "wrong")), kind, "", "7002")
        wrong = flight.FlightCallOptions(headers=[(b"authorization", b"Bearer nonsense")])
        refuses("pyarrow: a token that is none", lambda: ask("SELECT 1", secure, wrong), kind, "", "7002")
        schema = pa.schema([("ts", pa.timestamp("ms"))])
        refuses("pyarrow: a put without credentials", lambda: put("pa_in", schema, [], by=secure), kind, "auth failed", "7003")
    with flight.FlightClient(SECURE, middleware=[trailers]) as secure:
        refuses("pyarrow: a wrong password in a handshake", lambda: secure.authenticate(Basic(USER, "wrong")), kind, "", "7002")
    with check("pyarrow: TLS with a certificate of nobody it trusts"):
        with contextlib.closing(flight.FlightClient(SECURE_TLS)) as secure:
            raises(flight.FlightUnavailableError, lambda: ask("SELECT 1", secure))


reads()
puts()
failed_puts()
described()
failures()
leaving()
sign_in()
print("done")
