/**
 * The payload of a log record: chunks of one request with the series that their segment has not seen yet. Layout in FORMAT.md.
 */
import { type TableId, tableId } from "../../base/units.ts";
import { assert } from "../../base/assert.ts";
import { ByteReadError, ByteReader } from "../../base/bytes/byte-reader.ts";
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { corrupted } from "../../base/error.ts";
import type { SeriesRegistry } from "../series/series-registry.ts";
import type { Chunk } from "./chunk.ts";
import { type ChunkHeader, readChunkHeader, writeChunkHeader } from "./chunk-codec.ts";
import { type RecordOrigin, readOrigin, writeOrigin } from "./record-origin.ts";
import { readDefinitions, readDefinitionTexts, type SeriesDefinitions, type TagMarks, writeDefinitions } from "./series-definitions.ts";

const VERSION = 5;
/** As 5, but does not say where it comes from. */
const VERSION_WITHOUT_ORIGIN = 4;
/** As 4, but no column is stored once for all rows. */
const VERSION_NOT_REPEATED = 3;
/** Wrote every text of a series out; logs of it are read. */
const VERSION_TEXTS = 1;
/** As 1, and each chunk is preceded by what it is. */
const VERSION_TEXTS_KINDS = 2;
const VERSIONS: readonly number[] = [VERSION, VERSION_WITHOUT_ORIGIN, VERSION_NOT_REPEATED, VERSION_TEXTS_KINDS, VERSION_TEXTS];
const CHUNK_KIND = { rows: 0, deletes: 1 } as const;

/** One chunk to log. */
export interface RecordEntry {
  readonly tableId: TableId;
  readonly registry: SeriesRegistry;
  /** Series of the chunk that are not defined in the segment yet. */
  readonly newSeries: readonly number[];
  /** The tag values that segments have defined. */
  readonly tagMarks: TagMarks;
  readonly chunk: Chunk;
}

/** The parts of a record, to be written one after another; the chunks' memory is not copied. */
export function encodeWriteRecord(origin: RecordOrigin, entries: readonly RecordEntry[]): Uint8Array[] {
  const head = new ByteWriter(4096);
  head.u32(VERSION);
  head.u32(0); // Length of the rest of the head, known at the end.
  writeOrigin(origin, head);
  head.varint(entries.length);
  for (const entry of entries) {
    head.u32(entry.tableId);
    const ids = entry.registry.columnIds();
    head.varint(ids.length);
    for (const id of ids) head.u32(id);
    writeDefinitions(entry.newSeries, entry.registry, entry.tagMarks, origin.segment, head);
    head.u8(entry.chunk.deletes === true ? CHUNK_KIND.deletes : CHUNK_KIND.rows);
    writeChunkHeader(entry.chunk, head);
  }
  head.patchU32(4, head.length - 8);
  return [head.bytes(), ...entries.map(({ chunk }) => chunk.payload)];
}

/**
 * The pieces of a record as it is in another segment of its writer, where all records of its own lie in the same order: only its origin
 * differs, the rest are views.
 *
 * @param record of version 5
 * @throws DbError StorageUnavailable when its head is broken
 */
export function inSegment(record: Uint8Array, segment: number): Uint8Array[] {
  return reading(0, () => {
    const input = new ByteReader(record);
    const version = input.u32();
    assert(version === VERSION, `a record of version ${VERSION}; got ${version}`);
    const headEnd = 8 + input.u32();
    const origin = readOrigin(input);
    const head = new ByteWriter(64);
    head.u32(VERSION);
    head.u32(0);
    writeOrigin({ ...origin, segment }, head);
    head.patchU32(4, head.length - 8 + headEnd - input.offset);
    return [head.bytes(), record.subarray(input.offset)];
  });
}

/** What the head of a record says of one chunk. */
export interface HeadEntry {
  readonly tableId: TableId;
  /** Tag columns that the definitions list, by column id. */
  readonly columnIds: readonly number[];
  readonly definitions: SeriesDefinitions;
  /** Whether the codes of the definitions mean something in this record only. */
  readonly isolated: boolean;
  readonly header: ChunkHeader;
}

/** The head of a record read back. */
export interface RecordHead {
  /** Undefined for records of versions 1 to 4, which do not say it. */
  readonly origin: RecordOrigin | undefined;
  readonly entries: readonly HeadEntry[];
}

/** One chunk of a record read back. */
export interface DecodedEntry extends HeadEntry {
  /** The chunk's memory: a view of the record. */
  readonly bytes: Uint8Array;
}

/** A record read back. */
export interface DecodedRecord extends RecordHead {
  readonly entries: readonly DecodedEntry[];
}

/**
 * Reads a record.
 *
 * @throws DbError StorageUnavailable for another version or when the layout ends too early; AssertionError when it contradicts itself:
 *   the record passed its checksum, so that is a bug
 */
export function decodeWriteRecord(sequence: number, payload: Uint8Array): DecodedRecord {
  return reading(sequence, () => {
    const { origin, entries, headEnd } = readHead(sequence, payload);
    let at = headEnd;
    const decoded = entries.map((entry): DecodedEntry => {
      const bytes = new ByteReader(payload, at).raw(entry.header.payloadBytes);
      at += bytes.length;
      return { ...entry, bytes };
    });
    assert(at === payload.length, `record of ${at} B; got ${payload.length}`);
    return { origin, entries: decoded };
  });
}

/** Reads the first part that `encodeWriteRecord` made: what it says of each chunk, in order. @throws as `decodeWriteRecord` */
export function decodeRecordHead(sequence: number, head: Uint8Array): RecordHead {
  return reading(sequence, () => readHead(sequence, head));
}

function reading<T>(sequence: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ByteReadError)) throw error;
    const corruption = { file: `log record ${sequence}`, offset: error.offset, kind: "structure" } as const;
    throw corrupted(`cannot replay log record ${sequence}: its head is broken: ${error.message}`, corruption, error);
  }
}

function readHead(sequence: number, payload: Uint8Array): RecordHead & { readonly headEnd: number } {
  const input = new ByteReader(payload);
  const version = input.u32();
  if (!VERSIONS.includes(version)) {
    throw corrupted(`cannot replay log record ${sequence}: it has format version ${version}, which this server does not know`, {
      file: `log record ${sequence}`,
      offset: 0,
      kind: "version",
    });
  }
  const headEnd = input.u32() + 8;
  const origin = version === VERSION ? readOrigin(input) : undefined;
  const count = input.varint();
  const entries: HeadEntry[] = [];
  for (let i = 0; i < count; i++) {
    const id = tableId(input.u32());
    const columnIds: number[] = [];
    for (let left = input.varint(); left > 0; left--) columnIds.push(input.u32());
    const isolated = version === VERSION_TEXTS || version === VERSION_TEXTS_KINDS;
    const definitions = (isolated ? readDefinitionTexts : readDefinitions)(input, columnIds.length, payload);
    const deletes = version !== VERSION_TEXTS && readKind(input);
    entries.push({ tableId: id, columnIds, definitions, isolated, header: readChunkHeader(sequence, input, deletes) });
  }
  assert(input.offset === headEnd, `head of ${headEnd} B; got ${input.offset}`);
  return { origin, entries, headEnd };
}

/** Whether the chunk that follows deletes. */
function readKind(input: ByteReader): boolean {
  const kind = input.u8();
  assert(kind === CHUNK_KIND.rows || kind === CHUNK_KIND.deletes, `a kind of chunk; got ${kind}`);
  return kind === CHUNK_KIND.deletes;
}
