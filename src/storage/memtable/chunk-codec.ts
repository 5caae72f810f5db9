/**
 * A chunk in a log record: a small header that says which arrays lie where, then the chunk's memory as it is. FORMAT.md has the layout.
 */
import { assert } from "../../base/assert.ts";
import type { ByteReader } from "../../base/bytes/byte-reader.ts";
import type { ByteWriter } from "../../base/bytes/byte-writer.ts";
import type { Arena } from "./arena.ts";
import type { Chunk, ChunkColumn, ChunkValues, SeriesArray } from "./chunk.ts";
import { ElementClass, elementBytes, elementClassOf, isElementClass, numberArrayOn } from "./chunk-layout.ts";

const KIND = { number: 0, wide: 1, time: 2, bytes: 3, repeated: 4 } as const;
/** Most columns a chunk header may claim; far above the table limit. */
const COLUMNS_MAX = 1 << 16;

/** Appends the header of `chunk`; its `payload` is written after all headers of the record. */
export function writeChunkHeader(chunk: Chunk, out: ByteWriter): void {
  const origin = chunk.payload.byteOffset;
  out.u32(chunk.rowCount);
  out.u32(chunk.payload.length);
  out.i64(chunk.timeBase);
  out.f64(chunk.timeScale);
  out.f64(chunk.timeSteps);
  out.u8(elementClassOf(chunk.series));
  out.u32(chunk.series.byteOffset - origin);
  out.u8(elementClassOf(chunk.times));
  out.u32(chunk.times.byteOffset - origin);
  out.u32(chunk.columns.length);
  for (const column of chunk.columns) writeColumn(column, origin, out);
}

function writeColumn(column: ChunkColumn, origin: number, out: ByteWriter): void {
  const { data } = column;
  out.u32(column.columnId);
  out.u8(KIND[data.kind]);
  out.u32(data.validity === undefined ? 0xffff_ffff : data.validity.byteOffset - origin);
  switch (data.kind) {
    case "number":
    case "wide":
      out.u8(elementClassOf(data.values));
      out.u32(data.values.byteOffset - origin);
      return;
    case "time":
      out.u32(data.offsets.byteOffset - origin);
      out.i64(data.base);
      return;
    case "bytes":
      out.u32(data.offsets.byteOffset - origin);
      out.u32(data.bytes.byteOffset - origin);
      out.u32(data.bytes.length);
      return;
    case "repeated":
      out.u32(data.bytes.byteOffset - origin);
      out.u32(data.bytes.length);
      return;
  }
}

/** Classes that each array may have; a header that says otherwise is broken. */
const SERIES_CLASSES: readonly ElementClass[] = [ElementClass.u16, ElementClass.u32];
const TIME_CLASSES: readonly ElementClass[] = [ElementClass.u8, ElementClass.u16, ElementClass.u32, ElementClass.f64];
const WIDE_CLASSES: readonly ElementClass[] = [ElementClass.i64, ElementClass.u64];
const NUMBER_CLASSES: readonly ElementClass[] = Object.values(ElementClass).filter((element) => !WIDE_CLASSES.includes(element));

/** What a chunk header says; `place` makes the chunk once the payload is in memory. */
export interface ChunkHeader {
  /** Of a delete chunk: its stretches. */
  readonly rowCount: number;
  readonly deletes: boolean;
  readonly payloadBytes: number;
  readonly place: (buffer: SharedArrayBuffer, base: number) => Chunk;
}

/**
 * Reads a header that `writeChunkHeader` wrote.
 *
 * @param deletes whether the record says that the chunk deletes
 * @throws ByteReadError, or AssertionError when an array would lie outside the payload: the record passed its checksum, so that is a bug
 */
export function readChunkHeader(sequence: number, input: ByteReader, deletes = false): ChunkHeader {
  const rowCount = input.u32();
  const payloadBytes = input.u32();
  const timeBase = input.i64();
  const timeScale = input.f64();
  const timeSteps = input.f64();
  const seriesClass = readElement(input, SERIES_CLASSES);
  const seriesOffset = input.u32();
  const timeClass = readElement(input, TIME_CLASSES);
  const timesOffset = input.u32();
  const columnCount = input.u32();
  assert(columnCount <= COLUMNS_MAX, `columns of a chunk <= ${COLUMNS_MAX}; got ${columnCount}`);
  const columns: ((buffer: SharedArrayBuffer, base: number) => ChunkColumn)[] = [];
  for (let c = 0; c < columnCount; c++) columns.push(readColumn(input, rowCount, payloadBytes));
  checkArray(seriesOffset, rowCount, elementBytes(seriesClass), payloadBytes);
  checkArray(timesOffset, rowCount, elementBytes(timeClass), payloadBytes);
  return {
    rowCount,
    deletes,
    payloadBytes,
    place: (buffer, base) => ({
      sequence,
      rowCount,
      series: numberArrayOn(buffer, seriesClass, base + seriesOffset, rowCount) as SeriesArray,
      timeBase,
      timeScale,
      times: numberArrayOn(buffer, timeClass, base + timesOffset, rowCount) as Chunk["times"],
      timeSteps,
      columns: columns.map((column) => column(buffer, base)),
      ...(deletes ? { deletes } : {}),
      payload: new Uint8Array(buffer, base, payloadBytes),
    }),
  };
}

function readColumn(input: ByteReader, rowCount: number, payloadBytes: number): (buffer: SharedArrayBuffer, base: number) => ChunkColumn {
  const columnId = input.u32();
  const kind = input.u8();
  const validityOffset = input.u32();
  const hasValidity = validityOffset !== 0xffff_ffff;
  if (hasValidity) checkArray(validityOffset, rowCount, 1, payloadBytes);
  const validityOn = (buffer: SharedArrayBuffer, base: number): Uint8Array | undefined =>
    hasValidity ? new Uint8Array(buffer, base + validityOffset, rowCount) : undefined;
  const make = readValues(kind, input, rowCount, payloadBytes);
  return (buffer, base) => ({ columnId, data: make(buffer, base, validityOn(buffer, base)) });
}

type MakeValues = (buffer: SharedArrayBuffer, base: number, validity: Uint8Array | undefined) => ChunkValues;

function readValues(kind: number, input: ByteReader, rowCount: number, payloadBytes: number): MakeValues {
  if (kind === KIND.number || kind === KIND.wide) {
    const element = readElement(input, kind === KIND.number ? NUMBER_CLASSES : WIDE_CLASSES);
    const offset = input.u32();
    checkArray(offset, rowCount, elementBytes(element), payloadBytes);
    if (kind === KIND.number) {
      return (buffer, base, validity) => ({ kind: "number", values: numberArrayOn(buffer, element, base + offset, rowCount), validity });
    }
    if (element === ElementClass.i64) {
      return (buffer, base, validity) => ({ kind: "wide", values: new BigInt64Array(buffer, base + offset, rowCount), validity });
    }
    return (buffer, base, validity) => ({ kind: "wide", values: new BigUint64Array(buffer, base + offset, rowCount), validity });
  }
  if (kind === KIND.time) {
    const offset = input.u32();
    const timeBase = input.i64();
    checkArray(offset, rowCount, 8, payloadBytes);
    return (buffer, base, validity) => ({
      kind: "time",
      base: timeBase,
      offsets: new Float64Array(buffer, base + offset, rowCount),
      validity,
    });
  }
  if (kind === KIND.repeated) {
    const at = input.u32();
    const length = input.u32();
    checkArray(at, length, 1, payloadBytes);
    return (buffer, base) => ({ kind: "repeated", bytes: new Uint8Array(buffer, base + at, length), validity: undefined });
  }
  assert(kind === KIND.bytes, `a known kind of column; got ${kind}`);
  const offset = input.u32();
  const textOffset = input.u32();
  const textBytes = input.u32();
  checkArray(offset, rowCount + 1, 4, payloadBytes);
  checkArray(textOffset, textBytes, 1, payloadBytes);
  return (buffer, base, validity) => ({
    kind: "bytes",
    offsets: new Uint32Array(buffer, base + offset, rowCount + 1),
    bytes: new Uint8Array(buffer, base + textOffset, textBytes),
    validity,
  });
}

function readElement(input: ByteReader, allowed: readonly ElementClass[]): ElementClass {
  const element = input.u8();
  assert(isElementClass(element) && allowed.includes(element), `an element class of ${allowed.join(", ")}; got ${element}`);
  return element;
}

function checkArray(offset: number, length: number, bytes: number, payloadBytes: number): void {
  const end = offset + length * bytes;
  assert(end <= payloadBytes, `array inside the payload of ${payloadBytes} B; got [${offset}, ${end})`);
  assert(offset % bytes === 0, `array at a multiple of ${bytes} B; got ${offset}`);
}

/** Copies a payload read from the log into `arena` and makes the chunk. `bytes.length === header.payloadBytes`. */
export function placeChunk(header: ChunkHeader, bytes: Uint8Array, arena: Arena): Chunk {
  assert(bytes.length === header.payloadBytes, `payload of ${header.payloadBytes} B; got ${bytes.length}`);
  const { buffer, offset } = arena.allocate(header.payloadBytes);
  new Uint8Array(buffer, offset, bytes.length).set(bytes);
  return header.place(buffer, offset);
}
