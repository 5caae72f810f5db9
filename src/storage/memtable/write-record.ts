/**
 * The payload of a log record: chunks of one request with the series that their segment has not seen yet. Layout in FORMAT.md.
 */
import { assert } from "../../base/assert.ts";
import { ByteReadError, ByteReader } from "../../base/byte-reader.ts";
import { ByteWriter } from "../../base/byte-writer.ts";
import { DbError } from "../../base/error.ts";
import { SERIES_PER_TABLE_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { SeriesRegistry } from "../series/series-registry.ts";
import type { Chunk } from "./chunk.ts";
import { type ChunkHeader, readChunkHeader, writeChunkHeader } from "./chunk-codec.ts";

/** Records of rows alone. */
const VERSION_ROWS = 1;
/** As 1, and each chunk is preceded by what it is. Written only where a chunk deletes, so that older servers read all other logs. */
const VERSION_KINDS = 2;
const CHUNK_KIND = { rows: 0, deletes: 1 } as const;

/** One chunk to log. */
export interface RecordEntry {
  readonly tableId: number;
  readonly registry: SeriesRegistry;
  /** Series of the chunk that are not defined in the segment yet. */
  readonly newSeries: readonly number[];
  readonly chunk: Chunk;
}

/** The parts of a record, to be written one after another; the chunks' memory is not copied. */
export function encodeWriteRecord(entries: readonly RecordEntry[]): Uint8Array[] {
  const head = new ByteWriter(4096);
  const hasKinds = entries.some(({ chunk }) => chunk.deletes === true);
  head.u32(hasKinds ? VERSION_KINDS : VERSION_ROWS);
  head.u32(0); // Length of the rest of the head, known at the end.
  head.varint(entries.length);
  for (const entry of entries) {
    head.u32(entry.tableId);
    const ids = entry.registry.columnIds();
    head.varint(ids.length);
    for (const id of ids) head.u32(id);
    writeDefinitions(entry, ids.length, head);
    if (hasKinds) head.u8(entry.chunk.deletes === true ? CHUNK_KIND.deletes : CHUNK_KIND.rows);
    writeChunkHeader(entry.chunk, head);
  }
  head.patchU32(4, head.length - 8);
  return [head.bytes(), ...entries.map(({ chunk }) => chunk.payload)];
}

function writeDefinitions(entry: RecordEntry, columnCount: number, head: ByteWriter): void {
  head.varint(entry.newSeries.length);
  const codes: Uint32Array[] = [];
  const encoded: (Uint8Array | undefined)[][] = [];
  for (let c = 0; c < columnCount; c++) {
    codes.push(entry.registry.codesAt(c));
    encoded.push([]);
  }
  for (const series of entry.newSeries) {
    head.varint(series);
    for (let c = 0; c < columnCount; c++) {
      const code = codes[c]?.[series] ?? 0;
      if (code === 0) {
        head.varint(0);
        continue;
      }
      const cache = encoded[c] as (Uint8Array | undefined)[];
      cache[code] ??= encoder.encode(entry.registry.dictionaryAt(c)[code]);
      const bytes = cache[code] as Uint8Array;
      head.varint(bytes.length + 1);
      head.raw(bytes);
    }
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** What the head of a record says of one chunk. */
export interface HeadEntry {
  readonly tableId: number;
  /** Tag columns that the definitions list, by column id. */
  readonly columnIds: readonly number[];
  readonly definitions: readonly { readonly series: number; readonly values: readonly (string | undefined)[] }[];
  readonly header: ChunkHeader;
}

/** One chunk of a record read back. */
export interface DecodedEntry extends HeadEntry {
  /** The chunk's memory: a view of the record. */
  readonly bytes: Uint8Array;
}

/**
 * Reads a record.
 *
 * @throws DbError StorageUnavailable for another version or when the layout ends too early; AssertionError when it contradicts itself:
 *   the record passed its checksum, so that is a bug
 */
export function decodeWriteRecord(sequence: number, payload: Uint8Array): DecodedEntry[] {
  return reading(sequence, () => {
    const { entries, headEnd } = readHead(sequence, payload);
    let at = headEnd;
    const decoded = entries.map((entry): DecodedEntry => {
      const bytes = new ByteReader(payload, at).raw(entry.header.payloadBytes);
      at += bytes.length;
      return { ...entry, bytes };
    });
    assert(at === payload.length, `record of ${at} B; got ${payload.length}`);
    return decoded;
  });
}

/** Reads the first part that `encodeWriteRecord` made: what it says of each chunk, in order. @throws as `decodeWriteRecord` */
export function decodeRecordHead(sequence: number, head: Uint8Array): readonly HeadEntry[] {
  return reading(sequence, () => readHead(sequence, head).entries);
}

function reading<T>(sequence: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ByteReadError)) throw error;
    throw new DbError(StatusCode.StorageUnavailable, `cannot replay log record ${sequence}: its head is broken: ${error.message}`, {
      cause: error,
    });
  }
}

function readHead(sequence: number, payload: Uint8Array): { readonly entries: readonly HeadEntry[]; readonly headEnd: number } {
  const input = new ByteReader(payload);
  const version = input.u32();
  if (version !== VERSION_ROWS && version !== VERSION_KINDS) {
    throw new DbError(
      StatusCode.StorageUnavailable,
      `cannot replay log record ${sequence}: it has format version ${version}, which this server does not know`,
    );
  }
  const headEnd = input.u32() + 8;
  const count = input.varint();
  const entries: HeadEntry[] = [];
  for (let i = 0; i < count; i++) {
    const tableId = input.u32();
    const columnIds: number[] = [];
    for (let left = input.varint(); left > 0; left--) columnIds.push(input.u32());
    const definitions = readDefinitions(input, columnIds.length);
    const deletes = version === VERSION_KINDS && readKind(input);
    entries.push({ tableId, columnIds, definitions, header: readChunkHeader(sequence, input, deletes) });
  }
  assert(input.offset === headEnd, `head of ${headEnd} B; got ${input.offset}`);
  return { entries, headEnd };
}

/** Whether the chunk that follows deletes. */
function readKind(input: ByteReader): boolean {
  const kind = input.u8();
  assert(kind === CHUNK_KIND.rows || kind === CHUNK_KIND.deletes, `a kind of chunk; got ${kind}`);
  return kind === CHUNK_KIND.deletes;
}

function readDefinitions(input: ByteReader, columnCount: number): DecodedEntry["definitions"] {
  const definitions: { series: number; values: (string | undefined)[] }[] = [];
  for (let left = input.varint(); left > 0; left--) {
    const series = input.varint();
    assert(series < SERIES_PER_TABLE_MAX, `series number < ${SERIES_PER_TABLE_MAX}; got ${series}`);
    const values: (string | undefined)[] = [];
    for (let c = 0; c < columnCount; c++) {
      const length = input.varint();
      values.push(length === 0 ? undefined : decoder.decode(input.raw(length - 1)));
    }
    definitions.push({ series, values });
  }
  return definitions;
}
