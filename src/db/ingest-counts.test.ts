import { expect, test } from "bun:test";
import { DbError } from "../base/error.ts";
import { MetricRegistry } from "../base/metrics.ts";
import { StatusCode } from "../base/status-code.ts";
import { PartlyWritten } from "../table/partly-written.ts";
import { countValues } from "./counted-rows.ts";
import { countedWrite, IngestCounts, IngestMetrics } from "./ingest-counts.ts";

test("a write counts its rows, one that is kept in part those that are kept, one that fails none", async () => {
  const counts = new IngestCounts();
  expect(await countedWrite(counts, Promise.resolve({ rowCount: 3 }))).toEqual({ rowCount: 3 });
  const refusal = new DbError(StatusCode.InvalidArguments, "no");
  expect(countedWrite(counts, Promise.reject(new PartlyWritten(refusal, 2, 1)))).rejects.toThrow("no");
  expect(countedWrite(counts, Promise.reject(refusal))).rejects.toThrow("no");
  expect(await countedWrite(undefined, Promise.resolve({ rowCount: 9 }))).toEqual({ rowCount: 9 });
  await Bun.sleep(0);
  expect(counts.rows).toBe(5);
});

test("doors of one registry share its families, which show what was counted when they are read", async () => {
  const metrics = new MetricRegistry();
  const [first, second] = [IngestMetrics.of(metrics), IngestMetrics.of(metrics)];
  expect(first).toBe(second);
  expect(IngestMetrics.of(new MetricRegistry())).not.toBe(first);
  first.of("loki").wrote(2);
  second.of("loki").took(10);
  second.of("arrow").deleted(1);
  second.of("arrow").failed();
  const text = await metrics.registry.metrics();
  for (const line of [
    'varve_ingest_rows_total{protocol="loki"} 2',
    'varve_ingest_bytes_total{protocol="loki"} 10',
    'varve_ingest_errors_total{protocol="arrow"} 1',
    "greptime_table_operator_ingest_rows 2",
    "greptime_table_operator_delete_rows 1",
  ])
    expect(text).toContain(`\n${line}\n`);
  expect(await metrics.registry.metrics()).toBe(text);
});

test("values of an INSERT count as texts are long, NULL as nothing", () => {
  const counts = new IngestCounts();
  const insert = {
    kind: "insert",
    table: [],
    columns: undefined,
    source: { kind: "values", rows: [] },
    span: { start: 0, end: 0 },
  } as never;
  const type = { kind: "string" } as never;
  const values = [
    { type, value: "four" },
    { type, value: 1 },
    { type, value: undefined },
    { type, value: 5n },
    { type, value: new Uint8Array(3) },
  ];
  countValues(counts, insert, values);
  expect(counts.bytes).toBe(4 + 8 + 8 + 3);
});
