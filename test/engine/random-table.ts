/**
 * Random tables, rows and scans, all from one seed.
 */
import type { Random } from "../../bench/macro/random.ts";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  DATE,
  FLOAT32,
  FLOAT64,
  INT8,
  INT32,
  INT64,
  JSON_TYPE,
  STRING,
  TIME_NANOSECOND,
  TIMESTAMP_MILLISECOND,
  type TimeUnit,
  UNITS_PER_SECOND,
  UINT32,
  UINT64,
} from "../../src/column/data-type.ts";
import { exactInteger } from "../../src/column/exact-integer.ts";
import { canRetype } from "../../src/value/retype.ts";
import type { Scalar } from "../../src/column/vector.ts";
import { ALL_TIME, type FieldBounds, type FieldCondition, type ScanRequest, type TagPredicate } from "../../src/table/scan.ts";
import type { ColumnDefinition, MergeMode } from "../../src/table/schema.ts";
import { LINE_TYPES } from "./line-text.ts";
import type { ModelRow, TableModel } from "./model.ts";

const MODES: readonly MergeMode[] = ["last_row", "last_non_null", "append"];
const UNITS: readonly TimeUnit[] = ["second", "millisecond", "microsecond", "nanosecond"];
const FIELD_TYPES: readonly DataType[] = [
  FLOAT64,
  FLOAT32,
  INT8,
  INT32,
  INT64,
  UINT32,
  UINT64,
  STRING,
  BINARY,
  BOOLEAN,
  DATE,
  TIMESTAMP_MILLISECOND,
  TIME_NANOSECOND,
  JSON_TYPE,
  { kind: "decimal", precision: 6, scale: 2 },
  { kind: "decimal", precision: 18, scale: 0 },
  { kind: "decimal", precision: 38, scale: 10 },
  { kind: "time", unit: "second" },
  { kind: "vector", dimension: 3 },
];
const INDEXES: readonly string[] = ["SKIPPING INDEX WITH(granularity = '1')", "SKIPPING INDEX", "INVERTED INDEX"];
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
/** 2023-06-11, a time like those that clients send, in seconds. */
const NOW_SECONDS = 1_686_441_600n;
const TICKS: Readonly<Record<TimeUnit, bigint>> = { second: 1n, millisecond: 1000n, microsecond: 1_000_000n, nanosecond: 1_000_000_000n };

/** How far the times of a table's rows lie apart. */
type Spread = "seconds" | "days" | "years" | "extremes";

/** A table to be, and how its rows look. */
export interface RandomTable {
  readonly name: string;
  readonly mode: MergeMode;
  readonly unit: TimeUnit;
  readonly spread: Spread;
  /** Different values of each tag. */
  readonly tagValues: number;
  readonly columns: readonly ColumnDefinition[];
}

/** One of the list. */
export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)]!;
}

/** A table with 0 to 3 tags and 1 to 4 fields. */
export function randomTable(random: Random, name: string, timeName: string): RandomTable {
  const unit = pick(random, UNITS);
  const time: ColumnDefinition = { name: timeName, type: { kind: "timestamp", unit }, semantic: "timestamp", nullable: false };
  const tags = Array.from({ length: random.below(4) }, (_, i) => tagColumn(`tag${i}`));
  const fields = Array.from({ length: 1 + random.below(4) }, (_, i) =>
    indexed(random, fieldColumn(`field${i}`, pick(random, FIELD_TYPES))),
  );
  return {
    name,
    mode: pick(random, MODES),
    unit,
    spread: pick(random, ["seconds", "seconds", "days", "days", "years", "extremes"]),
    tagValues: pick(random, [1, 2, 5, 40, 400]),
    columns: [...tags, time, ...fields],
  };
}

/** A table that line protocol can write: nanoseconds, and fields of its types. */
export function randomLineTable(random: Random, name: string, timeName: string): RandomTable {
  const table = randomTable(random, name, timeName);
  const columns = table.columns.map((column): ColumnDefinition => {
    if (column.semantic === "timestamp") return { ...column, type: { kind: "timestamp", unit: "nanosecond" } };
    return column.semantic === "field" ? { ...column, type: pick(random, LINE_TYPES) } : column;
  });
  return { ...table, columns, unit: "nanosecond", spread: pick(random, ["seconds", "days", "years"]) };
}

/** A nullable text tag. */
function tagColumn(name: string): ColumnDefinition {
  return { name, type: STRING, semantic: "tag", nullable: true };
}

/** A nullable field. */
export function fieldColumn(name: string, type: DataType): ColumnDefinition {
  return { name, type, semantic: "field", nullable: true };
}

/** The field with an index now and then. */
function indexed(random: Random, column: ColumnDefinition): ColumnDefinition {
  const kinds = column.type.kind === "string" ? [...INDEXES, "FULLTEXT INDEX"] : INDEXES;
  return random.below(2) === 0 ? column : { ...column, indexes: [pick(random, kinds)] };
}

/** A type that a column may be given. `isLossless`: no value becomes NULL, which the merge of single fields would show. */
export function randomRetype(random: Random, from: DataType, isLine: boolean, isLossless: boolean): DataType | undefined {
  if (isLossless) return ["int", "float", "boolean"].includes(from.kind) ? STRING : undefined;
  const targets = (isLine ? LINE_TYPES : FIELD_TYPES).filter((to) => canRetype(from, to));
  return targets.length === 0 ? undefined : pick(random, targets);
}

/** A column to add: a tag or a field, with a default or not. */
export function randomColumn(random: Random, number: number): ColumnDefinition {
  if (random.below(4) === 0) {
    const tag = tagColumn(`tag${number}`);
    return random.below(2) === 0 ? tag : { ...tag, default: { kind: "literal", value: `v${random.below(3)}` } };
  }
  const column = fieldColumn(`field${number}`, pick(random, FIELD_TYPES));
  if (random.below(2) === 0) return column;
  return { ...column, default: { kind: "literal", value: randomValue(random, column.type) } };
}

/** Rows for some of the model's columns; all tags, the time, and the named fields. */
export function randomRows(random: Random, table: RandomTable, model: TableModel, fields: readonly string[], count: number): ModelRow[] {
  const nullShare = pick(random, [0, 0, 0.2, 0.8]);
  const step = BigInt(random.below(3)); // Ascending times, as clients send them, or none at all.
  const start = randomTime(random, table);
  return Array.from({ length: count }, (_, i) => {
    const row = new Map<string, Scalar>();
    for (const { name, type, semantic } of model.columns) {
      if (semantic === "timestamp") row.set(name, step === 0n ? randomTime(random, table) : clamp(start + BigInt(i) * step));
      else if (semantic === "tag") row.set(name, random.below(10) === 0 ? undefined : `v${random.below(table.tagValues)}`);
      else if (fields.includes(name)) row.set(name, random.next() < nullShare ? undefined : randomValue(random, type));
    }
    return row;
  });
}

/** A time in the table's unit. Few different ones, so that rows meet. */
function randomTime(random: Random, { unit, spread }: RandomTable): bigint {
  const tick = TICKS[unit];
  const now = NOW_SECONDS * tick;
  switch (spread) {
    case "seconds":
      return now + BigInt(random.below(60));
    case "days":
      return now + BigInt(random.below(40)) * 86_400n * tick + BigInt(random.below(3)) - 1n;
    case "years":
      return (BigInt(random.below(60)) - 10n) * 31_557_600n * tick + BigInt(random.below(3)) - 1n;
    case "extremes": {
      const anchor = pick(random, [INT64_MIN, INT64_MAX, 0n, now, -(2n ** 62n), 64n * 86_400n * tick, -64n * 86_400n * tick]);
      return clamp(anchor + BigInt(random.below(5)) - 2n);
    }
  }
}

function clamp(time: bigint): bigint {
  return time < INT64_MIN ? INT64_MIN : time > INT64_MAX ? INT64_MAX : time;
}

/** A value of a type, often one at the edge of its range. */
export function randomValue(random: Random, type: DataType): Scalar {
  switch (type.kind) {
    case "float": {
      const value = pick(random, [
        0,
        -0,
        1.5,
        -273.15,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        1e-300,
        random.next() * 100,
        random.below(100),
      ]);
      return type.bits === 32 ? Math.fround(value) : value;
    }
    case "int":
      return integer(random, type.bits, type.signed);
    case "boolean":
      return random.below(2) === 0;
    case "date":
      return random.below(40_000) - 10_000;
    case "timestamp":
      return pick(random, [INT64_MIN, INT64_MAX, 0n, ...Array.from({ length: 6 }, () => nearNow(random, type.unit))]);
    case "time":
      return random.below(2) === 0 ? random.below(86_400) : random.below(86_400) * UNITS_PER_SECOND[type.unit];
    case "decimal":
      return decimal(random, type.precision);
    case "json":
      return pick(random, ["{}", "null", `{"a":${random.below(5)}}`, '["Grüße 🐟"]']);
    case "vector":
      return Uint8Array.from({ length: type.dimension * 4 }, () => random.below(256));
    case "binary":
      return Uint8Array.from({ length: random.below(5) }, () => random.below(256));
    default:
      return pick(random, ["", "a", "Grüße 🐟", "x".repeat(random.below(300)), `text ${random.below(20)}`]);
  }
}

function nearNow(random: Random, unit: TimeUnit): bigint {
  return NOW_SECONDS * TICKS[unit] + BigInt(random.below(1_000_000)) - 500_000n;
}

function integer(random: Random, bits: number, signed: boolean): Scalar {
  const min = signed ? -(2n ** BigInt(bits - 1)) : 0n;
  const max = 2n ** BigInt(signed ? bits - 1 : bits) - 1n;
  const value = pick(random, [min, max, 0n, 1n, BigInt(random.below(100)), BigInt(random.below(100)), BigInt(random.below(60_000)) - 100n]);
  const within = value < min ? min : value > max ? max : value;
  const small = Number(within);
  return Number.isSafeInteger(small) ? small : within;
}

/** An unscaled value. */
function decimal(random: Random, digits: number): Scalar {
  const most = 10n ** BigInt(digits) - 1n;
  return exactInteger(
    pick(random, [most, -most, 0n, BigInt(random.below(100)), BigInt(random.below(100)), BigInt(random.below(60_000)) - 100n]),
  );
}

/** A scan of the model's columns with everything that a scan can ask for. */
export function randomScan(random: Random, table: RandomTable, model: TableModel): ScanRequest {
  const names = model.columns.map(({ name }) => name);
  const projection = random.below(3) === 0 ? names : random.sample(random.below(names.length + 1), names.length).map((i) => names[i]!);
  const limit = random.below(5) === 0 ? { limit: 1 + random.below(40) } : {};
  const newest = random.below(5) === 0 ? { newestPerSeries: true } : {};
  return {
    projection,
    timeRange: randomRange(random, table),
    tagPredicates: model.tagNames.filter(() => random.below(4) === 0).map((name) => randomPredicate(random, table, name)),
    fieldBounds: random.below(5) === 0 ? randomBounds(random, model) : [],
    ...(random.below(4) === 0 ? { fieldConditions: randomConditions(random, model) } : {}),
    order: pick(random, ["none", "series-time", "listed"]),
    ...limit,
    ...newest,
  };
}

function randomRange(random: Random, table: RandomTable): ScanRequest["timeRange"] {
  if (random.below(2) === 0) return ALL_TIME;
  const [a, b] = [randomTime(random, table), randomTime(random, table)];
  return a < b ? { start: a, end: b + BigInt(random.below(2)) } : { start: b, end: a + BigInt(random.below(2)) };
}

function randomPredicate(random: Random, table: RandomTable, column: string): TagPredicate {
  const value = (): string | undefined => (random.below(5) === 0 ? undefined : `v${random.below(table.tagValues + 1)}`);
  if (random.below(2) === 0) return { kind: "in", column, values: [value(), value()] };
  const refused = value();
  return { kind: "test", column, test: (tag) => tag !== refused };
}

function randomBounds(random: Random, model: TableModel): FieldBounds[] {
  const numbers = model.columns.filter(({ type, semantic }) => semantic === "field" && ["int", "float", "decimal"].includes(type.kind));
  if (numbers.length === 0) return [];
  const low = random.below(100) - 10;
  return [
    {
      column: pick(random, numbers).name,
      min: random.below(3) === 0 ? undefined : low,
      max: random.below(3) === 0 ? undefined : low + random.below(50),
    },
  ];
}

/** Conditions on fields of any type with values such as rows have. */
function randomConditions(random: Random, model: TableModel): FieldCondition[] {
  const fields = model.columns.filter(({ semantic }) => semantic === "field");
  const one = (): FieldCondition => {
    const { name: column, type } = pick(random, fields);
    const value = (): Scalar => randomValue(random, type);
    const dice = random.below(type.kind === "string" ? 4 : 3);
    if (dice === 0) return { kind: "in", column, values: [value(), value()] };
    if (dice === 1)
      return { kind: "range", column, min: random.below(3) === 0 ? undefined : value(), max: random.below(2) === 0 ? undefined : value() };
    if (dice === 2) return { kind: random.below(2) === 0 ? "all" : "any", of: [{ kind: "in", column, values: [value()] }, one()] };
    const text = pick(random, ["text", "text 7", "ext 1", "xxxx", "Grüße"]);
    return { kind: "text", column, part: { text, wholeStart: false, wholeEnd: false, lowered: false } };
  };
  return fields.length === 0 ? [] : Array.from({ length: 1 + random.below(2) }, one);
}
