/** Public clients of InfluxDB, as they come from npm, write through authentication; SQL reads their rows back. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HttpError, InfluxDB, Point, setLogger, type WritePrecisionType } from "@influxdata/influxdb-client";
import { FieldType, InfluxDB as InfluxV1 } from "influx";
import { type Cell, execute, queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const HEADERS = { authorization: `Basic ${btoa("client:s3cret:with:colons")}` };
const TOKEN = "client:s3cret:with:colons";

let server: TestServer;

beforeAll(async () => {
  setLogger({ error: () => undefined, warn: () => undefined }); // what it prints about a refusal, it throws as well
  server = await TestServer.start({ flags: ["--user-provider", "static_user_provider:cmd:client=s3cret:with:colons,reader:ro=r0"] });
});
afterAll(async () => {
  await server.end();
});

async function check(sql: string, want: readonly (readonly Cell[])[], db = "public"): Promise<void> {
  expect((await queryRows(server.url, sql, { headers: HEADERS, query: { db } })).rows).toEqual(want);
}

describe("@influxdata/influxdb-client", () => {
  /** Writes through a client that never tries again, so that a refusal is seen at once. */
  async function write(
    points: readonly Point[],
    precision: WritePrecisionType = "ns",
    gzipThreshold = 1 << 30,
    token = TOKEN,
  ): Promise<void> {
    const client = new InfluxDB({ url: `${server.url}/v1/influxdb`, token });
    // One batch a call: the client's `close` waits for the last one only.
    const options = { batchSize: points.length + 1, gzipThreshold, maxRetries: 0, flushInterval: 0 };
    const api = client.getWriteApi("any-org", "public", precision, options);
    api.writePoints([...points]);
    await api.close();
  }

  test("writes every type of field, and texts that need escapes", async () => {
    const point = new Point("client_types")
      .tag("host name", "a,b c=d")
      .intField("i", -42)
      .uintField("u", "18446744073709551615")
      .floatField("f", 0.1)
      .booleanField("b", true)
      .stringField("s", 'say "hi"\\, ü')
      .timestamp("1700000000000000001");
    await write([point]);
    await check('SELECT "host name", i, u, f, b, s, greptime_timestamp FROM client_types', [
      ["a,b c=d", -42, 18446744073709551615n, 0.1, true, 'say "hi"\\, ü', 1700000000000000001n],
    ]);
  });

  test.each([
    ["ns", 1700000000123456789n, 1700000000123456789n],
    ["us", 1700000000123456n, 1700000000123456000n],
    ["ms", 1700000000123n, 1700000000123000000n],
    ["s", 1700000000n, 1700000000000000000n],
  ] as const)("writes with precision %s", async (precision, time, nanos) => {
    await write([new Point("precise").tag("unit", precision).intField("v", 1).timestamp(String(time))], precision);
    await check(`SELECT greptime_timestamp FROM precise WHERE unit = '${precision}'`, [[nanos]]);
  });

  test("writes thousands of points, plain and with gzip", async () => {
    for (const [kind, threshold] of [
      ["plain", 1 << 30],
      ["gzip", 0],
    ] as const) {
      const points = Array.from({ length: 5000 }, (_, i) =>
        new Point("many")
          .tag("kind", kind)
          .tag("host", `h${i % 7}`)
          .intField("v", i)
          .timestamp(1_700_000_000 + i),
      );
      await write(points, "s", threshold);
    }
    await check("SELECT kind, count(*), sum(v), max(v) FROM many GROUP BY kind ORDER BY kind", [
      ["gzip", 5000, 12_497_500, 4999],
      ["plain", 5000, 12_497_500, 4999],
    ]);
  });

  test("tells its user why a write is refused", async () => {
    const failure = async (token: string, point: Point = new Point("refused").intField("v", 1)): Promise<unknown> =>
      await write([point], "ns", 0, token).then(
        () => "written",
        (error: unknown) => (error instanceof HttpError ? { status: error.statusCode, text: error.body } : error),
      );
    expect(await failure("client:wrong")).toMatchObject({ status: 401, text: expect.stringContaining('"code":7002') });
    expect(await failure("not-a-pair")).toMatchObject({ status: 401, text: expect.stringContaining('"code":7004') });
    expect(await failure("reader:r0")).toMatchObject({ status: 403, text: expect.stringContaining("not authorized") });
    const nameless = new Point("no\u0085table").intField("v", 1);
    expect(await failure(TOKEN, nameless)).toMatchObject({
      status: 400,
      text: expect.stringContaining("cannot be a table name"),
    });
    const { rows } = await queryRows(server.url, "SHOW TABLES", { headers: HEADERS });
    expect(rows.flat()).not.toContain("refused");
  });
});

/** What a promise was rejected with. */
async function messageOf(promise: Promise<unknown>): Promise<string> {
  return await promise.then(
    () => "no failure",
    (error: unknown) => String(error),
  );
}

describe("influx", () => {
  function connect(database: string, username = "client", password = TOKEN.slice("client:".length)): InfluxV1 {
    const { hostname, port } = new URL(server.url);
    const schema = [
      {
        measurement: "weather",
        tags: ["place"],
        fields: { wet: FieldType.BOOLEAN, note: FieldType.STRING, mm: FieldType.FLOAT, days: FieldType.INTEGER },
      },
    ];
    return new InfluxV1({ host: hostname, port: Number(port), path: "/v1/influxdb", database, username, password, schema });
  }

  test("makes a database, twice, and writes points into it", async () => {
    const client = connect("by_influx");
    await client.createDatabase("by_influx");
    await client.createDatabase("by_influx");
    expect(await client.getDatabaseNames()).toContain("by_influx");
    await client.writePoints([
      {
        measurement: "weather",
        tags: { place: "Bad Ems" },
        fields: { wet: true, note: 'a "b"', mm: 1.5, days: 3 },
        timestamp: "1700000000000000001",
      },
      { measurement: "weather", tags: { place: "Ulm" }, fields: { wet: false, mm: 2 }, timestamp: new Date(1_700_000_001_000) },
    ]);
    const want: readonly (readonly Cell[])[] = [
      ["Bad Ems", true, 'a "b"', 1.5, 3, 1700000000000000001n],
      ["Ulm", false, null, 2, null, 1700000001000000000n],
    ];
    await check("SELECT place, wet, note, mm, days, greptime_timestamp FROM weather ORDER BY place", want, "by_influx");
  });

  test("writes with a precision", async () => {
    const client = connect("public");
    await client.writePoints([{ measurement: "old_precise", fields: { v: 1 }, timestamp: new Date(1_700_000_002_500) }], {
      precision: "ms",
    });
    await client.writePoints([{ measurement: "old_precise", fields: { v: 2 }, timestamp: 1_700_000_003 }], { precision: "s" });
    await check("SELECT v, greptime_timestamp FROM old_precise ORDER BY v", [
      [1, 1700000002500000000n],
      [2, 1700000003000000000n],
    ]);
  });

  test("is told why: a wrong password, no database, a type that does not fit", async () => {
    const point = { measurement: "weather", fields: { mm: 1 } };
    expect(await messageOf(connect("public", "client", "wrong").writePoints([point]))).toContain("401");
    expect(await messageOf(connect("nowhere").writePoints([point]))).toContain("database not found: nowhere");
    await execute(server.url, "CREATE TABLE rain (ts TIMESTAMP TIME INDEX, mm STRING)", { headers: HEADERS });
    const wrongType = connect("public").writePoints([{ ...point, measurement: "rain" }]);
    expect(await messageOf(wrongType)).toContain("expected STRING, got DOUBLE");
  });
});

test("after a restart the rows of both clients are there", async () => {
  await server.stop();
  await server.restart();
  await check("SELECT count(*) FROM many", [[10_000]]);
  await check("SELECT count(*) FROM weather", [[2]], "by_influx");
});
