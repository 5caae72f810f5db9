/**
 * Every protocol to a table of every kind: kept or refused, never a dead process, and the other table of the same request is kept
 * whatever becomes of the first.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { send } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";
import { FUZZ_DOORS, storePipeline } from "./doors.ts";
import type { TableRows } from "./rows.ts";

const TEST_MS_MAX = 120_000;

const KINDS: Readonly<Record<string, string>> = {
  absent: "",
  ordinary: "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, id STRING PRIMARY KEY, v DOUBLE)",
  wide: "CREATE TABLE NAME (ts TIMESTAMP(9) TIME INDEX, id STRING PRIMARY KEY, usage DOUBLE, v BIGINT)",
  append: "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, id STRING PRIMARY KEY, v DOUBLE) WITH (append_mode = 'true')",
  seconds: "CREATE TABLE NAME (ts TIMESTAMP(0) TIME INDEX, id STRING PRIMARY KEY, greptime_value DOUBLE)",
  "number tag": "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, id BIGINT PRIMARY KEY, v DOUBLE)",
  "id a field": "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, id STRING, v DOUBLE)",
  "v is text": "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, id STRING PRIMARY KEY, v STRING)",
  physical: "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH (physical_metric_table = '')",
  logical: "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, v DOUBLE, id STRING PRIMARY KEY) ENGINE=metric WITH (on_physical_table = 'phy')",
  view: "CREATE VIEW NAME AS SELECT 1 AS a",
  external: "CREATE EXTERNAL TABLE NAME WITH (location = 'kinds.csv', format = 'csv')",
  computed: "",
};

/** `+` kept, `-` refused with a 4xx; columns in the order of `KINDS`. */
const OUTCOMES: Readonly<Record<string, string>> = {
  "line protocol": "++-++----+---",
  "line protocol, all or nothing": "++-++----+---",
  INSERT: "-+++-++--+---",
  "remote write 1.0": "++-+++---+---",
  "remote write 2.0": "++-+++---+---",
  "OTLP metrics": "++++++-+-+---",
  "OTLP logs": "++++++++-----",
  "OTLP traces": "++++++++-----",
  OpenTSDB: "+++++----+---",
  Loki: "++++++-+-----",
  "identity pipeline": "+-+-+--------",
  "stored pipeline": "+-+-+--------",
  Elasticsearch: "+-+-+--------",
  Splunk: "+++++-++-----",
};

const COLUMNS = Object.keys(KINDS);

describe.each([1, 2])("with ingest.threads = %i", (threads) => {
  let server: TestServer;
  let lastId = 0;

  beforeAll(async () => {
    server = await TestServer.start({ config: `[ingest]\nthreads = ${threads}\n` });
    await mkdir(join(server.dataHome, "copy"), { recursive: true });
    await writeFile(join(server.dataHome, "copy", "kinds.csv"), "a,b\n1,2\n");
    expect(await sql(KINDS["physical"]?.replace("NAME", "phy") ?? "")).toBe(200);
    await send(`${server.url}${storePipeline.path}`, { method: "POST", headers: storePipeline.headers ?? {}, body: storePipeline.body });
  }, TEST_MS_MAX);
  afterAll(async () => {
    await server.end();
  });

  async function sql(text: string): Promise<number> {
    return (await send(`${server.url}/v1/sql`, { method: "POST", body: new URLSearchParams({ sql: text }), keepalive: false })).status;
  }

  async function count(table: string): Promise<string> {
    const { text } = await send(`${server.url}/v1/sql?format=csv&sql=${encodeURIComponent(`SELECT count(*) FROM "${table}"`)}`);
    return text.trim();
  }

  function rowsOf(table: string): TableRows {
    const number = ++lastId;
    return { table, rows: [{ id: String(number), value: number, second: 1_700_000_000 + number }] };
  }

  test.each(FUZZ_DOORS.map((door) => [door.name, door] as const))(
    "%s",
    async (name, door) => {
      let outcomes = "";
      for (const [column, kind] of COLUMNS.entries()) {
        const table = kind === "computed" ? "numbers" : `kind_${FUZZ_DOORS.indexOf(door)}_${column}`;
        const create = KINDS[kind] ?? "";
        if (create !== "") expect([kind, await sql(create.replace("NAME", table))]).toEqual([kind, 200]);
        const good = `good_${FUZZ_DOORS.indexOf(door)}_${column}`;
        const hasOther = door.tablesMax > 1;
        let kept = "";
        for (let round = 1; round <= 2; round++) {
          const tables = [rowsOf(table), ...(hasOther ? [rowsOf(good)] : [])];
          const request = door.request(tables, { field: "v", physical: undefined });
          // A connection of its own: it lands on any of the threads.
          const { status, text } = await send(`${server.url}${request.path}`, {
            method: "POST",
            headers: { ...request.headers, connection: "close" },
            body: request.body,
            keepalive: false,
          });
          if (status === 0 || status >= 500) throw new Error(`${name} to ${kind} answered ${status}: ${text}`);
          const isKept = status < 300 && !text.includes("partialSuccess");
          kept += isKept ? "+" : "-";
          const isWhole = name.endsWith("all or nothing") || name === "Elasticsearch";
          if (hasOther && !(isWhole && !isKept)) expect([kind, await count(good)]).toEqual([kind, String(round)]);
        }
        if (kept !== "++" && kept !== "--") throw new Error(`${name} to ${kind} was ${kept}`);
        outcomes += kept[0] ?? "";
      }
      expect(outcomes).toBe(OUTCOMES[name] ?? "");
    },
    TEST_MS_MAX,
  );
});
