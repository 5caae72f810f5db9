/**
 * Columns of a client → a `WriteBatch`, as they are: nothing is made for a row alone. For protocols that send columns of the table's own
 * types; `row-intake.ts` is for those whose values are to be cast.
 */
import { plainText } from "../../column/coded-text.ts";
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { CHUNK_TIME_SPAN_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { TimeUnit } from "../../column/data-type.ts";
import { slice } from "../../column/slice.ts";
import { type AnyTimes, isTimes } from "../../column/times.ts";
import type { BytesVector, DictionaryVector, TimeVector, Vector } from "../../column/vector.ts";
import type { ColumnDefinition } from "../schema.ts";
import type { TableWrite, WriteBatch } from "../write-batch.ts";
import { TagColumns } from "./tag-columns.ts";

/** A column that batches have, in the order of their vectors. */
export type WrittenColumn = Pick<ColumnDefinition, "name" | "type" | "semantic">;

const encoder = new TextEncoder();

/** Makes batches of one table; one at a time is valid. */
export class ColumnWrites {
  private readonly table: string;
  private readonly columns: readonly WrittenColumn[];
  private readonly timePosition: number;
  private readonly timeUnit: TimeUnit;
  private readonly tags: TagColumns;
  private readonly shape: readonly ColumnDefinition[] | undefined;

  /**
   * @param columns exactly one is the time index
   * @param isNew whether the table is made of these columns where it does not exist
   */
  constructor(table: string, columns: readonly WrittenColumn[], isNew = false) {
    this.shape = isNew ? columns.map((column) => ({ ...column, nullable: column.semantic !== "timestamp" })) : undefined;
    this.table = table;
    this.columns = columns;
    this.timePosition = columns.findIndex(({ semantic }) => semantic === "timestamp");
    const type = columns[this.timePosition]?.type;
    assert(type?.kind === "timestamp", `one column of ${table} is its time index`);
    this.timeUnit = type.unit;
    const tags = columns.flatMap(({ name, type: own, semantic }, position) => (semantic === "tag" ? [{ name, type: own, position }] : []));
    this.tags = new TagColumns(table, tags);
  }

  /**
   * The rows of some vectors, one a column, each of its column's type. What it gives may lie on them.
   *
   * @throws DbError InvalidArguments for a time that is NULL
   */
  batch(vectors: readonly Vector[], rowCount: number): WriteBatch {
    const times = vectors[this.timePosition];
    assert(times !== undefined && isTimes(times), `times of the time index of ${this.table}`);
    if (times.validity?.subarray(0, rowCount).includes(0) === true) {
      const { name = "" } = this.columns[this.timePosition] ?? {};
      throw new DbError(StatusCode.InvalidArguments, `cannot write to ${this.table}: the time index ${name} is NULL in some rows`);
    }
    const keys = this.tags.keysOf(vectors, rowCount);
    const fields = this.columns.flatMap(({ name, type, semantic }, i) => {
      const vector = vectors[i];
      return semantic !== "field" || vector === undefined ? [] : [{ name, type, vector: withoutDictionary(vector, rowCount) }];
    });
    const tables = nearTimes(times, rowCount).map(({ from, to, times: part }): TableWrite => {
      const isAll = to - from === rowCount;
      return {
        table: this.table,
        ...(this.shape === undefined ? {} : { shape: this.shape }),
        rowCount: to - from,
        keys: keys.subarray(from, to),
        timeUnit: this.timeUnit,
        times: part,
        fields: isAll ? fields : fields.map(({ vector, ...field }) => ({ ...field, vector: slice(vector, from, to) })),
      };
    });
    return { dictionary: this.tags.dictionary, tables };
  }
}

/** Rows whose times lie near enough to each other for one write. */
interface NearTimes {
  readonly from: number;
  readonly to: number;
  readonly times: TimeVector;
}

function nearTimes(times: AnyTimes, rowCount: number): readonly NearTimes[] {
  if (times.kind === "time" && isNear(times.offsets, rowCount))
    return [{ from: 0, to: rowCount, times: { ...times, validity: undefined } }];
  const parts: NearTimes[] = [];
  const timeAt = (row: number): bigint =>
    times.kind === "time" ? times.base + BigInt(times.offsets[row] as number) : (times.values[row] as bigint);
  const offsets = new Float64Array(rowCount);
  for (let from = 0; from < rowCount; ) {
    const base = timeAt(from);
    let to = from;
    for (; to < rowCount; to++) {
      const offset = Number(timeAt(to) - base);
      if (Math.abs(offset) >= CHUNK_TIME_SPAN_MAX) break;
      offsets[to] = offset;
    }
    parts.push({ from, to, times: { kind: "time", base, offsets: offsets.subarray(from, to), validity: undefined } });
    from = to;
  }
  return parts;
}

function isNear(offsets: Float64Array, rowCount: number): boolean {
  for (let row = 0; row < rowCount; row++) if (Math.abs(offsets[row] as number) >= CHUNK_TIME_SPAN_MAX) return false;
  return true;
}

/** Texts as bytes: fields are never dictionaries. */
function withoutDictionary(vector: Vector, rowCount: number): Vector {
  if (vector.kind === "coded") return plainText(vector, rowCount);
  return vector.kind === "dictionary" ? textsOf(vector, rowCount) : vector;
}

function textsOf({ codes, dictionary }: DictionaryVector, rowCount: number): BytesVector {
  const texts = new Map<number, Uint8Array>();
  const validity = new Uint8Array(rowCount);
  const offsets = new Uint32Array(rowCount + 1);
  let length = 0;
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] as number;
    let text = texts.get(code);
    if (text === undefined) {
      text = encoder.encode(dictionary[code] ?? "");
      texts.set(code, text);
    }
    if (dictionary[code] !== undefined) validity[row] = 1;
    length += text.length;
    offsets[row + 1] = length;
  }
  const bytes = new Uint8Array(length);
  for (let row = 0; row < rowCount; row++) bytes.set(texts.get(codes[row] as number) as Uint8Array, offsets[row]);
  return { kind: "bytes", offsets, bytes, validity };
}
