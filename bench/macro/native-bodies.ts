/**
 * Rows of the native interface, made by the protobuf library: 10 columns, two tags of 100 series, a time, six doubles, a counter.
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** The table that they go to. */
export const NATIVE_TABLE = "cpu_native";

const SERIES = 100;
const START_MS = 1_731_000_000_000;
const [TAG, FIELD, TIMESTAMP] = [0, 1, 2];
const [INT64, FLOAT64, STRING, TIMESTAMP_MILLISECOND] = [4, 10, 12, 16];
const FLOATS = ["usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq"];
const COLUMNS: readonly (readonly [name: string, type: number, semantic: number])[] = [
  ["hostname", STRING, TAG],
  ["region", STRING, TAG],
  ["ts", TIMESTAMP_MILLISECOND, TIMESTAMP],
  ...FLOATS.map((name) => [name, FLOAT64, FIELD] as const),
  ["requests", INT64, FIELD],
] as [string, number, number][];

function cellsOf(body: number, row: number, rowCount: number): readonly (string | number)[] {
  const series = row % SERIES;
  const floats = FLOATS.map((_, i) => ((row * 7919 + i * 104_729 + body) % 10_000) / 100);
  return [`host_${series}`, `region_${series % 9}`, START_MS + body * rowCount + row, ...floats, row * 31 + body];
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
  const rows = new BinaryWriter();
  for (const [name, type, semantic] of COLUMNS) {
    rows.tag(1, 2).bytes(new BinaryWriter().tag(1, 2).string(name).tag(2, 0).int32(type).tag(3, 0).int32(semantic).finish());
  }
  for (let row = 0; row < rowCount; row++) {
    const values = new BinaryWriter();
    for (const [i, cell] of cellsOf(body, row, rowCount).entries()) {
      values.tag(1, 2).bytes(value(new BinaryWriter(), COLUMNS[i]?.[1] ?? 0, cell).finish());
    }
    rows.tag(2, 2).bytes(values.finish());
  }
  const request = new BinaryWriter().tag(1, 2).string(NATIVE_TABLE).tag(2, 2).bytes(rows.finish());
  return new BinaryWriter().tag(1, 2).bytes(request.finish()).finish();
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
    const column = new BinaryWriter().tag(1, 2).string(name).tag(2, 0).int32(semantic).tag(3, 2).bytes(values.finish());
    request.tag(3, 2).bytes(column.tag(5, 0).int32(type).finish());
  }
  return new BinaryWriter().tag(1, 2).bytes(request.finish()).finish();
}
