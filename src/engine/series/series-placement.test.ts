/** What the engine stores of a series says where its rows lie, as the batches that brought it did. */
import { expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { metricBatch } from "../../../test/support/metric-batch.ts";
import { InfluxDecoder } from "../../ingest/influx/decode.ts";
import { DEFAULT_PHYSICAL_TABLE, physicalTableOf, TABLE_ID_COLUMN } from "../../table/metric.ts";
import type { TableSchema } from "../../table/schema.ts";
import { logicalPlacementOf, markOf, placementOf, shardOf, type TablePlacement, tagTextsOf } from "../../table/shards/placement.ts";
import { BatchSplitter, type ShardBatch } from "../../table/shards/split-batch.ts";

const SHARDS = 16;

/** Tags as text → the shard that their rows were sent to. */
function sent(parts: readonly ShardBatch[]): Map<string, number> {
  const shards = new Map<string, number>();
  for (const { shard, batch } of parts) {
    for (const { keys, rowCount } of batch.tables) {
      for (let row = 0; row < rowCount; row++) {
        const { table, names, values } = batch.dictionary.tagsOf(keys[row] as number);
        shards.set(
          tagsText(
            table,
            names.map((name, i) => [name, values[i] ?? ""]),
          ),
          shard,
        );
      }
    }
  }
  return shards;
}

function tagsText(table: string, tags: readonly (readonly [name: string, value: string])[]): string {
  return `${table} ${tags
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join()}`;
}

function stored(placement: TablePlacement, tags: readonly (readonly [name: string, value: string])[]): number {
  const set = { table: placement.table, names: tags.map(([name]) => name), values: tags.map(([, value]) => value) };
  return shardOf(placement, markOf(placement, tagTextsOf(set, placement)), placement.spans[0]?.spread ?? 0);
}

function schemaIn(machine: Machine, name: string): TableSchema {
  const schema = machine.engine.table("public", name)?.schema;
  if (schema === undefined) throw new Error(`no table ${name}`);
  return schema;
}

const splitterOf = (machine: Machine): BatchSplitter => new BatchSplitter(SHARDS, (_, table) => schemaIn(machine, table));

test("of an ordinary table, also once it has another tag", async () => {
  const machine = await Machine.start();
  const lines = Array.from({ length: 100 }, (_, i) => `cpu,host=h${i}${i % 3 === 0 ? "" : `,zone=z${i % 7}`} v=1 ${i}`);
  const options = { database: "public", schemas: machine.engine, precision: "ns", defaultTimeNanos: 0n, timeColumn: "ts" } as const;
  const { batch } = new InfluxDecoder().decode(new TextEncoder().encode(lines.join("\n")), options);
  await machine.engine.write("public", batch, { autoCreate: true, tableOptions: {} });
  const shards = sent(splitterOf(machine).split("public", batch, 0));
  expect([shards.size, new Set(shards.values()).size]).toEqual([100, 4]);
  const rack = {
    name: "rack",
    type: { kind: "string" },
    semantic: "tag",
    nullable: true,
    default: { kind: "literal", value: "r" },
  } as const;
  await machine.engine.alterTable("public", "cpu", { kind: "add-columns", columns: [rack], ifNotExists: false });
  await machine.crash();
  expect(
    splitterOf(machine)
      .split("public", batch, 1)
      .map(({ shard }) => shard),
  ).toEqual([...new Set(shards.values())].sort((a, b) => a - b));
  const table = machine.engine.table("public", "cpu");
  let seen = 0;
  for (let series = 0; series < (table?.series.count ?? 0); series++) {
    const tags: [string, string][] = [];
    for (const name of ["host", "zone", "rack"]) {
      const value = table?.series.tagOf(name, series);
      if (value !== undefined) tags.push([name, value]);
    }
    expect(tags.at(-1)).toEqual(["rack", "r"]);
    const before = shards.get(tagsText("cpu", tags.slice(0, -1)));
    expect(stored(placementOf(schemaIn(machine, "cpu"), SHARDS), tags)).toBe(before ?? -1);
    seen++;
  }
  expect(seen).toBe(100);
});

test("of logical tables, also once there are other labels", async () => {
  const machine = await Machine.start();
  const samples = Array.from({ length: 120 }, (_, i) => ({
    metric: `m${i % 5}`,
    labels: i % 2 === 0 ? { job: `j${i}`, zone: "z" } : { pod: `p${i}` },
    time: i,
    value: i,
  }));
  const batch = metricBatch(samples);
  const options = { autoCreate: true, tableOptions: {}, physicalTable: DEFAULT_PHYSICAL_TABLE };
  await machine.engine.write("public", batch, options);
  const shards = sent(splitterOf(machine).split("public", batch, 0));
  expect(shards.size).toBe(120);
  expect(new Set(shards.values()).size).toBe(SHARDS);
  await machine.engine.write("public", metricBatch([{ metric: "m0", labels: { another: "a" }, time: 1, value: 1 }]), options);
  await machine.crash();
  const physical = schemaIn(machine, DEFAULT_PHYSICAL_TABLE);
  const logical = new Map([0, 1, 2, 3, 4].map((m) => [String(schemaIn(machine, `m${m}`).id), schemaIn(machine, `m${m}`)] as const));
  const { series } = machine.engine.table("public", DEFAULT_PHYSICAL_TABLE) ?? {};
  let seen = 0;
  for (let s = 0; s < (series?.count ?? 0); s++) {
    const labels: [string, string][] = [];
    series?.eachTagOf?.(s, (name, value) => void labels.push([name, value]));
    expect(labels[0]?.[0]).toBe(TABLE_ID_COLUMN);
    const schema = logical.get(labels.shift()?.[1] ?? "");
    if (schema === undefined || labels[0]?.[0] === "another") continue;
    expect(physicalTableOf(schema)).toBe(DEFAULT_PHYSICAL_TABLE);
    expect(stored(logicalPlacementOf(schema, physical, SHARDS), labels)).toBe(shards.get(tagsText(schema.name, labels)) ?? -1);
    seen++;
  }
  expect(seen).toBe(120);
});
