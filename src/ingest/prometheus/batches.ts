/** Decoded samples as writes: one a physical table, or one a metric where metrics are ordinary tables. */
import { type DataType, FLOAT64 } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import type { SeriesDictionary } from "../../table/series-dictionary.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import type { SampleRows } from "./sample-rows.ts";
import type { Target } from "./targets.ts";
import type { RemoteWriteBatch, RemoteWriteOptions } from "./types.ts";

const NONE: Readonly<Record<string, string>> = {};

/** What version 2 said of metrics, by metric. */
export type Declared = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** Two words a row: of its value's bits, or of the place where it is. */
export type RowWords = Pick<SampleRows, "count" | "values" | "words">;

/** The column of the values. */
export interface SampleColumn {
  readonly name: string;
  readonly type: DataType;
  readonly kind: RemoteWriteBatch["kind"];
  readonly vectorOf: (rows: RowWords) => Vector;
}

/** The column of samples that are numbers. */
function numbersIn(name: string): SampleColumn {
  return { name, type: FLOAT64, kind: "samples", vectorOf: ({ values }) => ({ kind: "number", values, validity: undefined }) };
}

/**
 * The writes of a target's rows.
 *
 * @param declared rows of metrics of which different things were said become different writes
 */
export function batchesOf(
  { database, physicalTable, dictionary, rows }: Target,
  options: RemoteWriteOptions,
  declared: Declared,
  column: SampleColumn = numbersIn(options.valueColumn),
): RemoteWriteBatch[] {
  const made: RemoteWriteBatch[] = [];
  for (const [said, part] of declared.size === 0 ? [[NONE, rows] as const] : partedRows(rows, dictionary, declared)) {
    const tables = options.metricEngine
      ? [{ ...tableWrite(physicalTable, part, column), tablesOfKeys: true as const }]
      : ordinaryWrites(part, dictionary, options, column);
    made.push({ database, physicalTable, batch: { dictionary, tables }, rowCount: part.count, kind: column.kind, declared: said });
  }
  return made;
}

/** Rows of one write. */
type Rows = Pick<SampleRows, "keys" | "times"> & RowWords;

function tableWrite(table: string, rows: Rows, { name, type, vectorOf }: SampleColumn): TableWrite {
  const { count, keys, times } = rows;
  return {
    table,
    rowCount: count,
    keys,
    timeUnit: "millisecond",
    times: { kind: "time", base: 0n, offsets: times, validity: undefined },
    fields: [{ name, type, vector: vectorOf(rows) }],
  };
}

/** A write a metric. Tags come first in a new table's key, in the order of the request. */
function ordinaryWrites(rows: Rows, dictionary: SeriesDictionary, options: RemoteWriteOptions, column: SampleColumn): TableWrite[] {
  const shape: readonly ColumnDefinition[] = [
    { name: options.timeColumn, type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp", nullable: false },
    { name: column.name, type: column.type, semantic: "field", nullable: true },
  ];
  return grouped(rows, (key) => dictionary.shapeOf(key).table).map(([table, part]) => ({ ...tableWrite(table, part, column), shape }));
}

function partedRows(
  rows: SampleRows,
  dictionary: SeriesDictionary,
  declared: Declared,
): (readonly [Readonly<Record<string, string>>, Rows])[] {
  const said = new Map<string, Readonly<Record<string, string>>>([["", NONE]]);
  const parts = grouped(rows, (key) => {
    const options = declared.get(dictionary.shapeOf(key).table);
    if (options === undefined) return "";
    const text = JSON.stringify(options);
    said.set(text, options);
    return text;
  });
  return parts.map(([text, part]) => [said.get(text) ?? NONE, part] as const);
}

/** Rows by a text that depends on their key alone, in the order in which the texts first occur; bits of values stay. */
function grouped(rows: Rows, textOf: (key: number) => string): (readonly [string, Rows])[] {
  const { count } = rows;
  const groupOfKey = new Map<number, number>();
  const groupOfText = new Map<string, number>();
  const groups = new Uint32Array(count);
  const sizes: number[] = [];
  for (let row = 0; row < count; row++) {
    const key = rows.keys[row] as number;
    let group = groupOfKey.get(key);
    if (group === undefined) {
      const text = textOf(key);
      group = groupOfText.get(text) ?? sizes.length;
      if (group === sizes.length) {
        groupOfText.set(text, group);
        sizes.push(0);
      }
      groupOfKey.set(key, group);
    }
    groups[row] = group;
    sizes[group] = (sizes[group] as number) + 1;
  }
  const parts = sizes.map((size) => {
    const values = new Float64Array(size);
    const words = new Int32Array(values.buffer);
    return { count: 0, keys: new Uint32Array(size), times: new Float64Array(size), values, words };
  });
  for (let row = 0; row < count; row++) {
    const part = parts[groups[row] as number] as (typeof parts)[number];
    const at = part.count++;
    part.keys[at] = rows.keys[row] as number;
    part.times[at] = rows.times[row] as number;
    part.words[2 * at] = rows.words[2 * row] as number;
    part.words[2 * at + 1] = rows.words[2 * row + 1] as number;
  }
  return Array.from(groupOfText, ([text, group]) => [text, parts[group] as Rows] as const);
}
