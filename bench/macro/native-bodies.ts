/**
 * Rows of the native interface, made by the protobuf library: 10 columns, two tags of 100 series, six doubles, a counter, a time.
 *
 * The time comes last, so that its place is known from the end: a body that was made once becomes one of another time by a copy.
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** The table that they go to, which workloads.ts names too. */
const NATIVE_TABLE = "cpu_native";

const SERIES = 100;
const START_MS = 1_731_000_000_000;
/** Bytes of such a time as a varint. */
const TIME_BYTES = 6;
const [TAG, FIELD, TIMESTAMP] = [0, 1, 2];
const [INT64, FLOAT64, STRING, TIMESTAMP_MILLISECOND] = [4, 10, 12, 16];
const FLOATS = ["usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq"];
const COLUMNS: readonly (readonly [name: string, type: number, semantic: number])[] = [
  ["hostname", STRING, TAG],
  ["region", STRING, TAG],
  ...FLOATS.map((name) => [name, FLOAT64, FIELD] as const),
  ["requests", INT64, FIELD],
  ["ts", TIMESTAMP_MILLISECOND, TIMESTAMP],
] as [string, number, number][];

/** A body, and where the times of its rows are. */
export interface TimedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly timesAt: readonly number[];
}

function cellsOf(body: number, row: number, rowCount: number): readonly (string | number)[] {
  const series = row % SERIES;
  const floats = FLOATS.map((_, i) => ((row * 7919 + i * 104_729 + body) % 10_000) / 100);
  return [`host_${series}`, `region_${series % 9}`, ...floats, row * 31 + body, START_MS + body * rowCount + row];
}

function value(writer: BinaryWriter, type: number, cell: string | number): BinaryWriter {
  switch (type) {
    case STRING:
      return writer.tag(13, 2).string(String(cell));
    case FLOAT64:
      return writer.tag(10, 1).double(Number(cell));
    case INT64:
      return writer.tag(4, 0).int64(Number(cell));
    default:
      return writer.tag(17, 0).int64(Number(cell));
  }
}

/** RowInsertRequests of so many rows; bodies follow each other in time. */
export function rowsBody(body: number, rowCount: number): Uint8Array<ArrayBuffer> {
  return rowInserts(body, rowCount).bytes;
}

/** The same in a GreptimeRequest. */
export function timedRows(body: number, rowCount: number): TimedBody {
  return requestOf(6, rowInserts(body, rowCount));
}

/** A GreptimeRequest of InsertRequests. */
export function timedColumns(body: number, rowCount: number): TimedBody {
  const bytes = columnsBody(body, rowCount);
  return requestOf(2, { bytes, timesAt: Array.from({ length: rowCount }, (_, row) => bytes.length - (rowCount - row) * TIME_BYTES) });
}

function requestOf(field: number, { bytes: inner, timesAt }: TimedBody): TimedBody {
  const bytes = new BinaryWriter().tag(field, 2).bytes(inner).finish() as Uint8Array<ArrayBuffer>;
  return { bytes, timesAt: timesAt.map((at) => at + bytes.length - inner.length) };
}

function rowInserts(body: number, rowCount: number): TimedBody {
  const rows = new BinaryWriter();
  for (const [name, type, semantic] of COLUMNS) {
    rows.tag(1, 2).bytes(new BinaryWriter().tag(1, 2).string(name).tag(2, 0).int32(type).tag(3, 0).int32(semantic).finish());
  }
  const ends: number[] = []; // From the first row on.
  let length = 0;
  for (let row = 0; row < rowCount; row++) {
    const values = new BinaryWriter();
    for (const [i, cell] of cellsOf(body, row, rowCount).entries()) {
      values.tag(1, 2).bytes(value(new BinaryWriter(), COLUMNS[i]?.[1] ?? 0, cell).finish());
    }
    const one = new BinaryWriter().tag(2, 2).bytes(values.finish()).finish();
    rows.raw(one);
    length += one.length;
    ends.push(length);
  }
  const request = new BinaryWriter().tag(1, 2).string(NATIVE_TABLE).tag(2, 2).bytes(rows.finish());
  const bytes = new BinaryWriter().tag(1, 2).bytes(request.finish()).finish() as Uint8Array<ArrayBuffer>;
  return { bytes, timesAt: ends.map((end) => bytes.length - length + end - TIME_BYTES) };
}

/** The same rows as InsertRequests. */
export function columnsBody(body: number, rowCount: number): Uint8Array<ArrayBuffer> {
  const request = new BinaryWriter().tag(1, 2).string(NATIVE_TABLE).tag(4, 0).uint32(rowCount);
  for (const [i, [name, type, semantic]] of COLUMNS.entries()) {
    const [run, values] = [new BinaryWriter(), new BinaryWriter()];
    for (let row = 0; row < rowCount; row++) {
      const cell = cellsOf(body, row, rowCount)[i] ?? 0;
      if (type === STRING) values.tag(13, 2).string(String(cell));
      else if (type === FLOAT64) run.double(Number(cell));
      else run.int64(Number(cell));
    }
    if (type !== STRING) values.tag(type === FLOAT64 ? 10 : type === INT64 ? 4 : 17, 2).bytes(run.finish());
    const column = new BinaryWriter().tag(1, 2).string(name).tag(2, 0).int32(semantic).tag(5, 0).int32(type);
    request.tag(3, 2).bytes(column.tag(3, 2).bytes(values.finish()).finish());
  }
  return new BinaryWriter().tag(1, 2).bytes(request.finish()).finish() as Uint8Array<ArrayBuffer>;
}

/** A copy of a body whose times are those of body `body`. */
export function bodyAt({ bytes, timesAt }: TimedBody, body: number): Uint8Array {
  const copy = bytes.slice();
  for (const [row, at] of timesAt.entries()) {
    let rest = START_MS + body * timesAt.length + row;
    for (let i = 0; i < TIME_BYTES; i++) {
      copy[at + i] = (rest % 128) | (i < TIME_BYTES - 1 ? 128 : 0);
      rest = Math.floor(rest / 128);
    }
  }
  return copy;
}
