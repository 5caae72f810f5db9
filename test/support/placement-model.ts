/** Where a row lies, found out the slow way, from what README.md of `src/table/shards` says alone: for tests of placement and splitting. */
import { assert } from "../../src/base/assert.ts";
import { fnv1a } from "../../src/base/bytes/hash.ts";
import { tableId } from "../../src/base/units.ts";
import { type DataType, FLOAT64, STRING, TIMESTAMP_MILLISECOND, type TimeUnit, UNITS_PER_SECOND } from "../../src/column/data-type.ts";
import { METRIC_ENGINE, physicalTableOf } from "../../src/table/metric.ts";
import { type ColumnSchema, type PartitionTest, type TableSchema, timeIndexOf } from "../../src/table/schema.ts";
import { SeriesDictionary, type TagSet, type TagShape } from "../../src/table/series-dictionary.ts";
import { tagText, tagValue } from "../../src/table/tag-value.ts";

/** What a row is placed by. */
export interface PlacedRow {
  readonly tags: Omit<TagSet, "table">;
  /** In `unit`. */
  readonly time: bigint;
  readonly unit: TimeUnit;
}

/** The shard of a row of a table; of a logical one with the physical table that it lies on. */
export function modelShard(schema: TableSchema, row: PlacedRow, shards: number, physical?: TableSchema): number {
  const carrier = physical ?? schema;
  const base = finalMix(BigInt(carrier.id)) % BigInt(shards);
  if (physical !== undefined) return Number((base + labelsHash(schema, row, physical)) % BigInt(shards));
  const texts = textsOf(schema, row);
  const spread = BigInt(Math.min(shards, spreadAt(schema, row)));
  const { partitions } = schema;
  const byTags = partitions?.columns.every((name) => schema.primaryKey.includes(name)) === true;
  if (byTags && partitions.tests !== undefined && partitions.tests.length > 0) {
    const rule = partitions.tests.findIndex((test) => isTrue(test, schema, texts));
    return Number((base + BigInt(Math.max(0, rule))) % BigInt(shards));
  }
  let sum = 0n;
  for (const column of schema.columns) {
    if (column.semantic !== "tag" || (byTags && !partitions.columns.includes(column.name))) continue;
    const text = texts.get(column.name);
    if (text === undefined || text === literal(column, column.initial ?? column.default)) continue;
    sum += hash(text, column.id);
  }
  return Number((base + (finalMix(sum) % spread)) % BigInt(shards));
}

function labelsHash({ id }: TableSchema, { tags }: PlacedRow, physical: TableSchema): bigint {
  let sum = hash(String(id), 0x7fff_ff00);
  for (const [i, name] of tags.names.entries()) {
    sum += hash(tags.values[i] ?? "", physical.columns.find((column) => column.name === name)?.id ?? Number.NaN);
  }
  return finalMix(sum);
}

function textsOf(schema: TableSchema, { tags }: PlacedRow): Map<string, string | undefined> {
  const texts = new Map(schema.columns.map((column) => [column.name, literal(column, column.default)] as const));
  for (const name of tags.nulls ?? []) texts.set(name, undefined);
  for (const [i, name] of tags.names.entries()) texts.set(name, canonical(tags.values[i] ?? "", typeOf(schema, name)));
  return texts;
}

function spreadAt(schema: TableSchema, { time, unit }: PlacedRow): number {
  const { spreads, partitions, options } = schema;
  if (partitions !== undefined) return Math.max(1, partitions.rules.length);
  const { type } = timeIndexOf(schema);
  const own = type.kind === "timestamp" ? UNITS_PER_SECOND[type.unit] : Number.NaN;
  const scaled = floorDivide(time * BigInt(own), BigInt(UNITS_PER_SECOND[unit]));
  return spreads?.findLast(({ from }) => from === undefined || from <= scaled)?.spread ?? Number(options["spread"] ?? 4);
}

function isTrue(test: PartitionTest, schema: TableSchema, texts: ReadonlyMap<string, string | undefined>): boolean {
  if (test.kind === "all") return test.of.every((one) => isTrue(one, schema, texts));
  if (test.kind === "any") return test.of.some((one) => isTrue(one, schema, texts));
  const type = typeOf(schema, test.column);
  const [a, b] = [valueOf(texts.get(test.column), type), valueOf(test.text, type)];
  if (a === undefined || b === undefined) return false;
  return { "=": a === b, "<>": a !== b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b }[test.operator];
}

function valueOf(text: string | undefined, type: DataType): number | string | undefined {
  return text === undefined || type.kind === "string" ? text : Number(text);
}

function typeOf(schema: TableSchema, name: string): DataType {
  return schema.columns.find((column) => column.name === name)?.type ?? STRING;
}

function literal({ type }: ColumnSchema, value: ColumnSchema["default"]): string | undefined {
  return value?.kind === "literal" && value.value !== "" ? tagText(value.value, type) : undefined;
}

function canonical(text: string, type: DataType): string | undefined {
  const value = tagValue(text, type);
  return value.ok ? tagText(value.value, type) : "no value";
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return quotient * b > a ? quotient - 1n : quotient;
}

/** By the runtime's own MurmurHash3. */
function hash(text: string, seed: number): bigint {
  return BigInt(Bun.hash.murmur32v3(text, seed));
}

function finalMix(sum: bigint): bigint {
  let mixed = BigInt.asUintN(32, sum);
  mixed = BigInt.asUintN(32, (mixed ^ (mixed >> 16n)) * 0x85ebca6bn);
  mixed = BigInt.asUintN(32, (mixed ^ (mixed >> 13n)) * 0xc2b2ae35n);
  return mixed ^ (mixed >> 16n);
}

/** A tag column. */
export type TagPart = Pick<ColumnSchema, "id" | "name"> & Partial<ColumnSchema>;

/** A schema with these tags, a time index in milliseconds and a field. */
export function placedSchema(name: string, id: number, tags: readonly TagPart[], more: Partial<TableSchema> = {}): TableSchema {
  const time = { id: 1, name: "ts", type: TIMESTAMP_MILLISECOND, semantic: "timestamp", nullable: false } as const;
  const field = { id: 2, name: "v", type: FLOAT64, semantic: "field", nullable: true } as const;
  return {
    id: tableId(id),
    version: 1,
    database: "public",
    name,
    engine: "mito",
    options: {},
    primaryKey: tags.map((tag) => tag.name),
    columns: [time, field, ...tags.map((tag) => ({ type: STRING, semantic: "tag", nullable: true, ...tag }) as const)],
    ...more,
  };
}

/** A physical table with these labels. */
export function physicalSchema(name: string, id: number, labels: readonly TagPart[]): TableSchema {
  return placedSchema(name, id, labels, { engine: METRIC_ENGINE, options: { physical_metric_table: "" } });
}

/** A logical table on one. */
export function logicalSchema(name: string, id: number, physical: string, labels: readonly string[]): TableSchema {
  const tags = labels.map((label, i) => ({ id: i + 3, name: label }));
  return placedSchema(name, id, tags, { engine: METRIC_ENGINE, options: { on_physical_table: physical } });
}

/** The shard of a row of one of these tables, a logical one among them. */
export function modelShardIn(tables: readonly TableSchema[], table: string, row: PlacedRow, shards: number): number {
  const schema = tableOf(tables, table);
  const carrier = physicalTableOf(schema);
  return modelShard(schema, row, shards, carrier === undefined ? undefined : tableOf(tables, carrier));
}

function tableOf(tables: readonly TableSchema[], table: string): TableSchema {
  const schema = tables.find(({ name }) => name === table);
  assert(schema !== undefined, `a table of the test; got ${table}`);
  return schema;
}

/** A dictionary whose keys are the values of their tags one after another, each with a byte before it that no text has. */
export function plainDictionary(): SeriesDictionary {
  return new SeriesDictionary(undefined, (bytes, start, end, _shape, spans, at) => {
    let to = at;
    for (let i = start; i <= end; i++) {
      if (i < end && bytes[i] !== 0xff) continue;
      if (i > start) spans[to++] = i;
      if (i < end) spans[to++] = i + 1;
    }
  });
}

/** Adds a key of tags that all have values to a `plainDictionary`. */
export function plainKey(dictionary: SeriesDictionary, shape: TagShape, values: readonly string[]): number {
  const parts = values.flatMap((value) => [0xff, ...new TextEncoder().encode(value)]);
  const head = new TextEncoder().encode(shape.table);
  const bytes = Uint8Array.from(parts);
  const hash = (fnv1a(bytes, 0, bytes.length) ^ fnv1a(head, 0, head.length)) | 0;
  return dictionary.addPlain(new DataView(bytes.buffer), 0, bytes.length, hash, shape);
}
