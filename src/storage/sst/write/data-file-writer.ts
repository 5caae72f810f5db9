/**
 * Sorted rows of one time window to one data file: the columns of the schema, the series index and the footer keys (FORMAT.md).
 *
 *   create ─► append a row group ─► … ─► finish (durable) | abort
 */
import { plainText } from "../../../column/coded-text.ts";
import { assert } from "../../../base/assert.ts";
import type { DataType } from "../../../column/data-type.ts";
import { type TextTable, textAt } from "../../../column/text-table.ts";
import type { NumberArray, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { ColumnInput, ParquetColumn, WrittenFile } from "../../../format/parquet/types.ts";
import { ParquetWriter } from "../../../format/parquet/writing/writer.ts";
import type { TableSchema } from "../../../table/schema.ts";
import type { FileStore, FileWriter } from "../../file-store/file-store.ts";
import { COLUMN_INDEX_BLOB, encodeDirectory } from "../../index/directory-codec.ts";
import { indexSpecsOf } from "../../index/index-spec.ts";
import { IndexWriter } from "../../index/index-writer.ts";
import { takeRows } from "../../../column/take-rows.ts";
import { type TagColumnView, tagScalar } from "../../series/series-ranks.ts";
import { encodeTombstones, TOMBSTONE_BLOB } from "../series/tombstone-blob.ts";
import type { TombstoneSet } from "../../tombstone/tombstone-set.ts";
import { type DataFile, dataFileName } from "../data-file.ts";
import { isLabelColumn } from "../label-columns.ts";
import { encodeSeriesIndex, SERIES_INDEX_BLOB, type SeriesIndex } from "../series/series-index.ts";
import { encodeSections, isSectioned, SERIES_SECTIONS_BLOB } from "../series/series-sections.ts";

/** What a file deletes, and the tag columns of the set's series, in key order. */
export interface TaggedTombstones {
  readonly set: TombstoneSet;
  readonly tags: readonly TagColumnView[];
}

/** See the file header. Exactly one of `finish` and `abort` ends it. */
export class DataFileWriter {
  private readonly schema: TableSchema;
  private readonly id: number;
  private readonly name: string;
  private readonly target: FileWriter;
  private readonly writer: ParquetWriter;
  private readonly indexes: IndexWriter;

  private constructor(schema: TableSchema, id: number, name: string, target: FileWriter, bareSeconds: ReadonlySet<number>) {
    this.schema = schema;
    this.id = id;
    this.name = name;
    this.target = target;
    const columns = schema.columns.map(
      (column): ParquetColumn => ({
        name: column.name,
        type: column.type,
        nullable: column.semantic === "field",
        role: column.semantic === "timestamp" ? "time" : column.semantic,
        isUnpaged: isLabelColumn(schema, column),
        bloom: column.semantic === "tag" && column.type.kind === "string",
        bareSeconds: bareSeconds.has(column.id),
      }),
    );
    this.writer = new ParquetWriter(columns, target);
    this.indexes = new IndexWriter(indexSpecsOf(schema), (bytes) => this.writer.addBytes(bytes).offset);
  }

  /**
   * Starts the file of this id.
   *
   * @param folder as of `tableFolder`
   * @param bareSeconds ids of columns with seconds that milliseconds cannot hold, where the first row group need not show it
   * @throws DbError StorageUnavailable
   */
  static async create(
    schema: TableSchema,
    id: number,
    store: FileStore,
    folder?: string,
    bareSeconds: ReadonlySet<number> = new Set(),
  ): Promise<DataFileWriter> {
    const name = dataFileName(schema.id, id, folder);
    return new DataFileWriter(schema, id, name, await store.create(name), bareSeconds);
  }

  /** Writes rows, one input a column of the schema; `seriesEnds` are the row ends of their series. @throws DbError */
  append(rowCount: number, inputs: readonly ColumnInput[], seriesEnds: Uint32Array): void {
    const pageEnds = this.writer.append(rowCount, inputs, seriesEnds);
    this.indexes.append(pageEnds, (position) => {
      const input = inputs[position];
      const type = this.schema.columns[position]?.type;
      assert(input !== undefined && input.kind !== "runs" && input.kind !== "coded" && type !== undefined, "an index is on a field");
      return { vector: input, type };
    });
  }

  /** Makes the file durable. It has rows, tombstones or both. @throws DbError StorageUnavailable; call `abort` then */
  async finish(index: SeriesIndex, sequence: number, tombstones?: TaggedTombstones): Promise<DataFile> {
    const { schema, id, name } = this;
    if (isSectioned(index)) {
      this.writer.addBlob(
        SERIES_SECTIONS_BLOB,
        encodeSections(index, (bytes) => this.writer.addBytes(bytes).offset),
      );
    } else this.writer.addBlob(SERIES_INDEX_BLOB, encodeSeriesIndex(index));
    if (tombstones !== undefined) {
      this.writer.addBlob(TOMBSTONE_BLOB, encodeTombstones(tombstones.set, tombstones.tags));
    }
    const entries = this.indexes.finish();
    if (entries.length > 0) this.writer.addBlob(COLUMN_INDEX_BLOB, encodeDirectory(entries));
    const ids = Object.fromEntries(schema.columns.map((column) => [column.name, column.id]));
    const written = this.writer.finish({
      "varve.table": String(schema.id),
      "varve.columns": JSON.stringify(ids),
      "varve.sequence": String(sequence),
    });
    const rowCount = index.ends.at(-1) ?? 0;
    assert(written.rowCount === rowCount, `rows written = ${rowCount}; got ${written.rowCount}`);
    const range = timeRange(written, tombstones?.set);
    const byteLength = await this.target.finish();
    return {
      id,
      name,
      rowCount: written.rowCount,
      byteLength,
      minTime: range.min,
      maxTime: range.max,
      sequence,
      schemaVersion: schema.version,
      crc: written.crc,
      ...(tombstones === undefined ? {} : { tombstones: { count: tombstones.set.count, rowCount: tombstones.set.rowCount } }),
    };
  }

  /** Gives up; nothing of the file stays. */
  abort(): Promise<void> {
    return this.target.abort();
  }
}

/** Oldest and newest time of rows and tombstones. */
function timeRange({ timeMin, timeMax }: WrittenFile, set: TombstoneSet | undefined): { readonly min: bigint; readonly max: bigint } {
  const deleted = set?.range();
  const times: bigint[] = [];
  if (timeMin !== undefined && timeMax !== undefined) times.push(timeMin, timeMax);
  if (set !== undefined && deleted !== undefined) times.push(set.base + BigInt(deleted.min), set.base + BigInt(deleted.max));
  const [first] = times;
  assert(first !== undefined, "a file has rows or tombstones");
  let [min, max] = [first, first];
  for (const time of times) {
    if (time < min) min = time;
    if (time > max) max = time;
  }
  return { min, max };
}

/** Tags of runs as the writer takes them: run r is rows `[ends[r - 1] ?? 0, ends[r])` and has the value `codes[r]` of `texts`. */
export function tagInput(type: DataType, texts: TextTable, codes: Uint32Array, ends: Uint32Array): ColumnInput {
  return type.kind === "string" ? { kind: "runs", ends, codes, texts } : fieldInput(typedTags(type, texts, codes, ends), ends.at(-1) ?? 0);
}

/** Field values of so many rows as the writer takes them. */
export function fieldInput(vector: Vector, rowCount: number): ColumnInput {
  if (vector.kind === "coded") return plainText(vector, rowCount);
  assert(vector.kind !== "dictionary", "a field is never a dictionary vector");
  return vector;
}

/** Tags of another type than text, one value a row. */
function typedTags(type: DataType, texts: TextTable, codes: Uint32Array, ends: Uint32Array): Vector {
  const values = new Map<number, ReturnType<typeof tagScalar>>();
  for (let run = 0; run < ends.length; run++) {
    const code = codes[run] as number;
    if (!values.has(code)) values.set(code, tagScalar(textAt(texts, code), type));
  }
  const ofRuns = vectorOf(
    type,
    Array.from(ends, (_, run) => values.get(codes[run] as number)),
  );
  if (type.kind === "int" && ofRuns.kind === "number" && ofRuns.validity === undefined) {
    const filled = filledRuns(ofRuns.values, ends);
    if (filled !== undefined) return { kind: "number", values: filled, validity: undefined };
  }
  const runOf = new Uint32Array(ends.at(-1) ?? 0);
  for (let run = 0; run < ends.length; run++) runOf.fill(run, run === 0 ? 0 : ends[run - 1], ends[run]);
  return takeRows(ofRuns, runOf);
}

/** Whole numbers of runs, one a row; undefined where one has more than 32 bits. Table ids of shared regions took 10 % of their flushes. */
function filledRuns(values: NumberArray, ends: Uint32Array): Int32Array | undefined {
  const filled = new Int32Array(ends.at(-1) ?? 0);
  let from = 0;
  for (let run = 0; run < ends.length; run++) {
    const value = values[run] as number;
    if ((value | 0) !== value) return undefined;
    if (values[run + 1] === value) continue; // Neighbours mostly have the same.
    const end = ends[run] as number;
    if (value !== 0) filled.fill(value, from, end);
    from = end;
  }
  return filled;
}
