/** The buffers of a message's body, unpacked where they are compressed. */
import { zstdDecompressSync } from "node:zlib";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { Lz4Error } from "../../lz4/block.ts";
import { decodeLz4Frames } from "../../lz4/frame.ts";
import { isWholeZstd } from "../../zstd/frames.ts";
import { malformed, unsupported } from "./arrow-failure.ts";
import type { FlatTable, FlatVector } from "./flat-table.ts";
import type { Scratch } from "../scratch.ts";

/** Bytes in front of a compressed buffer: how long it is unpacked, or -1 for one that is not compressed. */
const LENGTH_BYTES = 8;

/** Rows of a column that no bits of the body need stand for: NULLs alone, structs of nothing. Reason: a few bytes may claim any number. */
const BARE_ROWS_MAX = 65_536;

/**
 * Values of a message that are made one by one: rows and parts of lists, structs and maps, runs, intervals.
 * Reason: each takes some 2 µs of the thread, and 30 million structs of nothing, in 200 bytes, took 36 s and 4 GiB.
 */
const MADE_VALUES_MAX = 65_536;

/** Memory that one message may take beside its own bytes: what is unpacked, repeated or widened. */
export class Allowance {
  private left: number;
  private valuesLeft: number = MADE_VALUES_MAX;
  private readonly most: number;

  constructor(bytesMax: number) {
    this.most = bytesMax;
    this.left = bytesMax;
  }

  /** Counts values before they are made one by one. @throws DbError RuntimeResourcesExhausted */
  make(values: number): void {
    this.valuesLeft -= values;
    if (this.valuesLeft >= 0) return;
    throw new DbError(
      StatusCode.RuntimeResourcesExhausted,
      `cannot read Arrow: a batch has more than ${MADE_VALUES_MAX} values of lists, structs, maps, runs, intervals; send smaller ones`,
    );
  }

  /** Counts bytes before they are taken. @throws DbError RuntimeResourcesExhausted */
  take(bytes: number): void {
    this.left -= bytes;
    if (this.left >= 0) return;
    throw new DbError(
      StatusCode.RuntimeResourcesExhausted,
      `cannot read Arrow: a batch would take more than ${this.most} bytes in memory; send smaller batches`,
    );
  }
}

/** The next nodes and buffers of a `RecordBatch` table, in the order of its columns. */
export class Body {
  readonly allowance: Allowance;
  /** Memory for what its columns become. */
  readonly scratch: Scratch;
  private readonly batch: FlatTable;
  private readonly bytes: Uint8Array;
  private readonly nodes: FlatVector;
  private readonly buffers: FlatVector;
  private readonly views: FlatVector;
  private readonly codec: number | undefined;
  private node = 0;
  private buffer = 0;
  /** Of the buffers so far. */
  private bufferBytes = 0;
  private view = 0;

  constructor(batch: FlatTable, bytes: Uint8Array, allowance: Allowance, scratch: Scratch) {
    this.scratch = scratch;
    this.batch = batch;
    this.bytes = bytes;
    this.allowance = allowance;
    this.nodes = batch.vector(1, 16);
    this.buffers = batch.vector(2, 16);
    this.views = batch.vector(4, 8);
    const compression = batch.table(3);
    this.codec = compression?.u8(0, 0);
    if (compression !== undefined && compression.u8(1, 0) !== 0) throw unsupported("bodies that are compressed as a whole");
  }

  /** Rows of the next column, and whether some of them are NULL. @throws DbError InvalidArguments */
  nextNode(): { readonly rowCount: number; readonly hasNulls: boolean } {
    const offset = this.node++ * 16;
    if (this.node > this.nodes.count) throw malformed(`a batch has ${this.nodes.count} nodes; its schema has more columns`);
    const rowCount = this.batch.countIn(this.nodes, offset, "the number of rows of a column");
    const nulls = this.batch.countIn(this.nodes, offset + 8, "the number of NULLs of a column");
    this.checkRows(rowCount);
    if (nulls > rowCount) throw malformed(`a column of ${rowCount} rows has ${nulls} NULLs`);
    return { rowCount, hasNulls: nulls > 0 };
  }

  /** Whether a body can have so many rows. @throws DbError InvalidArguments */
  checkRows(rowCount: number): void {
    if (rowCount <= Math.max(BARE_ROWS_MAX, this.bytes.length * 8)) return;
    throw malformed(`a column of ${rowCount} rows in a body of ${this.bytes.length} bytes; send smaller batches`);
  }

  /** The next buffer: a view of the body, or unpacked bytes. @throws DbError InvalidArguments, Unsupported, RuntimeResourcesExhausted */
  nextBuffer(): Uint8Array {
    const offset = this.buffer++ * 16;
    if (this.buffer > this.buffers.count) throw malformed(`a batch has ${this.buffers.count} buffers; its schema has more`);
    const from = this.batch.countIn(this.buffers, offset, "the place of a buffer");
    const length = this.batch.countIn(this.buffers, offset + 8, "the length of a buffer");
    if (from + length > this.bytes.length)
      throw malformed(`a buffer of ${length} bytes at ${from} lies behind the end of a body of ${this.bytes.length}`);
    // Buffers may lie on each other, but each is read anew: what is more than the body counts as what is repeated.
    this.allowance.take(Math.min(length, Math.max(0, this.bufferBytes + length - this.bytes.length)));
    this.bufferBytes += length;
    const stored = this.bytes.subarray(from, from + length);
    return this.codec === undefined || length === 0 ? stored : this.unpacked(stored, this.codec);
  }

  /** How many buffers with data the next column of views has. */
  nextViews(): number {
    if (this.view >= this.views.count) throw malformed("a batch does not say how many buffers a column of views has");
    const count = this.batch.countIn(this.views, this.view++ * 8, "the number of buffers of a column of views");
    if (count > this.buffers.count) throw malformed(`a column of views has ${count} buffers; the batch has ${this.buffers.count}`);
    return count;
  }

  private unpacked(stored: Uint8Array, codec: number): Uint8Array {
    if (stored.length < LENGTH_BYTES) throw malformed(`a compressed buffer has ${stored.length} bytes`);
    const length = new DataView(stored.buffer, stored.byteOffset).getBigInt64(0, true);
    const packed = stored.subarray(LENGTH_BYTES);
    if (length === -1n) return packed;
    if (length < 0n) throw malformed(`a compressed buffer is ${length} bytes long`);
    if (length === 0n) return packed.subarray(0, 0);
    this.allowance.take(Number(length));
    if (codec === 0) return unpackedLz4(packed, Number(length));
    if (codec === 1) return unpackedZstd(packed, Number(length));
    throw unsupported(`compression ${codec}; lz4 and zstd are`);
  }
}

function unpackedLz4(packed: Uint8Array, length: number): Uint8Array {
  try {
    return decodeLz4Frames(packed, length);
  } catch (thrown) {
    if (!(thrown instanceof Lz4Error)) throw thrown;
    throw malformed(`a buffer that is compressed by lz4: ${thrown.message}`);
  }
}

function unpackedZstd(packed: Uint8Array, length: number): Uint8Array {
  if (!isWholeZstd(packed)) throw malformed("a buffer that is compressed by zstd is not whole");
  let plain: Uint8Array;
  try {
    plain = zstdDecompressSync(packed, { maxOutputLength: length });
  } catch (thrown) {
    throw new DbError(
      StatusCode.InvalidArguments,
      `cannot read Arrow: a buffer that is compressed by zstd is damaged or not ${length} bytes`,
      {
        cause: thrown,
      },
    );
  }
  if (plain.length !== length) throw malformed(`a buffer has ${plain.length} bytes unpacked; ${length} were announced`);
  return plain;
}
