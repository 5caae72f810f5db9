/** Names of tables, columns and databases: any text without control characters, by every protocol, in every listing, file and statement. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { compress } from "snappyjs";
import { seededRandom } from "../../bench/macro/random.ts";
import { IN_CLUSTER } from "../support/cluster/standalone.ts";
import { type Cell, queryRows, send } from "../support/http-client.ts";
import { messageV1 } from "../support/prometheus/messages.ts";
import { TestServer } from "../support/server-process.ts";

const TEST_MS_MAX = 120_000;
const NANOS = "1700000000000000000";
const SEED = 20_261_123;

/** Names that somebody has, or that an attacker would like to have. */
const NAMES = [
  "c pu",
  "naïve",
  "7zip",
  "a/b",
  "cpu=load",
  "..",
  ".",
  "../../etc/passwd",
  "/etc/passwd",
  ".hidden",
  "a\\b",
  'q"u"ote',
  "b`tick`",
  "d'quote",
  "semi;colon",
  "--comment",
  "select",
  "NULL",
  "日本",
  "😀",
  "a.b.c",
  "%2e%2e",
  "a,b",
  " lead",
  "trail ",
  "{x}",
  "$1",
  "\u202eright",
  "a\u2028b",
  "é".repeat(512),
  "x".repeat(1020),
];
const PIECES = Array.from("aZ7_ .,=\"`'/%;-#$(){}*|<>&?:@~^!é日😀\u202e");

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  await server.end();
});

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const escaped = (name: string, special: RegExp): string => name.replace(special, (character) => `\\${character}`);

async function rows(sql: string, db = "public"): Promise<readonly (readonly Cell[])[]> {
  return (await queryRows(server.url, sql, { query: { db } })).rows;
}

async function run(sql: string, db = "public"): Promise<void> {
  const { status, text } = await send(`${server.url}/v1/sql?db=${encodeURIComponent(db)}`, {
    method: "POST",
    body: new URLSearchParams({ sql }),
  });
  if (status !== 200) throw new Error(`${sql} answered ${status}: ${text}`);
}

async function post(path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<string> {
  const { status, text } = await send(`${server.url}${path}`, { method: "POST", body, headers });
  return status < 300 ? "" : `${status} ${text}`;
}

/** A line whose measurement, tag and field have the name, told apart by an ending. */
function lineOf(name: string): string {
  const key = escaped(name, /[,= ]/g);
  return `${escaped(name, /[, ]/g)},${key}T=t ${key}F=1 ${NANOS}`;
}

async function createText(name: string, db: string): Promise<string> {
  return String((await rows(`SHOW CREATE TABLE ${quoted(name)}`, db))[0]?.[1]);
}

async function checkRow(name: string, db = "public"): Promise<void> {
  const columns = [`${name}T`, `${name}F`].map(quoted).join(", ");
  expect(await rows(`SELECT ${columns} FROM ${quoted(name)}`, db)).toEqual([["t", 1]]);
}

function randomNames(count: number): string[] {
  const random = seededRandom(SEED);
  return Array.from({ length: count }, (_, i) => {
    const name = Array.from({ length: 1 + random.below(12) }, () => PIECES[random.below(PIECES.length)] as string).join("");
    return `${name.startsWith("#") ? "n" : ""}${name}${i}`;
  });
}

test(
  "a name that line protocol brings is read, shown, made again elsewhere, copied to a file and back, and there after a flush and a restart",
  async () => {
    const names = [...NAMES.filter((name) => !name.endsWith("\\")), ...randomNames(60)].filter((name) => Buffer.byteLength(name) <= 1020);
    await run("CREATE DATABASE other");
    expect(await post("/v1/influxdb/write", names.map(lineOf).join("\n"))).toBe("");
    for (const name of names) {
      await checkRow(name);
      const text = await createText(name, "public");
      await run(text, "other");
      expect(await createText(name, "other")).toBe(text);
      const listed = await rows(
        `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ${literal(name)}`,
      );
      expect(listed.map(([table, column]) => [table, column])).toEqual(
        expect.arrayContaining([
          [name, `${name}T`],
          [name, `${name}F`],
        ]),
      );
      await run(`ADMIN flush_table(${literal(name)})`);
    }
    expect((await rows("SHOW TABLES")).map(([name]) => name)).toEqual(expect.arrayContaining(names));
    await run("COPY DATABASE public TO 'all/' WITH (format = 'parquet')");
    const files = readdirSync(join(server.dataHome, "copy", "all"));
    expect(files.length).toBe(names.length);
    for (const file of files) expect([file.startsWith("."), Buffer.byteLength(file) <= 255]).toEqual([false, true]);
    expect(readdirSync(join(server.dataHome, "copy"))).toEqual(["all"]);
    await run("COPY DATABASE other FROM 'all/' WITH (format = 'parquet')");
    for (const name of names) await checkRow(name, "other");
    await server.stop();
    await server.restart();
    for (const name of names) {
      await checkRow(name);
      await checkRow(name, "other");
    }
    for (const name of names) {
      await run(`ALTER TABLE ${quoted(name)} RENAME ${quoted(`${name.slice(0, 300)} r`)}`, "other");
      await run(`ALTER TABLE ${quoted(`${name.slice(0, 300)} r`)} RENAME ${quoted(name)}`, "other");
      await run(`DELETE FROM ${quoted(name)} WHERE ${quoted(`${name}T`)} = 't'`, "other");
      expect(await rows(`SELECT count(*) FROM ${quoted(name)}`, "other")).toEqual([[0]]);
      await run(`TRUNCATE TABLE ${quoted(name)}`, "other");
      await run(`DROP TABLE ${quoted(name)}`, "other");
    }
    expect(await rows("SHOW TABLES", "other")).toEqual([]);
  },
  TEST_MS_MAX,
);

describe("a database of any name", () => {
  test.each(NAMES.map((name) => [name.length > 30 ? name.slice(0, 20) : name]))(
    "%j is made, written by its URL-encoded name, shown and dropped",
    async (name) => {
      const database = `${name} db`;
      await run(`CREATE DATABASE ${quoted(database)}`);
      expect(await post(`/v1/influxdb/write?db=${encodeURIComponent(database)}`, `m v=1 ${NANOS}`)).toBe("");
      expect(await post(`/v1/influxdb/api/v2/write?bucket=${encodeURIComponent(database)}`, `m v=2 ${NANOS}`)).toBe("");
      const header = Buffer.from(database).toString("latin1").trim() === Buffer.from(database).toString("latin1");
      if (header) {
        const headers = { "x-greptime-db-name": Buffer.from(database).toString("latin1") };
        expect(await post("/v1/influxdb/write", `m v=3 ${NANOS}`, headers)).toBe("");
      }
      expect(await rows(`SELECT v FROM ${quoted(database)}.m`)).toEqual([[header ? 3 : 2]]);
      expect((await rows("SHOW DATABASES")).map(([shown]) => shown)).toContain(database);
      expect(String((await rows(`SHOW CREATE DATABASE ${quoted(database)}`))[0]?.[1])).toContain(database.replaceAll('"', '""'));
      await run(`DROP DATABASE ${quoted(database)}`);
    },
  );

  test("that begins with a catalog's is still read as catalog and schema, unless it exists", async () => {
    expect(await post("/v1/influxdb/write?db=greptime-public", `dashed v=1 ${NANOS}`)).toBe("");
    expect(await rows("SELECT v FROM dashed")).toEqual([[1]]);
  });
});

describe("every protocol", () => {
  const NAME = "p r/é.ö";
  const at = 1_700_000_000_000;
  const utf8Header = Buffer.from(NAME).toString("latin1");
  const JSON_TYPE = { "content-type": "application/json" };
  const series = [{ labels: { __name__: `${NAME} rw`, "k8s.pod/é": "x" }, samples: [{ time: at, value: 1 }] }];
  const DOORS: readonly (readonly [string, () => Promise<string>, string])[] = [
    [
      "remote write",
      () =>
        post("/v1/prometheus/write", new Uint8Array(compress(messageV1(series))), {
          "content-type": "application/x-protobuf",
          "content-encoding": "snappy",
        }),
      `SELECT "k8s.pod/é" FROM "${NAME} rw"`,
    ],
    [
      "OTLP metrics",
      () =>
        post(
          "/v1/otlp/v1/metrics",
          JSON.stringify({
            resourceMetrics: [
              {
                scopeMetrics: [
                  {
                    metrics: [
                      {
                        name: `${NAME} om`,
                        gauge: {
                          dataPoints: [{ timeUnixNano: NANOS, asDouble: 1, attributes: [{ key: "a b", value: { stringValue: "x" } }] }],
                        },
                      },
                    ],
                  },
                ],
              },
            ],
          }),
          { ...JSON_TYPE, "x-greptime-otlp-metric-translation-strategy": "NoTranslation" },
        ),
      `SELECT "a b" FROM "${NAME} om"`,
    ],
    [
      "OTLP logs",
      () =>
        post(
          "/v1/otlp/v1/logs",
          JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: NANOS, body: { stringValue: "x" } }] }] }] }),
          { ...JSON_TYPE, "x-greptime-log-table-name": `${utf8Header} ol` },
        ),
      `SELECT body FROM "${NAME} ol"`,
    ],
    [
      "OpenTSDB",
      () =>
        post("/v1/opentsdb/api/put", JSON.stringify({ metric: `${NAME} ot`, timestamp: at, value: 1, tags: { "t g": "x" } }), JSON_TYPE),
      `SELECT "t g" FROM "${NAME} ot"`,
    ],
    [
      "Loki",
      () =>
        post("/v1/loki/api/v1/push", JSON.stringify({ streams: [{ stream: { a: "x" }, values: [[NANOS, "line"]] }] }), {
          ...JSON_TYPE,
          "x-greptime-log-table-name": `${utf8Header} lo`,
        }),
      `SELECT a FROM "${NAME} lo"`,
    ],
    [
      "a pipeline",
      () =>
        post(
          `/v1/ingest?pipeline_name=greptime_identity&table=${encodeURIComponent(`${NAME} in`)}`,
          JSON.stringify([{ "f d": "x" }]),
          JSON_TYPE,
        ),
      `SELECT "f d" FROM "${NAME} in"`,
    ],
    [
      "Elasticsearch",
      () => post(`/v1/elasticsearch/${encodeURIComponent(`${NAME} es`)}/_bulk`, '{"create":{}}\n{"f d":"x"}\n', JSON_TYPE),
      `SELECT "f d" FROM "${NAME} es"`,
    ],
    [
      "Splunk",
      () => post(`/v1/splunk/services/collector/event?table=${encodeURIComponent(`${NAME} sp`)}`, '{"event":"x"}'),
      `SELECT event FROM "${NAME} sp"`,
    ],
  ];

  test.each(DOORS)("makes tables and columns of any name: %s", async (_name, write, sql) => {
    expect(await write()).toBe("");
    expect(await rows(sql)).toEqual([["x"]]);
  });

  test.each(["a\nb", "\0", "a\u0085", "", "x".repeat(1025), "é".repeat(513)])("refuses %j with a clear error", async (name) => {
    const encoded = encodeURIComponent(name);
    const answers = [
      await post(`/v1/ingest?pipeline_name=greptime_identity&table=${encoded}`, "[{}]", JSON_TYPE),
      await post("/v1/opentsdb/api/put", JSON.stringify({ metric: name, timestamp: at, value: 1, tags: { a: "x" } }), JSON_TYPE),
      await post("/v1/sql", new URLSearchParams({ sql: `CREATE TABLE "${name}" (t TIMESTAMP TIME INDEX)` }).toString(), {
        "content-type": "application/x-www-form-urlencoded",
      }),
    ];
    for (const answer of answers) expect(answer).toMatch(/^400 /);
    expect(await rows("SELECT 1")).toEqual([[1]]);
  });

  test("refuses a metric that is half of a surrogate pair, and line protocol that is not UTF-8", async () => {
    expect(await post("/v1/opentsdb/api/put", `{"metric":"\\ud800","timestamp":${at},"value":1,"tags":{"a":"x"}}`, JSON_TYPE)).toMatch(
      /^400 /,
    );
    expect(await post("/v1/influxdb/write", new Uint8Array([...Buffer.from("bad"), 0xff, ...Buffer.from(" v=1")]))).toMatch(/^400 .*UTF-8/);
  });

  test("is told that a table of a computed one's name cannot be made, not that its rows are kept", async () => {
    expect(await post("/v1/influxdb/write", `numbers v=1 ${NANOS}\nkept v=1 ${NANOS}`)).toMatch(/^400 .*public.numbers.*1 of other tables/);
    expect(await rows("SELECT v FROM kept")).toEqual([[1]]);
  });
});

test("nothing was written outside of the data directory", () => {
  expect(readdirSync(server.folder).toSorted()).toEqual(
    IN_CLUSTER ? ["data", "node-0", "node-1", "other", "store", "varve.toml"] : ["data", "varve.toml"],
  );
  expect(existsSync("/etc/passwdT")).toBe(false);
});
