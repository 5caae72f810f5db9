/**
 * Collects rows of one table whose columns are found while they come: for decoders of logs and of documents. A column that a row does not
 * set is NULL in it. Text goes from the body's bytes to the column's bytes without a JavaScript string.
 *
 *   begin(time, key) ─► field(name, type).set… ─► begin … ─► writes()
 */
import { longer } from "../../base/bytes/longer-array.ts";
import { invalidArguments } from "../../base/error.ts";
import { fnv1a } from "../../base/bytes/hash.ts";
import { CHUNK_TIME_SPAN_MAX } from "../../base/limits.ts";
import { type DataType, displayName, sameType, type TimeUnit } from "../../column/data-type.ts";
import { type Cells, cellsOf, type FieldCells, type RowCount } from "../field-cells.ts";
import type { ColumnDefinition } from "../schema.ts";
import type { SeriesDictionary } from "../series-dictionary.ts";
import type { FieldWrite, TableWrite } from "../write-batch.ts";

export type { FieldCells } from "../field-cells.ts";

const encoder = new TextEncoder();

/**
 * The key of a tag set in a dictionary, added when it is new. Names are distinct; empty values must be left out by the caller. The lists
 * are borrowed: who reads a million rows fills the same ones again.
 */
export function tagKey(dictionary: SeriesDictionary, table: string, names: readonly string[], values: readonly string[]): number {
  let raw = table;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const value = values[i] as string;
    raw += `\0${name.length}:${name}${value.length}:${value}`;
  }
  const bytes = encoder.encode(raw);
  const hash = fnv1a(bytes, 0, bytes.length);
  const known = dictionary.find(bytes, 0, bytes.length, hash);
  return known >= 0 ? known : dictionary.add(bytes, 0, bytes.length, hash, { table, names: [...names], values: [...values] });
}

/** See the file header. Memory is bounded by the body that is decoded. */
export class RowCollector {
  readonly table: string;
  private readonly timeUnit: TimeUnit;
  private readonly count: RowCount = { rows: 0 };
  private readonly columns: Map<string, Cells> = new Map();
  private keys: Uint32Array<ArrayBuffer> = new Uint32Array(256);
  /** Time of each row, counted from the base of its part. */
  private offsets: Float64Array<ArrayBuffer> = new Float64Array(256);
  /** Rows whose times are near enough to each other for one write, by their first row. */
  private readonly parts: { readonly start: number; readonly base: bigint }[] = [];
  private base = 0n;
  private lastTime: bigint | undefined;
  private lastOffset = 0;

  constructor(table: string, timeUnit: TimeUnit) {
    this.table = table;
    this.timeUnit = timeUnit;
  }

  /** Rows begun. */
  get rowCount(): number {
    return this.count.rows;
  }

  /** Begins a row. `time` in the unit of the collector, `key` of its tags in the batch's dictionary. */
  begin(time: bigint, key: number): void {
    const row = this.count.rows++;
    if (row === this.keys.length) {
      this.keys = longer(this.keys);
      this.offsets = longer(this.offsets);
    }
    if (time !== this.lastTime) this.moveTo(time, row);
    this.offsets[row] = this.lastOffset;
    this.keys[row] = key;
  }

  /** Type of a column that some row set. */
  typeOf(name: string): DataType | undefined {
    return this.columns.get(name)?.type;
  }

  /** The column of a name. @throws DbError InvalidArguments when it was asked for with another type before */
  field(name: string, type: DataType): FieldCells {
    let cells = this.columns.get(name);
    if (cells === undefined) {
      cells = cellsOf(name, type, this.count);
      this.columns.set(name, cells);
    } else if (cells.type !== type && !sameType(cells.type, type)) {
      const types = `expected datatype: ${displayName(cells.type)}, actual datatype: ${displayName(type)}`;
      throw invalidArguments(`Column datatype mismatch. For column: ${name}, ${types}`);
    }
    return cells;
  }

  /** All rows; several writes when their times are too far apart for one. `shape` as in `TableWrite`. The collector is used up. */
  writes(shape?: readonly ColumnDefinition[]): TableWrite[] {
    return this.parts.map(({ start, base }, i): TableWrite => {
      const end = this.parts[i + 1]?.start ?? this.count.rows;
      const fields = [...this.columns.values()].map((cells): FieldWrite => {
        return { name: cells.name, type: cells.type, vector: cells.vector(start, end) };
      });
      return {
        table: this.table,
        rowCount: end - start,
        keys: this.keys.subarray(start, end),
        timeUnit: this.timeUnit,
        times: { kind: "time", base, offsets: this.offsets.subarray(start, end), validity: undefined },
        fields,
        ...(shape === undefined ? {} : { shape }),
      };
    });
  }

  private moveTo(time: bigint, row: number): void {
    let offset = Number(time - this.base);
    if (row === 0 || !(Math.abs(offset) < CHUNK_TIME_SPAN_MAX)) {
      this.parts.push({ start: row, base: time });
      this.base = time;
      offset = 0;
    }
    this.lastTime = time;
    this.lastOffset = offset;
  }
}
