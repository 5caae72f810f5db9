/** The first write of every HTTP door, and of SQL, to tables that others' catalogue makes later: taken, once. */
import { afterAll, expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { DOORS } from "../../../test/process/doors.ts";
import { postSql, queryRows } from "../../../test/support/http-client.ts";
import { startFixture } from "../../../test/support/http-fixture.ts";
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { LocalDb } from "../../db/local-db.ts";
import { InfluxDecoder } from "../../ingest/influx/decode.ts";

const machine = await Machine.start({ lateCatalog: seededRandom(3), limits: { stallMillis: 5000 } });
const db = new LocalDb(machine.engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
const { server, url } = await startFixture({
  db,
  influx: {
    enabled: true,
    defaultMergeMode: "last_non_null",
    timeColumn: "greptime_timestamp",
    createDecoder: () => new InfluxDecoder(),
  },
});
afterAll(async () => {
  await server.stop(50);
  await machine.engine.close();
});

async function countOf(table: string): Promise<unknown> {
  return (await queryRows(url, `SELECT count(*) FROM ${table}`)).rows[0]?.[0];
}

test.each(DOORS.map((door) => [door.name, door] as const))("%s", async (_, door) => {
  machine.catalog.next = "others first";
  const before = machine.catalog.counts.outdated;
  const response = await fetch(`${url}${door.path}`, { method: "POST", headers: { ...door.headers }, body: door.body });
  expect([response.status < 300, response.status < 300 ? "" : await response.text()]).toEqual([true, ""]);
  expect(await countOf(door.table)).toBe(1);
  expect(machine.catalog.counts.outdated).toBeGreaterThan(before);
});

test("many requests at once, of new tables and new columns, are each taken once", async () => {
  const lines = Array.from({ length: 60 }, (_, i) => `many${i % 7},host=h${i} f${i % 3}=1i ${i + 1}000000`);
  const sent = lines.map((body) => fetch(`${url}/v1/influxdb/write`, { method: "POST", body }));
  for (const response of await Promise.all(sent)) expect(response.status).toBe(204);
  let count = 0;
  for (let i = 0; i < 7; i++) count += Number(await countOf(`many${i}`));
  expect(count).toBe(60);
});

test("CREATE, INSERT, ALTER and DROP one after the other", async () => {
  const sql = async (text: string): Promise<void> => {
    expect([text, (await postSql(url, text)).status]).toEqual([text, 200]);
  };
  await sql("CREATE TABLE made (ts TIMESTAMP TIME INDEX, v DOUBLE)");
  await sql("INSERT INTO made VALUES (1, 1.5), (2, 2.5)");
  await sql("ALTER TABLE made ADD COLUMN w BIGINT");
  await sql("INSERT INTO made (ts, w) VALUES (3, 4)");
  expect(await countOf("made")).toBe(3);
  await sql("TRUNCATE TABLE made");
  await sql("CREATE VIEW seen AS SELECT * FROM made");
  await sql("DROP TABLE made");
  await sql("CREATE DATABASE IF NOT EXISTS others");
});

test("spans are there once, though tables that come after them are made later, too", async () => {
  const span = { traceId: "5b8efff798038103d269b633813fc60c", spanId: "eee19b7ec3c1b174", name: "op", kind: 2 };
  const times = { startTimeUnixNano: "1736480942444376000", endTimeUnixNano: "1736480942444499000" };
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "svc" } }] };
  const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "sc" }, spans: [{ ...span, ...times }] }] }] });
  for (let i = 0; i < 10; i++) {
    const headers = {
      "content-type": "application/json",
      "x-greptime-pipeline-name": "greptime_trace_v1",
      "x-greptime-trace-table-name": `spans_${i}`,
    };
    expect((await fetch(`${url}/v1/otlp/v1/traces`, { method: "POST", headers, body })).status).toBe(200);
    expect(await countOf(`spans_${i}`)).toBe(1);
    expect(await countOf(`spans_${i}_services`)).toBe(1);
  }
});
