/**
 * Rows a second from a decoder's batch to a batch a shard: `bun src/table/shards/split.bench.ts`.
 *
 * A request has 10,000 rows of 4,000 hosts with ten fields. The first lines have a hash of where rows go, so that a faster splitter that
 * puts them elsewhere shows: it never changes.
 *
 * Measured with Bun 1.4.5 on 2 cores that others use (load 8): ten doubles to 4 shards 0.25 to 0.27 ms, to 16 the same within noise, across
 * a change of spread 0.27 to 0.31; wide integers 0.27 to 0.30; integers of 32 bits 0.17; all in one shard 0.08; ten texts of 20 B 1.4 to
 * 4.5. A tag set that is new costs 0.4 µs where its ten tags lie in the key, 2.3 as an object.
 */
import { measure } from "mitata";
import { FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { tableId } from "../../base/units.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { plainDictionary, plainKey } from "../../../test/support/placement-model.ts";
import { TagKeys } from "../tag-keys.ts";
import type { TableSchema } from "../schema.ts";
import type { WriteBatch } from "../write-batch.ts";
import { BatchSplitter } from "./split-batch.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const ROWS: number = SMALL ? 500 : 10_000;
const HOSTS: number = SMALL ? 100 : 4000;
const TAGS = 10;
const FIELDS = 10;
const SHARDS = 16;
const START = 1_700_000_000_000_000_000n;

const names: readonly string[] = Array.from({ length: TAGS }, (_, c) => `tag_${c}`);

function schemaOf(options: Readonly<Record<string, string>>, spreads?: TableSchema["spreads"]): TableSchema {
  const tags = names.map((name, c) => ({ id: c + 2, name, type: STRING, semantic: "tag", nullable: true }) as const);
  const time = { id: 1, name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false } as const;
  const table = { id: tableId(1030), version: 1, database: "public", name: "cpu", engine: "mito" };
  return { ...table, primaryKey: names, options, columns: [time, ...tags], ...(spreads === undefined ? {} : { spreads }) };
}

function batchOf(vectorAt: (column: number) => Vector, isText = false): WriteBatch {
  const tagKeys = new TagKeys("cpu", names);
  const keys = Uint32Array.from({ length: ROWS }, (_, row) => {
    const host = row % HOSTS;
    return tagKeys.keyOf([`host_${host}`, ...Array.from({ length: TAGS - 1 }, (_tag, c) => `value_${host % (c + 2)}`)]);
  });
  const offsets = Float64Array.from({ length: ROWS }, (_, row) => Math.floor(row / HOSTS) * 10_000_000_000);
  const fields = Array.from({ length: FIELDS }, (_, c) => ({
    name: `field_${c}`,
    type: isText ? STRING : FLOAT64,
    vector: vectorAt(c),
  }));
  const times = { kind: "time", base: START, offsets, validity: undefined } as const;
  const write = { table: "cpu", rowCount: ROWS, keys, timeUnit: "nanosecond", times, fields } as const;
  return { dictionary: tagKeys.dictionary, tables: [write] };
}

const rows: readonly number[] = Array.from({ length: ROWS }, (_, row) => row);
const doubles = batchOf((c) =>
  vectorOf(
    FLOAT64,
    rows.map((row) => Math.imul(row + c, 2_654_435_761) / 1000),
  ),
);
const integers = batchOf((c) => ({
  kind: "number",
  values: Int32Array.from(rows, (row) => (row * 31 + c * 7) % 101),
  validity: undefined,
}));
const wide = batchOf((c) =>
  vectorOf(
    INT64,
    rows.map((row) => BigInt(row + c) << 40n),
  ),
);
const texts = batchOf(
  (c) =>
    vectorOf(
      STRING,
      rows.map((row) => `a text of row ${row}, ${c}`),
    ),
  true,
);
const later = START + 5_000_000_000n;

const CASES: readonly (readonly [name: string, batch: WriteBatch, schema: TableSchema])[] = [
  ["10 doubles, 4 shards", doubles, schemaOf({})],
  ["10 doubles, 16 shards", doubles, schemaOf({ spread: "16" })],
  ["10 integers of 32 bits, 4 shards", integers, schemaOf({})],
  ["10 wide integers, 4 shards", wide, schemaOf({})],
  ["10 texts, 4 shards", texts, schemaOf({})],
  ["10 doubles, a change of spread in between", doubles, schemaOf({ spread: "8" }, [{ spread: 4 }, { from: later, spread: 8 }])],
  ["10 doubles, all in 1 shard", doubles, schemaOf({ spread: "1" })],
];

for (const [name, batch, schema] of CASES) {
  const splitter = new BatchSplitter(SHARDS, () => schema);
  const parts = splitter.split("public", batch, 0);
  let hash = 0;
  for (const part of parts)
    for (const { keys, rowCount } of part.batch.tables) {
      hash = crc32(Uint8Array.of(part.shard), hash);
      hash = crc32(new Uint8Array(keys.slice(0, rowCount).buffer), hash);
    }
  const { p50 } = await measure(
    () => {
      splitter.begin();
      splitter.split("public", batch, 0);
    },
    { min_cpu_time: 400e6, warmup_samples: 5 },
  );
  process.stdout.write(`${name.padEnd(56)}${(p50 / 1e6).toFixed(3)} ms, hash ${hash.toString(16).padStart(8, "0")}\n`);
}
/** The same rows with keys that have the values of their tags, as those of line protocol. */
function plainKeysOf({ dictionary, tables }: WriteBatch): WriteBatch {
  const plain = plainDictionary();
  const shape = { table: "cpu", names };
  const known: number[] = [];
  for (let key = 0; key < dictionary.size; key++) known.push(plainKey(plain, shape, dictionary.tagsOf(key).values));
  return { dictionary: plain, tables: tables.map((write) => ({ ...write, keys: write.keys.map((key) => known[key]!) })) };
}

let epoch = 0;
for (const [name, batch] of [
  ["tags as text in the key", plainKeysOf(doubles)],
  ["tags as objects", doubles],
] as const) {
  const splitter = new BatchSplitter(SHARDS, () => CASES[0]![2]);
  const { p50 } = await measure(
    () => {
      splitter.begin();
      splitter.split("public", batch, epoch++);
    },
    { min_cpu_time: 400e6, warmup_samples: 5 },
  );
  process.stdout.write(`${`10 doubles, ${HOSTS} tag sets new, ${name}`.padEnd(56)}${(p50 / 1e6).toFixed(3)} ms\n`);
}
