/** Changes of tables whose rows are elsewhere: which shards are asked, and what; and what is known of sizes. */
import { expect, test } from "bun:test";
import { failureOf } from "../../../test/support/failure-of.ts";
import { LocalShards, type LocalShardsParts } from "../../../test/support/cluster/local-shards.ts";
import { systemClock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { silentLogger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { tableId } from "../../base/units.ts";
import { FLOAT64, STRING, TIMESTAMP_MILLISECOND } from "../../column/data-type.ts";
import { asked } from "../../query/plan/virtual/asked-tables.ts";
import type { Table, TableStatistics } from "../../table/catalog.ts";
import { RowBatchBuilder } from "../../table/rows/row-batch-builder.ts";
import { ALL_TIME } from "../../table/scan.ts";
import type { TableSchema } from "../../table/schema.ts";
import { markOf, placementOf, shardOf } from "../../table/shards/placement.ts";
import type { ShardCall } from "../wire/shard-request.ts";
import { RemoteTables } from "./remote-tables.ts";

const SHARDS = 5;

const schemaOf = (options: Readonly<Record<string, string>> = {}): TableSchema =>
  ({
    id: tableId(1024),
    database: "public",
    name: "t",
    version: 1,
    engine: "mito",
    columns: [
      { id: 1, name: "ts", type: TIMESTAMP_MILLISECOND, semantic: "timestamp", nullable: false },
      { id: 2, name: "zone", type: STRING, semantic: "tag", nullable: true },
      { id: 3, name: "host", type: STRING, semantic: "tag", nullable: true },
      { id: 4, name: "v", type: FLOAT64, semantic: "field", nullable: true },
    ],
    primaryKey: ["host", "zone"],
    options,
    nextColumnId: 5,
    createdMillis: 0,
  }) as unknown as TableSchema; // Fields that nobody here reads are left out.

interface Elsewhere {
  readonly tables: RemoteTables;
  readonly shards: LocalShards;
  readonly sizes: { rows: number };
  millis: number;
}

function elsewhere(schema: TableSchema, before?: LocalShardsParts["before"]): Elsewhere {
  const sizes = { rows: 1 };
  const statistics = (): TableStatistics => ({ rowCount: sizes.rows, memoryBytes: 0, fileBytes: 0, fileCount: 0, seriesCount: 1 });
  const table = {
    schema,
    statistics,
    timeBounds: () => ({ start: 0n, end: BigInt(sizes.rows) }),
    series: { hasValue: () => false },
    deleteRange: async () => 0,
  } as unknown as Table;
  const shards = new LocalShards({
    shards: SHARDS,
    tableOf: () => table,
    tables: () => [[schema.id, table]],
    change: async () => undefined,
    ...(before === undefined ? {} : { before }),
  });
  const made: Elsewhere = { sizes, shards, millis: 0, tables: undefined as unknown as RemoteTables };
  const tables = new RemoteTables({
    client: shards,
    lanes: [],
    moments: { catalogVersion: () => 7, ownLast: (shard) => shard * 10 },
    clock: { ...systemClock, monotonicMillis: () => made.millis },
    logger: silentLogger,
    schemaOf: (database, name) => (database === "public" && name === "t" ? schema : undefined),
  });
  return Object.assign(made, { tables });
}

const kinds = (asked: readonly unknown[]): readonly string[] =>
  (asked as readonly ShardCall[]).map(({ kind, shard, least, catalogVersion }) => `${kind} ${shard} ${least} ${catalogVersion}`).toSorted();

test("changes of all rows ask the shards that may have some", async () => {
  const schema = schemaOf({ spread: "2" });
  const { tables, shards } = elsewhere(schema);
  const { base } = placementOf(schema, SHARDS);
  const own = [base, (base + 1) % SHARDS];
  await tables.flush(schema);
  await tables.compact(schema, { start: 0n, end: 10n });
  await tables.buildIndexes(schema);
  await tables.truncate(schema, undefined);
  const each = (kind: string): readonly string[] => own.map((shard) => `${kind} ${shard} ${shard * 10} 7`);
  expect(kinds(shards.asked)).toEqual([...each("flush"), ...each("compact"), ...each("build-indexes"), ...each("truncate")].toSorted());
});

test("keys go to the shard of their tags, by place in the key", async () => {
  const schema = schemaOf();
  const { tables, shards } = elsewhere(schema);
  const columns = schema.columns.filter(({ name }) => name !== "v");
  const builder = new RowBatchBuilder("t", columns);
  const rows = Array.from({ length: 40 }, (_, i) => [BigInt(i), i % 3 === 0 ? undefined : `z${i % 3}`, `h${i}`] as const);
  for (const row of rows) builder.add(row);
  expect(await tables.deleteBatch("public", builder.batch())).toEqual({ rowCount: 40 });
  const placement = placementOf(schema, SHARDS);
  const found = (shards.asked as readonly Extract<ShardCall, { kind: "delete-keys" }>[]).flatMap(({ shard, tags, times }) =>
    times.map((time, row) => `${shard} ${tags[0]?.[row]} ${tags[1]?.[row]} ${time}`),
  );
  const wanted = rows.map(([time, zone, host]) => {
    const mark = markOf(placement, [zone, host]);
    return `${shardOf(placement, mark, placement.spans[0]?.spread ?? 0)} ${host} ${zone} ${time}`;
  });
  expect(found.toSorted()).toEqual(wanted.toSorted());
});

test("keys of tables that do not take deletes are refused before anything is asked", async () => {
  const schema = schemaOf({ append_mode: "true" });
  const { tables, shards } = elsewhere(schema);
  const builder = new RowBatchBuilder("t", schema.columns.slice(0, 3));
  builder.add([1n, "z", "h"]);
  expect((await failureOf(tables.deleteBatch("public", builder.batch()))).code).toBe(StatusCode.InvalidArguments);
  const other = new RowBatchBuilder("u", schema.columns.slice(0, 3));
  other.add([1n, "z", "h"]);
  expect((await failureOf(tables.deleteBatch("public", other.batch()))).code).toBe(StatusCode.TableNotFound);
  expect(shards.asked).toHaveLength(0);
});

test("sizes are asked for when they are old, and not more often", async () => {
  const schema = schemaOf();
  const all = elsewhere(schema);
  // It lies on four of the five shards; the other one is asked nothing.
  const table = all.tables.table(schema.id, () => schema);
  expect([table.statistics().rowCount, table.timeBounds()]).toEqual([0, ALL_TIME]);
  await Bun.sleep(0);
  expect([table.statistics().rowCount, table.timeBounds(), all.shards.asked.length]).toEqual([4, { start: 0n, end: 1n }, 4]);
  all.sizes.rows = 2;
  all.millis = 1999;
  expect(table.statistics().rowCount).toBe(4);
  all.millis = 2000;
  expect(table.statistics().rowCount).toBe(4);
  await Bun.sleep(0);
  expect([table.statistics().rowCount, all.shards.asked.length]).toEqual([8, 8]);
  all.sizes.rows = 3;
  await table.refreshed?.("figures");
  expect([table.statistics().rowCount, table.timeBounds()?.end]).toEqual([12, 3n]);
});

test("a shard that does not answer leaves the sizes open of the tables that lie on it", async () => {
  const schema = schemaOf({ spread: "1" });
  const { base } = placementOf(schema, SHARDS);
  const other = { ...schema, id: tableId(1025) };
  expect(placementOf(other, SHARDS).base).not.toBe(base);
  const { tables } = elsewhere(schema, (request) => {
    if (request.shard === base) throw new DbError(StatusCode.StorageUnavailable, "it has no owner");
  });
  const both = [schema, other].map((each) => tables.table(each.id, () => each));
  expect(await asked(both, "figures", new AbortController().signal)).toEqual(new Set([schema.id]));
});

test("a table whose times were asked for first has its schema as it is now", async () => {
  const schema = schemaOf();
  const { tables } = elsewhere(schema);
  expect(await tables.timeBounds(schema)).toEqual({ start: 0n, end: 1n });
  const now = { ...schema, version: 2 };
  expect(tables.table(schema.id, () => now).schema.version).toBe(2);
});

test("many tables of a shard are asked about together", async () => {
  const schema = schemaOf();
  const { tables, shards } = elsewhere(schema);
  const asked = Array.from({ length: 20 }, (_, i) => {
    const own = { ...schema, id: tableId(2000 + i) };
    return tables.table(own.id, () => own);
  });
  await Promise.all(asked.map(async (table) => table.refreshed?.("figures")));
  expect(shards.asked).toHaveLength(SHARDS);
  expect(asked[3]?.statistics().rowCount).toBe(0); // They were not named: they have no rows.
  expect(asked[3]?.timeBounds()).toBeUndefined();
});

test("the same table is given until it is forgotten", () => {
  const schema = schemaOf();
  const { tables } = elsewhere(schema);
  const table = tables.table(schema.id, () => schema);
  expect(tables.table(schema.id, () => schema)).toBe(table);
  tables.forget(schema.id);
  expect(tables.table(schema.id, () => schema)).not.toBe(table);
});
