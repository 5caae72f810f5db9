/** Decoded samples as writes: one a physical table, or one a metric where metrics are ordinary tables. */
import { FLOAT64 } from "../../column/data-type.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import type { SeriesDictionary } from "../../table/series-dictionary.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import type { SampleRows } from "./sample-rows.ts";
import type { Target } from "./targets.ts";
import type { RemoteWriteBatch, RemoteWriteOptions } from "./types.ts";

const NONE: Readonly<Record<string, string>> = {};

/**
 * The writes of a target's rows.
 *
 * @param declared what version 2 said of metrics, by metric; rows of metrics of which different things were said become different writes
 */
export function batchesOf(
  { database, physicalTable, dictionary, rows }: Target,
  options: RemoteWriteOptions,
  declared: ReadonlyMap<string, Readonly<Record<string, string>>>,
): RemoteWriteBatch[] {
  const made: RemoteWriteBatch[] = [];
  for (const [said, part] of declared.size === 0 ? [[NONE, rows] as const] : partedRows(rows, dictionary, declared)) {
    const tables = options.metricEngine
      ? [{ ...tableWrite(physicalTable, part, options), tablesOfKeys: true as const }]
      : ordinaryWrites(part, dictionary, options);
    made.push({ database, physicalTable, batch: { dictionary, tables }, rowCount: part.count, declared: said });
  }
  return made;
}

/** Rows of one write. */
type Rows = Pick<SampleRows, "count" | "keys" | "times" | "values">;

function tableWrite(table: string, { count, keys, times, values }: Rows, { valueColumn }: RemoteWriteOptions): TableWrite {
  return {
    table,
    rowCount: count,
    keys,
    timeUnit: "millisecond",
    times: { kind: "time", base: 0n, offsets: times, validity: undefined },
    fields: [{ name: valueColumn, type: FLOAT64, vector: { kind: "number", values, validity: undefined } }],
  };
}

/** A write a metric. Tags come first in a new table's key, in the order of the request. */
function ordinaryWrites(rows: SampleRows | TakenRows, dictionary: SeriesDictionary, options: RemoteWriteOptions): TableWrite[] {
  const shape: readonly ColumnDefinition[] = [
    { name: options.timeColumn, type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp", nullable: false },
    { name: options.valueColumn, type: FLOAT64, semantic: "field", nullable: true },
  ];
  return grouped(rows, (key) => dictionary.shapeOf(key).table).map(([table, part]) => ({ ...tableWrite(table, part, options), shape }));
}

function partedRows(
  rows: SampleRows,
  dictionary: SeriesDictionary,
  declared: ReadonlyMap<string, Readonly<Record<string, string>>>,
): (readonly [Readonly<Record<string, string>>, TakenRows])[] {
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

/** Rows taken out of others. */
interface TakenRows extends Rows {
  readonly words: Int32Array<ArrayBuffer>;
}

/** Rows by a text that depends on their key alone, in the order in which the texts first occur; bits of values stay. */
function grouped(rows: SampleRows | TakenRows, textOf: (key: number) => string): (readonly [string, TakenRows])[] {
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
  return Array.from(groupOfText, ([text, group]) => [text, parts[group] as TakenRows] as const);
}
