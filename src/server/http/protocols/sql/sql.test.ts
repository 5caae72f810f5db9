import { afterAll, describe, expect, test } from "bun:test";
import net from "node:net";
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { FLOAT64, INT64, STRING, TIMESTAMP_MILLISECOND, UINT32 } from "../../../../column/data-type.ts";
import { vectorOf } from "../../../../column/vector-builder.ts";
import { affectedResult, rowsResult } from "../../../../../test/support/fake-db.ts";
import { rawExchange, startFixture } from "../../../../../test/support/http-fixture.ts";
import { recordingLogger } from "../../../../../test/support/recording-logger.ts";

const { server, url, db } = await startFixture({ bodyBytesMax: 2000 });
afterAll(() => server.stop(50));

const numbers = (): ReturnType<typeof rowsResult> => rowsResult([["number", UINT32, [0, 1, 2]]]);
const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** Answers every statement with `results` and compares status, body (time masked as N) and content type. */
async function check(
  query: string,
  results: () => Iterable<ReturnType<typeof rowsResult>>,
  want: { status?: number; body: string; type?: string; format?: string },
): Promise<void> {
  db.onSql = results;
  const response = await fetch(`${url}/v1/sql?${query}`);
  const body = (await response.text()).replace(/"execution_time_ms":\d+/, '"execution_time_ms":N');
  expect([response.status, body]).toEqual([want.status ?? 200, want.body]);
  if (want.type !== undefined) expect(response.headers.get("content-type")).toBe(want.type);
  if (want.format !== undefined) {
    expect(response.headers.get("x-greptime-format")).toBe(want.format);
    expect(response.headers.get("x-greptime-execution-time")).toMatch(/^\d+$/);
  }
}

/** What comes back on a connection, up to the end of a chunked answer, for a client that rests after each piece. */
function slowly(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = net.connect(port, "127.0.0.1", () => socket.write(request));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(pieces).toString("latin1")));
    socket.on("data", (piece) => {
      pieces.push(Buffer.from(piece));
      if (pieces.length % 20 === 0) {
        socket.pause();
        setTimeout(() => socket.resume(), 5);
      }
    });
  });
}

/** The body of an answer in chunks. */
function bodyOfChunks(answer: string): string {
  const pieces: string[] = [];
  for (let at = answer.indexOf("\r\n\r\n") + 4; ; ) {
    const end = answer.indexOf("\r\n", at);
    const length = Number.parseInt(answer.slice(at, end), 16);
    if (!(length > 0)) return pieces.join("");
    pieces.push(answer.slice(end + 2, end + 2 + length));
    at = end + 4 + length;
  }
}

const schema = (name: string, type: string): string => `"schema":{"column_schemas":[{"name":"${name}","data_type":"${type}"}]}`;

describe("formats", () => {
  test("greptimedb_v1 begins with the code, keeps the schema of an empty result, and joins statements", async () => {
    const records = `{"records":{${schema("number", "UInt32")},"rows":[[0],[1],[2]],"total_rows":3}}`;
    await check("sql=x", () => [numbers()], {
      body: `{"code":0,"output":[${records}],"execution_time_ms":N}`,
      type: "application/json",
      format: "greptimedb_v1",
    });
    await check("sql=x&format=whatever", () => [affectedResult(3), numbers()], {
      body: `{"code":0,"output":[{"affectedrows":3},${records}],"execution_time_ms":N}`,
    });
    await check("sql=x", () => [rowsResult([["cpu", FLOAT64, []]])], {
      body: `{"code":0,"output":[{"records":{${schema("cpu", "Float64")},"rows":[],"total_rows":0}}],"execution_time_ms":N}`,
    });
    await check("sql=x", () => [rowsResult([["number", UINT32, [7]]], 3)], {
      body: `{"code":0,"output":[{"records":{${schema("number", "UInt32")},"rows":[[7],[7],[7]],"total_rows":3}}],"execution_time_ms":N}`,
    });
  });

  test("influxdb_v1 numbers statements and converts times to the epoch", async () => {
    const times = (): ReturnType<typeof rowsResult> => rowsResult([["ts", TIMESTAMP_MILLISECOND, [1_700_000_000_999n, -1n, undefined]]]);
    const series = (values: string): string => `{"name":"","columns":["ts"],"values":${values}}`;
    const body = (values: string): string =>
      `{"results":[{"statement_id":0,"series":[${series(values)}]},{"statement_id":1,"series":[]}],"execution_time_ms":N}`;
    const cases: readonly (readonly [string, string])[] = [
      ["", "[[1700000000999],[-1],[null]]"],
      ["&epoch=s", "[[1700000000],[-1],[null]]"],
      ["&epoch=U", "[[1700000000999000],[-1000],[null]]"],
      ["&epoch=ns", "[[1700000000999000000],[-1000000],[null]]"],
      ["&epoch=h", "[[1700000000999],[-1],[null]]"],
    ];
    for (const [epoch, values] of cases) {
      await check(`sql=x&format=INFLUXDB_v1&limit=1${epoch}`, () => [times(), affectedResult(1)], {
        body: body(values),
        format: "influxdb_v1",
      });
    }
    await check("sql=x&format=influxdb_v1", () => [rowsResult([["a", INT64, []]])], {
      body: '{"results":[{"statement_id":0,"series":[{"name":"","columns":[],"values":[]}]}],"execution_time_ms":N}',
    });
  });

  test("csv with and without names and types", async () => {
    const rows = (): ReturnType<typeof rowsResult> =>
      rowsResult([
        ["cpu", FLOAT64, [66.6, undefined]],
        ["ts", TIMESTAMP_MILLISECOND, [0n, 1n]],
        ['ho"st', STRING, ['host, "name', "a\r\nb"]],
      ]);
    const lines = '66.6,0,"host, ""name"\r\n,1,"a\r\nb"\r\n';
    const options = { type: "text/csv; charset=utf-8", format: "csv" };
    await check("sql=x&format=csv", () => [rows()], { body: lines, ...options });
    await check("sql=x&format=csvWithNames", () => [rows()], { body: `cpu,ts,"ho""st"\r\n${lines}`, ...options });
    const types = "Float64,TimestampMillisecond,String\r\n";
    await check("sql=x&format=CSVwithNamesAndTypes", () => [rows()], { body: `cpu,ts,"ho""st"\r\n${types}${lines}`, ...options });
    await check("sql=x&format=csv", () => [affectedResult(5)], { body: "5\n", ...options });
    await check("sql=x&format=csv", () => [rowsResult([["a", STRING, [undefined, "", "x"]]])], { body: '""\r\n""\r\nx\r\n', ...options });
  });

  test("table draws a box whose widths are bytes", async () => {
    const rows = (): ReturnType<typeof rowsResult> =>
      rowsResult([
        ["host", STRING, ["127.0.0.1", "ü"]],
        ["cpu", FLOAT64, [0.5, undefined]],
      ]);
    const body = '┌─host────────┬─cpu──┐\n│ "127.0.0.1" │ 0.5  │\n│ "ü"        │ null │\n└─────────────┴──────┘\n';
    await check("sql=x&format=table", () => [rows()], { body, type: "text/plain; charset=utf-8", format: "table" });
    await check("sql=x&format=table", () => [affectedResult(2)], { body: "2\n" });
  });

  test("json sorts keys and lets the last of equal names win", async () => {
    const rows = (): ReturnType<typeof rowsResult> =>
      rowsResult([
        ["b", INT64, [1, 2]],
        ['a"', STRING, ["x", undefined]],
        ["b", INT64, [3, 4]],
      ]);
    const body = '{"data":[{"a\\"":"x","b":3},{"a\\"":null,"b":4}],"execution_time_ms":N}';
    await check("sql=x&format=json", () => [rows()], { body, type: "application/json", format: "json" });
    await check("sql=x&format=json", () => [affectedResult(3)], { body: '{"affected_rows":3,"data":[],"execution_time_ms":N}' });
  });

  test("null says how many rows", async () => {
    db.onSql = () => [numbers()];
    expect(await (await fetch(`${url}/v1/sql?sql=x&format=null`)).text()).toMatch(/^3 rows in set\.\nElapsed: \d+\.\d{3} sec\.\n$/);
    db.onSql = () => [affectedResult(1)];
    expect(await (await fetch(`${url}/v1/sql?sql=x&format=null`)).text()).toMatch(/^1 rows affected\.\nElapsed: /);
  });

  test("arrow begins with a message and ends with the end mark; affected rows have no body", async () => {
    // Buffers that would not shrink go out as they are.
    db.onSql = () => [rowsResult([["number", UINT32, new Array<number>(500).fill(7)]])];
    for (const [compression, mark] of [
      ["ZSTD", "28b52ffd"],
      ["Lz4", "04224d18"],
    ] as const) {
      const response = await fetch(`${url}/v1/sql?sql=x&format=arrow&compression=${compression}`);
      const bytes = await response.bytes();
      expect(response.headers.get("content-type")).toBe("application/arrow");
      expect(bytes.subarray(0, 4).toHex()).toBe("ffffffff");
      expect(bytes.subarray(-8).toHex()).toBe("ffffffff00000000");
      expect(bytes.toHex()).toContain(mark);
    }
    await check("sql=x&format=arrow", () => [affectedResult(1)], { body: "", format: "arrow" });
  });

  test("formats of one result run every statement and then refuse several", async () => {
    for (const format of ["csv", "table", "json", "null", "arrow"]) {
      let ran = 0;
      const results = function* (): Generator<ReturnType<typeof rowsResult>> {
        for (; ran < 2; ran++) yield numbers();
      };
      const message = `cannot output multi-statements result in ${format} format`;
      await check(`sql=x&format=${format}`, results, {
        status: 400,
        body: `{"code":1004,"error":"${message}","execution_time_ms":N}`,
      });
      expect(ran).toBe(2);
    }
  });
});

describe("limit", () => {
  test("cuts rows, counts what is left, and leaves affected rows alone", async () => {
    const body = (rows: string, total: number): string =>
      `{"code":0,"output":[{"affectedrows":9},{"records":{${schema("number", "UInt32")},"rows":${rows},` +
      `"total_rows":${total}}}],"execution_time_ms":N}`;
    for (const [limit, rows, total] of [
      ["0", "[]", 0],
      ["2", "[[0],[1]]", 2],
      ["+3", "[[0],[1],[2]]", 3],
      ["9999999999999999999", "[[0],[1],[2]]", 3],
    ] as const) {
      await check(`sql=x&limit=${encodeURIComponent(limit)}`, () => [affectedResult(9), numbers()], { body: body(rows, total) });
    }
    await check("sql=x&limit=1&format=csv", () => [numbers()], { body: "0\r\n" });
    await check("sql=x&limit=1&format=json", () => [numbers()], { body: '{"data":[{"number":0}],"execution_time_ms":N}' });
  });

  test("stops the query once it is reached", async () => {
    let asked = 0;
    let closed = false;
    const result = numbers();
    if (result.kind !== "rows") throw new Error("rows expected");
    const batches = (async function* () {
      try {
        for await (const batch of result.batches) for (;;) yield (asked++, batch);
      } finally {
        closed = true;
      }
    })();
    db.onSql = () => [{ ...result, batches }];
    await (await fetch(`${url}/v1/sql?sql=x&limit=4`)).text();
    expect([asked, closed]).toEqual([2, true]);
  });
});

describe("parameters", () => {
  const post = async (body: string, headers: Readonly<Record<string, string>> = FORM, query = ""): Promise<readonly [number, string]> => {
    const response = await fetch(`${url}/v1/sql${query}`, { method: "POST", body, headers });
    return [response.status, await response.text()];
  };
  const echo = (): void => {
    db.onSql = (text, session) => [rowsResult([["t", STRING, [`${session.database}|${session.timeZone}|${text}`]]])];
  };

  test("come from the query and a form; the query wins", async () => {
    echo();
    expect(await post("sql=a+b%3D%22c%22&format=csv")).toEqual([200, '"public|UTC|a b=""c"""\r\n']);
    expect(await post("sql=form&format=csv", FORM, "?sql=query&limit=5")).toEqual([200, "public|UTC|query\r\n"]);
    expect(await post("sql=x&format=csv&limit=0")).toEqual([200, "public|UTC|x\r\n"]);
    expect(await post("sql=x&format=csv&extra=1&extra=2")).toEqual([200, "public|UTC|x\r\n"]);
    const utf8 = { "content-type": "Application/X-WWW-Form-Urlencoded; charset=UTF-8" };
    expect(await post("sql=%C3%BC&format=csv", utf8)).toEqual([200, "public|UTC|ü\r\n"]);
  });

  test("db overrides the header and is decoded; the catalog may stand before it", async () => {
    echo();
    const ask = async (query: string, headers: Readonly<Record<string, string>> = {}): Promise<string> =>
      (await fetch(`${url}/v1/sql?sql=x&format=csv${query}`, { headers })).text();
    const header = { "x-greptime-db-name": "my-db" };
    expect(await ask("", header)).toStartWith("my-db|");
    expect(await ask("&db=public", header)).toStartWith("public|");
    expect(await ask("&db=", header)).toStartWith("my-db|");
    expect(await ask("&db=my%2Ddb")).toStartWith("my-db|");
    expect(await ask("&db=greptime-public")).toStartWith("public|");
    expect(await ask("&db=INFORMATION_SCHEMA")).toStartWith("information_schema|");
    expect(await ask("&db=greptime-Information_Schema")).toStartWith("information_schema|");
    expect(await ask("", { "x-greptime-timezone": "+8:00" })).toStartWith("public|+08:00|");
    expect(await ask("", { "x-greptime-timezone": "asia/shanghai" })).toStartWith("public|Asia/Shanghai|");
    expect(await ask("", { "x-greptime-timezone": "" })).toStartWith("public|UTC|");
  });

  test("an unknown time zone is refused by its name, on every endpoint", async () => {
    echo();
    for (const zone of ["Nowhere/Land", "+24:00", "+1:77"]) {
      const response = await fetch(`${url}/v1/sql?sql=x`, { headers: { "x-greptime-timezone": zone } });
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(`Invalid timezone string ${zone}`)]);
      const written = await fetch(`${url}/v1/influxdb/write`, { method: "POST", body: "m v=1", headers: { "x-greptime-timezone": zone } });
      expect([written.status, await written.text()]).toEqual([400, expect.stringContaining(`Invalid timezone string ${zone}`)]);
    }
  });

  test("missing sql, then an unknown database", async () => {
    echo();
    await check("db=nowhere", () => [], { status: 400, body: '{"code":1004,"error":"sql parameter is required.","execution_time_ms":N}' });
    for (const name of ["notfound", "notfound2-schema"]) {
      await check(`sql=x&db=${name}`, () => [], {
        status: 400,
        body: `{"code":4004,"error":"Database not found: ${name}","execution_time_ms":N}`,
      });
    }
    await check("sql=x&db=greptime-schema", () => [], {
      status: 400,
      body: '{"code":4004,"error":"Database not found: schema","execution_time_ms":N}',
    });
  });

  test("are refused as plain text", async () => {
    const rejects: readonly (readonly [string, number, string])[] = [
      ["sql=x&limit=two", 400, "Failed to deserialize query string: limit: invalid digit found in string"],
      ["sql=x&limit=-1", 400, "Failed to deserialize query string: limit: invalid digit found in string"],
      ["sql=x&limit=", 400, "Failed to deserialize query string: limit: cannot parse integer from empty string"],
      ["sql=x&limit=18446744073709551616", 400, "Failed to deserialize query string: limit: number too large to fit in target type"],
      ["sql=x&sql=y", 400, "Failed to deserialize query string: duplicate field `sql`"],
    ];
    for (const [query, status, body] of rejects) await check(query, () => [], { status, body, type: "text/plain; charset=utf-8" });
    expect(await post("", {}, "?sql=x")).toEqual([415, "Form requests must have `Content-Type: application/x-www-form-urlencoded`"]);
    expect(await post("sql=x", { "content-type": "application/json" })).toEqual([
      415,
      "Form requests must have `Content-Type: application/x-www-form-urlencoded`",
    ]);
    expect(await post("sql=x&sql=y")).toEqual([422, "Failed to deserialize form body: duplicate field `sql`"]);
    expect(await post(`sql=${"x".repeat(2000)}`)).toEqual([413, "Failed to buffer the request body: length limit exceeded"]);
  });
});

describe("errors", () => {
  test("carry code, text and headers; earlier results are dropped", async () => {
    db.onSql = function* () {
      yield affectedResult(1);
      throw new DbError(StatusCode.TableNotFound, "Table not found: greptime.public.t");
    };
    const response = await fetch(`${url}/v1/sql?sql=x`);
    expect(response.status).toBe(400);
    expect(response.headers.get("x-greptime-err-code")).toBe("4001");
    expect(response.headers.get("x-greptime-err-msg")).toMatch(/^error: Table not found: greptime\.public\.t, execution_time_ms: \d+$/);
    expect(response.headers.get("x-greptime-format")).toBeNull();
    expect(await response.text()).toMatch(/^\{"code":4001,"error":"Table not found: greptime\.public\.t","execution_time_ms":\d+\}$/);
  });

  test("a text that no header may hold is escaped there and whole in the body", async () => {
    db.onSql = () => {
      throw new DbError(StatusCode.InvalidSyntax, 'it\'s "ü"\n\\');
    };
    const response = await fetch(`${url}/v1/sql?sql=x`);
    expect(response.headers.get("x-greptime-err-msg")).toStartWith('error: it\\\'s \\"\\xc3\\xbc\\"\\n\\\\, execution_time_ms: ');
    expect(JSON.parse(await response.text()).error).toBe('it\'s "ü"\n\\');
  });
});

describe("large answers", () => {
  const text = "x".repeat(1000);
  const many = (batches: number, after: () => void, wait: Promise<void> = Promise.resolve()): ReturnType<typeof rowsResult> => {
    const result = rowsResult([["t", STRING, Array.from({ length: 100 }, () => text)]], batches);
    if (result.kind !== "rows") return result;
    const inner = result.batches;
    return {
      ...result,
      batches: (async function* () {
        yield* inner;
        await wait;
        after();
      })(),
    };
  };

  test("are streamed whole", async () => {
    db.onSql = () => [many(50, () => undefined)];
    const response = await fetch(`${url}/v1/sql?sql=x`);
    expect(response.headers.get("content-length")).toBeNull();
    const answer = JSON.parse(await response.text());
    expect(answer.output[0].records.total_rows).toBe(5000);
    expect(answer.output[0].records.rows.length).toBe(5000);
  });

  test("are right for a client that takes them slowly, since rows are printed over those that were sent", async () => {
    const rows = 100_000;
    const name = (row: number): string => `row ${row} ${"x".repeat(row % 300)}`;
    db.onSql = () => [
      {
        kind: "rows",
        headers: [
          { name: "n", type: INT64 },
          { name: "name", type: STRING },
        ],
        batches: (async function* () {
          for (let row = 0; row < rows; row += 5000) {
            const own = Array.from({ length: 5000 }, (_, i) => row + i);
            yield { rowCount: own.length, vectors: [vectorOf(INT64, own), vectorOf(STRING, own.map(name))] };
          }
        })(),
      },
    ];
    const request = "GET /v1/sql?sql=x&format=csv HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    const answer = bodyOfChunks(await slowly(Number(new URL(url).port), request));
    const lines = answer.split("\r\n");
    expect(lines.length).toBe(rows + 1);
    expect(lines.findIndex((line, row) => row < rows && line !== `${row},${name(row)}`)).toBe(-1);
  });

  test("that fail early have the status of their error", async () => {
    db.onSql = () => [
      many(5, () => {
        throw new DbError(StatusCode.EngineExecuteQuery, "division by zero");
      }),
    ];
    expect((await fetch(`${url}/v1/sql?sql=x`)).status).toBe(400);
  });

  test("that fail late never look whole: the connection is reset", async () => {
    db.onSql = () => [
      many(30, () => {
        throw new DbError(StatusCode.EngineExecuteQuery, "division by zero");
      }),
    ];
    const answer = await rawExchange(server.port, "GET /v1/sql?sql=x HTTP/1.1\r\nHost: localhost\r\n\r\n", 10_000);
    expect(answer).toStartWith("HTTP/1.1 200");
    expect(answer).not.toContain("\r\n0\r\n\r\n");
    expect(answer).toMatch(/<(reset|closed)>$/);
  });

  test("that are cut by their timeout are reset, and the log says why", async () => {
    const { logger, entries } = recordingLogger();
    const timed = await startFixture({ logger, timeoutMs: 60_000 });
    timed.db.onSql = (_, { signal }) => [
      many(
        30,
        () => {
          throw signal.aborted ? signal.reason : new Error("its time is not up");
        },
        Bun.sleep(150),
      ),
    ];
    const request = "GET /v1/sql?sql=x HTTP/1.1\r\nHost: localhost\r\nX-Greptime-Timeout: 100ms\r\n\r\n";
    const answer = await rawExchange(timed.server.port, request, 10_000); // It ends with the connection.
    await timed.server.stop(50);
    expect(answer).toStartWith("HTTP/1.1 200");
    expect(answer).toMatch(/<(reset|closed)>$/);
    const cut = entries.filter(({ message }) => message.startsWith("an answer was cut"));
    expect(cut.map(({ level, fields }) => [level, fields["path"], fields["code"]])).toEqual([["warn", "/v1/sql", "DeadlineExceeded"]]);
  });

  test("whose reader leaves stop the query", async () => {
    const stopped = Promise.withResolvers<void>();
    const result = many(1, () => undefined);
    if (result.kind !== "rows") throw new Error("rows expected");
    db.onSql = () => [
      {
        ...result,
        batches: (async function* () {
          try {
            for await (const batch of result.batches) for (;;) yield batch;
          } finally {
            stopped.resolve();
          }
        })(),
      },
    ];
    await rawExchange(server.port, "GET /v1/sql?sql=x HTTP/1.1\r\nHost: localhost\r\n\r\n", 500, (socket) => {
      socket.once("data", () => socket.destroy());
    });
    await stopped.promise;
  });
});
