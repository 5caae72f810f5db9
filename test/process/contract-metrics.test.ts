/** Remote write, remote read and OpenTSDB through a real server, as the contract shows tables and answers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { compress } from "snappyjs";
import { decodeSnappy } from "../../src/format/snappy/decode.ts";
import { type Cell, execute, queryRows } from "../support/http-client.ts";
import { bytesField, messageV1, messageV2, type SentSeries, textField, varint } from "../support/prometheus/messages.ts";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  for (const database of ["idc3", "idc4"]) await execute(server.url, `CREATE DATABASE ${database}`);
});
afterAll(async () => {
  await server.end();
});

async function post(path: string, body: Uint8Array | string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return await fetch(`${server.url}/v1/${path}`, { method: "POST", body: typeof body === "string" ? body : new Uint8Array(body), headers });
}

async function checkRows(sql: string, want: readonly (readonly Cell[])[], database = "public"): Promise<void> {
  expect((await queryRows(server.url, sql, { query: { db: database } })).rows).toEqual(want);
}

async function ddlOf(table: string, database = "public"): Promise<string> {
  return String((await queryRows(server.url, `SHOW CREATE TABLE "${table}"`, { query: { db: database } })).rows[0]?.[1]);
}

const one = (labels: Readonly<Record<string, string>>, value: number, time = 1000): SentSeries => ({ labels, samples: [{ time, value }] });

describe("remote write", () => {
  async function write(series: readonly SentSeries[]): Promise<readonly [number, string]> {
    const response = await post("prometheus/write", compress(messageV1(series)));
    return [response.status, await response.text()];
  }

  test("labels send a series to another database and another physical table", async () => {
    const sent = [
      one({ __name__: "special", __database__: "idc3", __physical_table__: "f1" }, 3),
      one({ __name__: "special", x_greptime_database: "idc4", x_greptime_physical_table: "f2" }, 4),
      one({ __name__: "special", __schema__: "idc4", __database__: "idc3", host: "a" }, 5),
    ];
    expect(await write(sent)).toEqual([204, ""]);
    await checkRows("SHOW TABLES", [["f1"], ["special"]], "idc3");
    await checkRows("SELECT greptime_value FROM special ORDER BY greptime_value", [[3]], "idc3");
    expect(await ddlOf("special", "idc3")).toBe(
      [
        'CREATE TABLE IF NOT EXISTS "special" (',
        '  "greptime_timestamp" TIMESTAMP(3) NOT NULL,',
        '  "greptime_value" DOUBLE NULL,',
        '  TIME INDEX ("greptime_timestamp")',
        ")",
        "",
        "ENGINE=metric",
        "WITH(",
        "  'comment' = 'Created on insertion',",
        "  'greptime.semantic.metric.metadata_quality' = 'inferred',",
        "  'greptime.semantic.signal_type' = 'metric',",
        "  'greptime.semantic.source' = 'prometheus',",
        "  'greptime.semantic.source_version' = '1.0',",
        "  on_physical_table = 'f1'",
        ")",
      ].join("\n"),
    );
    await checkRows("SELECT greptime_value FROM special ORDER BY greptime_value", [[4], [5]], "idc4");
  });

  test("a database that does not exist is refused, in a write as in a read", async () => {
    expect(await write([one({ __name__: "nowhere", __schema__: "idc9" }, 1)])).toEqual([
      400,
      expect.stringContaining("Database not found: idc9"),
    ]);
    const response = await read([
      [
        [0, "__name__", "special"],
        [0, "__schema__", "idc9"],
      ],
    ]);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("Database not found: idc9")]);
  });

  test("2.0 is told what was written; what it declares is with the table", async () => {
    const headers = { "content-type": "application/x-protobuf;proto=io.prometheus.write.v2.Request", "content-encoding": "snappy" };
    const symbols = ["", "__name__", "declared", "job", "a", "seconds"].flatMap((text) => textField(4, text));
    const sample = (time: number): number[] => bytesField(2, [0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x10, ...varint(time)]);
    const series = [...bytesField(1, [1, 2, 3, 4]), ...sample(1000), ...sample(2000), ...bytesField(5, [0x08, 1, 0x20, 5])];
    const response = await post("prometheus/write", compress(Uint8Array.from([...symbols, ...bytesField(5, series)])), headers);
    expect([response.status, await response.text()]).toEqual([204, ""]);
    const counts = ["samples", "histograms", "exemplars"].map((kind) => response.headers.get(`x-prometheus-remote-write-${kind}-written`));
    expect(counts).toEqual(["2", "0", "0"]);
    await checkRows("SELECT * FROM declared ORDER BY 1", [
      [1000, 1, "a"],
      [2000, 1, "a"],
    ]);
    const ddl = await ddlOf("declared");
    for (const option of ["metadata_quality' = 'declared'", "metric.type' = 'counter'", "metric.unit' = 's'", "source_version' = '2.0'"]) {
      expect(ddl).toContain(option);
    }
    const histogram = bytesField(5, [...bytesField(1, [1, 2, 3, 4]), ...bytesField(3, [0x18, 1])]);
    const native = await post("prometheus/write", compress(Uint8Array.from([...symbols, ...histogram])), headers);
    expect([native.status, await native.text()]).toEqual([
      400,
      expect.stringContaining("native histograms are not enabled on this server"),
    ]);
    const refused = await post("prometheus/write", compress(messageV2([one({ job: "a" }, 1)])), headers);
    expect([refused.status, refused.headers.get("x-prometheus-remote-write-samples-written")]).toEqual([400, "0"]);
  });

  test("vmagent's handshake, and bodies in the other coding than they say", async () => {
    const handshake = await post("prometheus/write?get_vm_proto_version=1", "anything");
    expect([handshake.status, await handshake.text()]).toEqual([200, "1"]);
    const message = (value: number): Uint8Array => messageV1([one({ __name__: "vm" }, value, value)]);
    const zstd = (value: number): Uint8Array => Bun.zstdCompressSync(message(value));
    for (const [body, coding] of [
      [zstd(1), "zstd"],
      [zstd(2), "snappy"],
      [compress(message(3)), "zstd"],
      [compress(message(4)), "snappy"],
    ] as const) {
      expect((await post("prometheus/write", body, { "content-encoding": coding })).status).toBe(204);
    }
    await checkRows("SELECT count(*), sum(greptime_value) FROM vm", [[4, 10]]);
  });
});

type Matcher = readonly [type: number, name: string, value: string];

function read(queries: readonly (readonly Matcher[])[]): Promise<Response> {
  const encoded = queries.flatMap((matchers) => {
    const all = matchers.flatMap(([type, name, value]) => bytesField(3, [0x08, type, ...textField(2, name), ...textField(3, value)]));
    return bytesField(1, [0x08, 0, 0x10, ...varint(10_000_000_000), ...all]);
  });
  return post("prometheus/read", compress(Uint8Array.from(encoded)));
}

test("a read answers each query in order, from the database that its matcher names", async () => {
  const response = await read([
    [
      [0, "__name__", "special"],
      [0, "__schema__", "idc4"],
      [0, "host", "a"],
    ],
    [
      [0, "__name__", "special"],
      [0, "x_greptime_database", "idc3"],
    ],
    [
      [0, "__name__", "special"],
      [0, "__database__", "idc4"],
      [0, "host", "nobody"],
    ],
  ]);
  expect([response.status, response.headers.get("content-encoding")]).toEqual([200, "snappy"]);
  const of = (labels: Readonly<Record<string, string>>, value: number): Uint8Array => messageV1([one(labels, value)]);
  const want = [of({ __name__: "special", host: "a" }, 5), of({ __name__: "special" }, 3), new Uint8Array(0)];
  expect([...decodeSnappy(await response.bytes(), 1 << 20)]).toEqual(want.flatMap((result) => bytesField(1, result)));
});

describe("OpenTSDB", () => {
  const points = (list: readonly unknown[], query = ""): Promise<Response> => post(`opentsdb/api/put${query}`, JSON.stringify(list));
  const point = (timestamp: number, value: number, tags: Readonly<Record<string, string>>, metric = "my_metric"): unknown => ({
    metric,
    timestamp,
    value,
    tags,
  });

  test("tags, value and time are columns; new tags come behind; seconds and milliseconds", async () => {
    const sent = [
      point(1000, 1, { tagk1: "v1", tagk2: "v2" }),
      point(1_700_000_000_000, 2, { tagk2: "v22", tagk3: "v3" }),
      point(2000, 3, {}),
    ];
    const response = await points(sent);
    expect([response.status, await response.text()]).toEqual([204, ""]);
    const { columns, rows } = await queryRows(server.url, "SELECT * FROM my_metric ORDER BY greptime_value");
    const order = ["tagk1", "tagk2", "tagk3", "greptime_value", "greptime_timestamp"].map((name) => columns.indexOf(name));
    expect(columns.slice(0, 2)).toEqual(["tagk1", "tagk2"]);
    expect(rows.map((row) => order.map((at) => row[at]))).toEqual([
      ["v1", "v2", null, 1, 1_000_000],
      [null, "v22", "v3", 2, 1_700_000_000_000],
      [null, null, null, 3, 2_000_000],
    ]);
    const ddl = await ddlOf("my_metric");
    for (const part of ["ENGINE=mito", '"greptime_timestamp" TIMESTAMP(3) NOT NULL', "semantic.source' = 'opentsdb'"])
      expect(ddl).toContain(part);
  });

  test("the last of two points of one time counts", async () => {
    await points([point(5000, 1, { host: "a" }, "twice")]);
    await points([point(5000, 2, { host: "a" }, "twice")]);
    await checkRows("SELECT host, greptime_value FROM twice", [["a", 2]]);
  });

  test("summary and details say what became of the points", async () => {
    const good = [point(1, 1, {}, "counted"), point(2, 1, {}, "counted")];
    for (const [query, want] of [
      ["?summary", { success: 2, failed: 0 }],
      ["?details", { success: 2, failed: 0, errors: [] }],
      ["?summary&details=1", { success: 2, failed: 0, errors: [] }],
    ] as const) {
      const response = await points(good, query);
      expect([response.status, await response.json()]).toEqual([200, want]);
    }
  });

  test("a table that exists keeps its names", async () => {
    await execute(server.url, "CREATE TABLE existing (ts TIMESTAMP(9) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)");
    expect((await points([point(3, 1.5, { host: "a" }, "existing")])).status).toBe(204);
    await checkRows("SELECT ts, host, v FROM existing", [[3_000_000_000, "a", 1.5]]);
  });
});
