/**
 * Writes Parquet files whose columns are lists, structs, maps and vectors beside plain ones, for other tools: what COPY TO makes. The plain
 * `ParquetWriter` is for data files; these have groups, no keys of ours in the footer, and no page sums.
 *
 *   | "PAR1" | row group | … | column indexes | offset indexes | footer | length u32 | "PAR1" |
 *
 * Pages of different columns end at different rows. Memory: the output buffer and one page; row groups stream out.
 */
import { assert } from "../../../base/assert.ts";
import { ChunkWriter, type WrittenChunk } from "../chunks/chunk-writer.ts";
import { writeChunk } from "../chunks/write-chunk.ts";
import { encodeFooter, type SchemaNode } from "../footer/file-metadata-writer.ts";
import { FileOutput } from "../chunks/file-output.ts";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { cutPages } from "../writing/page-cut.ts";
import { placeIndexes } from "../footer/page-index-writer.ts";
import { physicalTypeOf } from "../schema/physical-type.ts";
import type { ByteSink, ColumnInput, ParquetColumn } from "../types.ts";
import { withBareSeconds } from "../writing/writer.ts";
import { cutEntries, PAGE_ENTRIES } from "./entry-pages.ts";
import type { LeafRows } from "./shredder.ts";

const ZSTD_LEVEL = 1;

/** Rows of one column of the file: plain ones, or the entries of a leaf. */
export type GroupInput = { readonly kind: "rows"; readonly input: ColumnInput } | { readonly kind: "entries"; readonly rows: LeafRows };

interface WrittenGroup {
  readonly rowCount: number;
  readonly chunks: readonly WrittenChunk[];
}

/** Owns a file while it is written: `append` any number of times, then `finish` once. */
export class GroupWriter {
  private columns: readonly ParquetColumn[];
  private readonly schema: readonly SchemaNode[];
  private readonly output: FileOutput;
  private readonly values = new ByteWriter(1 << 16);
  private readonly groups: WrittenGroup[] = [];
  private rowCount = 0;

  /** @param columns leaves and plain columns, as the nodes of `schema` number them */
  constructor(schema: readonly SchemaNode[], columns: readonly ParquetColumn[], sink: ByteSink) {
    this.schema = schema;
    this.columns = columns;
    this.output = new FileOutput(sink);
  }

  /**
   * Writes a row group, with a stop behind each column, so that others of the thread may have a turn. Nothing else is called until it ends.
   *
   * @param inputs one a column of the file, in their order; borrowed until it ends
   * @throws DbError InvalidArguments when a page exceeds 1 GiB or seconds do not fit the stored unit
   */
  *appendInSteps(rowCount: number, inputs: readonly GroupInput[]): Generator<void, void> {
    assert(inputs.length === this.columns.length, `${this.columns.length} inputs; got ${inputs.length}`);
    if (this.rowCount === 0)
      this.columns = this.columns.map((column, c) => withBareSeconds(column, inputOf(inputs[c]!), lengthOf(inputs[c]!, rowCount)));
    const chunks: WrittenChunk[] = [];
    for (const [c, column] of this.columns.entries()) {
      chunks.push(this.writeColumn(column, inputs[c]!, rowCount));
      yield;
    }
    this.groups.push({ rowCount, chunks });
    this.rowCount += rowCount;
  }

  /** Writes indexes and footer, with stops in which others of the thread may have a turn; the file is then complete. */
  *finishInSteps(): Generator<void, void> {
    const rowGroups = yield* placeIndexes(this.groups, this.output);
    const footer = encodeFooter({
      schema: this.schema,
      columns: this.columns,
      physicalTypes: this.columns.map(physicalTypeOf),
      rowCount: this.rowCount,
      rowGroups,
      keyValues: [],
      createdBy: "varve",
    });
    this.output.finish(footer);
  }

  private writeColumn(column: ParquetColumn, input: GroupInput, rowCount: number): WrittenChunk {
    const isLeaf = input.kind === "entries";
    const chunk = new ChunkWriter(column, this.output, this.values, ZSTD_LEVEL, isLeaf ? input.rows.levels : undefined);
    this.values.reset();
    const pageEnds = isLeaf ? cutEntries(input.rows) : cutPages([input.input], 0, rowCount, PAGE_ENTRIES, undefined);
    return writeChunk(chunk, inputOf(input), 0, pageEnds);
  }
}

function inputOf(input: GroupInput): ColumnInput {
  return input.kind === "rows" ? input.input : input.rows.input;
}

function lengthOf(input: GroupInput, rowCount: number): number {
  return input.kind === "rows" ? rowCount : input.rows.entryCount;
}
