/** Gathers the batches of a scan until they make a row group. */
import { textLength } from "../../column/coded-text.ts";
import { assert } from "../../base/assert.ts";
import type { SeriesRuns } from "../../column/batch.ts";
import type { Vector } from "../../column/vector.ts";
import type { ColumnInput, TagRuns } from "../../format/parquet/types.ts";
import type { TableSchema } from "../../table/schema.ts";
import { vectorBytes } from "../cache/page-cache.ts";
import { concatPieces } from "../scan/merge/concat.ts";
import type { Piece } from "../scan/runs/scan-source.ts";
import { LABELS_COLUMN_ID } from "../series/label-set.ts";
import type { SeriesRegistry } from "../series/series-registry.ts";
import { type DataFileWriter, fieldInput, tagInput } from "../sst/write/data-file-writer.ts";
import { labelInputs, noLabel } from "../sst/label-columns.ts";

/** Rows of a row group: what a flush writes at once, and what readers of Parquet expect. */
const GROUP_ROWS_MAX = 1_048_576;
/** Bytes of a row group's columns in memory, so that rows of long texts do not fill it. */
const GROUP_BYTES_MAX = 64 * 1024 * 1024;

/** See the file header. Vectors must stay as they are until `writeTo`. */
export class RowGroupBuilder {
  private readonly schema: TableSchema;
  private readonly registry: SeriesRegistry;
  private readonly base: bigint;
  private readonly pieces: Piece[][];
  private series: number[] = [];
  private ends: number[] = [];
  private bytes = 0;
  rowCount = 0;

  /** @param base what times count from, in the unit of the time index */
  constructor(schema: TableSchema, registry: SeriesRegistry, base: bigint) {
    this.schema = schema;
    this.registry = registry;
    this.base = base;
    this.pieces = schema.columns.filter(({ semantic }) => semantic !== "tag").map(() => []);
  }

  /** Whether it is time to write. Batches are small, so a group is a little larger than the limits at most. */
  get isFull(): boolean {
    return this.rowCount >= GROUP_ROWS_MAX || this.bytes >= GROUP_BYTES_MAX;
  }

  /** Adds a batch: one vector a column of the schema that is no tag, and its runs. */
  add(rowCount: number, vectors: readonly Vector[], { starts, series }: SeriesRuns): void {
    assert(vectors.length === this.pieces.length, `${this.pieces.length} vectors; got ${vectors.length}`);
    for (let c = 0; c < vectors.length; c++) {
      const vector = vectors[c] as Vector;
      this.pieces[c]?.push({ vector, from: 0, to: rowCount });
      // As much as the writer takes: plain text.
      this.bytes += vectorBytes(vector) + (vector.kind === "coded" ? textLength(vector, 0, rowCount) : 0);
    }
    for (let run = 0; run < series.length; run++) {
      const number = series[run] as number;
      if (this.series.at(-1) === number) this.ends.pop();
      else this.series.push(number);
      this.ends.push(this.rowCount + (starts[run + 1] as number));
    }
    this.rowCount += rowCount;
  }

  /** Writes the rows and starts over. @throws DbError */
  writeTo(writer: DataFileWriter): void {
    const ends = Uint32Array.from(this.ends);
    const labels = this.labels(ends);
    let next = 0;
    const inputs = this.schema.columns.map((column): ColumnInput => {
      if (column.semantic === "tag") {
        const position = this.registry.positionOf(column.id);
        if (position < 0) return labels.get(column.id) ?? noLabel(this.rowCount);
        return tagInput(column.type, this.registry.textsAt(position), this.codesAt(position), ends);
      }
      const pieces = this.pieces[next] ?? [];
      this.pieces[next++] = [];
      const vector = concatPieces(pieces, this.rowCount, column.type);
      return column.semantic === "timestamp" ? this.timeInput(vector) : fieldInput(vector, this.rowCount);
    });
    writer.append(this.rowCount, inputs, ends);
    this.series = [];
    this.ends = [];
    this.bytes = 0;
    this.rowCount = 0;
  }

  /** Label columns that the rows have; none where series know their tags one by one. */
  private labels(ends: Uint32Array): ReadonlyMap<number, TagRuns> {
    const position = this.registry.positionOf(LABELS_COLUMN_ID);
    return position < 0 ? new Map() : labelInputs(this.registry.textsAt(position), this.codesAt(position), ends);
  }

  /** Code of each run in a tag column of the registry. */
  private codesAt(position: number): Uint32Array {
    const codeOf = this.registry.codesAt(position);
    return Uint32Array.from(this.series, (series) => codeOf[series] as number);
  }

  private timeInput(vector: Vector): ColumnInput {
    assert(vector.kind === "time", `times come as a time vector; got ${vector.kind}`);
    assert(vector.base === this.base, `times count from ${this.base}; got ${vector.base}`);
    return { ...vector, validity: undefined };
  }
}
