/**
 * Writes one Parquet file, row group by row group, into a sink.
 *
 *   | PAR1 | row groups | bloom filters, blobs | page sums | column indexes | offset indexes | footer | footer length u32 | PAR1 |
 *          column by column, page by page       '------------ tail, with a checksum -------'
 *
 * All memory but the indexes is scratch of one page; row groups stream out. FORMAT.md has the details.
 */
import { atOnce } from "../../../base/scheduler/pace.ts";
import { assert } from "../../../base/assert.ts";
import { invalidArguments } from "../../../base/error.ts";
import { crc32 } from "../../../base/bytes/hash.ts";
import { isWideDecimal } from "../../../column/decimal.ts";
import { ChunkWriter, type WrittenChunk } from "../chunks/chunk-writer.ts";
import { writeChunk } from "../chunks/write-chunk.ts";
import { encodeColumns } from "../schema/column-schema.ts";
import { encodeFooter, type PlacedRowGroup } from "../footer/file-metadata-writer.ts";
import { FileOutput } from "../chunks/file-output.ts";
import {
  BLOB_PAGE_SUMS,
  BLOB_PREFIX,
  CHECKSUM_PLACEHOLDER,
  checksumPosition,
  KEY_BLOOMS,
  KEY_CHECKSUM,
  KEY_COLUMNS,
  KEY_TAIL,
  KEY_VERSION,
  RESERVED_PREFIXES,
  versionFor,
} from "../footer/footer-keys.ts";
import { PAGE_ROWS_MAX, ROW_GROUP_ROWS_MAX } from "../limits.ts";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { cutPages } from "./page-cut.ts";
import { placeIndexes } from "../footer/page-index-writer.ts";
import { encodePageSums, hasPageSums } from "../page/page-sums.ts";
import { physicalTypeOf, storedScale } from "../schema/physical-type.ts";
import type { ByteRange, ByteSink, ColumnInput, ParquetColumn, WriterOptions, WrittenFile } from "../types.ts";

const DEFAULTS: WriterOptions = { zstdLevel: 1, rowsPerPage: 16_384, rowsPerRowGroup: 1_048_576, createdBy: "varve" };

/** Owns a file while it is written. `append` any number of times, then `addBlob`, then `finish` once. */
export class ParquetWriter {
  private columns: readonly ParquetColumn[];
  private readonly output: FileOutput;
  private readonly options: WriterOptions;
  private readonly values = new ByteWriter(1 << 16);
  private readonly rowGroups: WrittenChunk[][] = [];
  private readonly blobs: { readonly name: string; readonly bytes: Uint8Array }[] = [];
  private rowCount = 0;
  private timeMin: bigint | undefined;
  private timeMax: bigint | undefined;
  private finished = false;

  /** @param columns distinct names; at most one has the role "time" */
  constructor(columns: readonly ParquetColumn[], sink: ByteSink, options: Partial<WriterOptions> = {}) {
    // Code 0 of a tag is NULL, whatever the description says; a time never is.
    this.columns = columns.map((column) => (column.role === "field" ? column : { ...column, nullable: column.role === "tag" }));
    this.options = { ...DEFAULTS, ...options };
    const { rowsPerPage, rowsPerRowGroup } = this.options;
    assert(rowsPerPage >= 1 && rowsPerPage <= PAGE_ROWS_MAX, `rowsPerPage 1..${PAGE_ROWS_MAX}; got ${rowsPerPage}`);
    assert(
      rowsPerRowGroup >= rowsPerPage && rowsPerRowGroup <= ROW_GROUP_ROWS_MAX,
      `rowsPerRowGroup ${rowsPerPage}..${ROW_GROUP_ROWS_MAX}; got ${rowsPerRowGroup}`,
    );
    assert(new Set(columns.map((column) => column.name)).size === columns.length, "column names are distinct");
    this.output = new FileOutput(sink);
  }

  /**
   * Writes `rowCount` rows, sorted by (tags, time), as one or more row groups.
   *
   * @param inputs one a column, in their order; borrowed until the call returns
   * @param seriesEnds row end of each series, ascending: pages prefer to end there
   * @returns the rows at which the pages end, counted from the first of the rows
   * @throws DbError InvalidArguments when a page exceeds 1 GiB or seconds do not fit the stored unit
   */
  append(rowCount: number, inputs: readonly ColumnInput[], seriesEnds?: Uint32Array): Uint32Array {
    return atOnce(this.appendInSteps(rowCount, inputs, seriesEnds));
  }

  /** As `append`, with a stop behind each column, so that others of the thread may have a turn. Nothing else is called until it ends. */
  *appendInSteps(rowCount: number, inputs: readonly ColumnInput[], seriesEnds?: Uint32Array): Generator<void, Uint32Array> {
    assert(!this.finished, "a finished file takes no rows");
    assert(inputs.length === this.columns.length, `${this.columns.length} inputs; got ${inputs.length}`);
    this.columns.forEach((column, c) => checkInput(column, inputs[c]!, rowCount));
    if (this.rowCount === 0) this.columns = this.columns.map((column, c) => withBareSeconds(column, inputs[c]!, rowCount));
    const { rowsPerRowGroup, rowsPerPage } = this.options;
    const ends: number[] = [];
    for (let start = 0; start < rowCount; start += rowsPerRowGroup) {
      const end = Math.min(rowCount, start + rowsPerRowGroup);
      const pageEnds = cutPages(inputs, start, end, rowsPerPage, seriesEnds);
      const whole = Uint32Array.of(end);
      const chunks: WrittenChunk[] = [];
      for (const [c, column] of this.columns.entries()) {
        chunks.push(this.writeChunk(column, inputs[c]!, start, column.isUnpaged === true ? whole : pageEnds));
        yield;
      }
      this.rowGroups.push(chunks);
      for (const pageEnd of pageEnds) ends.push(pageEnd);
    }
    this.rowCount += rowCount;
    return Uint32Array.from(ends);
  }

  /** Writes bytes of the caller behind the row groups so far, at once. Nothing but the returned range finds them again. */
  addBytes(bytes: Uint8Array): ByteRange {
    assert(!this.finished, "a finished file takes no bytes");
    return this.place(bytes);
  }

  /** Places bytes of the caller between the row groups and the indexes; `ParquetFile.blob(name)` finds them. Borrowed until `finish`. */
  addBlob(name: string, bytes: Uint8Array): void {
    assert(!this.finished, "a finished file takes no blobs");
    assert(name !== BLOB_PAGE_SUMS && !this.blobs.some((blob) => blob.name === name), `a new blob name; got ${name}`);
    this.blobs.push({ name, bytes });
  }

  /** Writes indexes and footer; the file is then complete. Keys of `keyValues` must not begin with a reserved prefix. */
  finish(keyValues: Readonly<Record<string, string>>): WrittenFile {
    return atOnce(this.finishInSteps(keyValues));
  }

  /** As `finish`, with stops in which others of the thread may have a turn. */
  *finishInSteps(keyValues: Readonly<Record<string, string>>): Generator<void, WrittenFile> {
    assert(!this.finished, "a file is finished once");
    this.finished = true;
    for (const key of Object.keys(keyValues)) {
      assert(!RESERVED_PREFIXES.some((prefix) => key.startsWith(prefix)), `a footer key of the caller; got ${key}`);
    }
    const pairs: [string, string][] = Object.entries(keyValues);
    pairs.push([KEY_VERSION, String(versionFor(this.columns))], [KEY_COLUMNS, encodeColumns(this.columns)]);
    const blooms = this.rowGroups.map((chunks) => chunks.map(({ bloom }) => (bloom === undefined ? undefined : this.place(bloom))));
    const checksums = this.rowGroups.flatMap((chunks) => chunks.flatMap(({ bloom }) => (bloom === undefined ? [] : [crc32(bloom)])));
    if (checksums.length > 0) pairs.push([KEY_BLOOMS, checksums.join(":")]);
    for (const { name, bytes } of this.blobs) pairs.push([BLOB_PREFIX + name, this.placeBlob(bytes)]);
    const tailStart = this.output.offset;
    this.output.startChecksum();
    pairs.push([BLOB_PREFIX + BLOB_PAGE_SUMS, this.placePageSums()]);
    const groups = this.rowGroups.map((chunks, g) => ({ rowCount: chunks[0]?.valueCount ?? 0, chunks, blooms: blooms[g]! }));
    const rowGroups = yield* placeIndexes(groups, this.output);
    pairs.push([KEY_TAIL, `${tailStart}:${this.output.crc}`], [KEY_CHECKSUM, CHECKSUM_PLACEHOLDER]);
    this.writeFooter(pairs, rowGroups);
    return this.summary();
  }

  private writeChunk(column: ParquetColumn, input: ColumnInput, start: number, pageEnds: Uint32Array): WrittenChunk {
    const chunk = new ChunkWriter(column, this.output, this.values, this.options.zstdLevel);
    this.values.reset();
    if (input.kind === "time" && column.role === "time") {
      this.widenTimes(input.base, input.offsets, start, pageEnds[pageEnds.length - 1]!);
    }
    return writeChunk(chunk, input, start, pageEnds);
  }

  private widenTimes(base: bigint, offsets: Float64Array, start: number, end: number): void {
    const [low, high] = rangeOf(offsets, start, end);
    const min = base + BigInt(low);
    const max = base + BigInt(high);
    if (this.timeMin === undefined || min < this.timeMin) this.timeMin = min;
    if (this.timeMax === undefined || max > this.timeMax) this.timeMax = max;
  }

  private place(bytes: Uint8Array): ByteRange {
    const offset = this.output.offset;
    this.output.write(bytes);
    return { offset, length: bytes.length };
  }

  /** Writes a blob and returns its footer value. */
  private placeBlob(bytes: Uint8Array): string {
    const { offset, length } = this.place(bytes);
    return `${offset}:${length}:${crc32(bytes)}`;
  }

  private placePageSums(): string {
    const sums: number[] = [];
    for (const chunks of this.rowGroups) {
      for (const chunk of chunks) {
        assert(
          chunk.pageSums.length === (hasPageSums(chunk.column) ? chunk.pageOffsets.length : 0),
          `a sum a page of column ${chunk.column.name}; got ${chunk.pageSums.length} of ${chunk.pageOffsets.length}`,
        );
        for (const sum of chunk.pageSums) sums.push(sum);
      }
    }
    return this.placeBlob(encodePageSums(sums));
  }

  private writeFooter(keyValues: readonly (readonly [string, string])[], rowGroups: readonly PlacedRowGroup[]): void {
    const footer = encodeFooter({
      columns: this.columns,
      physicalTypes: this.columns.map(physicalTypeOf),
      rowCount: this.rowCount,
      rowGroups,
      keyValues,
      createdBy: this.options.createdBy,
    });
    const digits = checksumPosition(footer);
    assert(digits >= 0, "the footer has a place for its checksum");
    const checksum = crc32(footer).toString(16).padStart(8, "0");
    for (let i = 0; i < checksum.length; i++) footer[digits + i] = checksum.charCodeAt(i);
    this.output.finish(footer);
  }

  private summary(): WrittenFile {
    const columnByteLengths = new Float64Array(this.columns.length);
    let pageCount = 0;
    for (const chunks of this.rowGroups) {
      for (let c = 0; c < chunks.length; c++) columnByteLengths[c]! += chunks[c]!.byteLength;
      for (const chunk of chunks) pageCount += chunk.pageOffsets.length;
    }
    return {
      rowCount: this.rowCount,
      byteLength: this.output.offset,
      rowGroupCount: this.rowGroups.length,
      pageCount,
      columnByteLengths,
      timeMin: this.timeMin,
      timeMax: this.timeMax,
      crc: this.output.fileCrc,
    };
  }
}

/** Smallest and largest of `offsets[start, end)`. */
function rangeOf(offsets: Float64Array, start: number, end: number): [min: number, max: number] {
  let min = offsets[start] ?? 0;
  let max = min;
  for (let i = start; i < end; i++) {
    const offset = offsets[i]!;
    if (offset < min) min = offset;
    if (offset > max) max = offset;
  }
  return [min, max];
}

/** Seconds beyond what milliseconds hold are stored bare; the first rows decide for the whole file. */
export function withBareSeconds(column: ParquetColumn, input: ColumnInput, rowCount: number): ParquetColumn {
  if (column.type.kind !== "timestamp" || storedScale(column) === 1 || rowCount === 0) return column;
  const [min, max] = secondsRange(input, rowCount);
  const limit = (2n ** 63n - 1n) / 1000n;
  return min >= -limit && max <= limit ? column : { ...column, bareSeconds: true };
}

function secondsRange(input: ColumnInput, rowCount: number): readonly [min: bigint, max: bigint] {
  if (input.kind === "time") {
    const [low, high] = rangeOf(input.offsets, 0, rowCount);
    return [input.base + BigInt(low), input.base + BigInt(high)];
  }
  let min = 0n;
  let max = 0n;
  if (input.kind !== "wide") return [min, max];
  for (let row = 0; row < rowCount; row++) {
    if (input.validity !== undefined && input.validity[row] === 0) continue;
    const value = input.values[row]!;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return [min, max];
}

const TYPE_INPUTS: Readonly<Record<string, readonly ColumnInput["kind"][]>> = {
  boolean: ["number"],
  date: ["number"],
  float: ["number"],
  int: ["number", "wide"],
  time: ["number"],
  timestamp: ["time", "wide"],
  duration: ["time", "wide"],
};

/** Kinds of input that a column takes. */
function inputKindsOf({ role, type }: ParquetColumn): readonly ColumnInput["kind"][] {
  if (role === "time") return ["time"];
  if (role === "tag" && type.kind === "string") return ["runs"];
  if (type.kind === "decimal") return isWideDecimal(type) ? ["bytes"] : ["number", "wide"];
  return TYPE_INPUTS[type.kind] ?? ["bytes", "coded"];
}

/** Rows that an input has room for. */
function lengthOf(input: Exclude<ColumnInput, { readonly kind: "runs" }>): number {
  switch (input.kind) {
    case "bytes":
      return input.offsets.length - 1;
    case "coded":
      return input.codes.length;
    case "time":
      return input.offsets.length;
    default:
      return input.values.length;
  }
}

function checkInput(column: ParquetColumn, input: ColumnInput, rowCount: number): void {
  const wanted = inputKindsOf(column);
  if (!wanted.includes(input.kind)) {
    throw invalidArguments(`cannot write column ${column.name}: values of kind ${input.kind} where ${wanted.join(" or ")} belong`);
  }
  if (input.kind === "runs") {
    const last = input.ends.length === 0 ? 0 : input.ends[input.ends.length - 1]!;
    assert(last === rowCount, `the runs of ${column.name} end at row ${rowCount}; got ${last}`);
    return;
  }
  const length = lengthOf(input);
  assert(length >= rowCount, `${rowCount} values of ${column.name}; got ${length}`);
  assert(input.validity === undefined || column.nullable, `column ${column.name} takes no NULL`);
  assert(input.validity === undefined || input.validity.length >= rowCount, `${rowCount} validity bytes of ${column.name}`);
}
