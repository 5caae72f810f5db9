/**
 * Rows a second of the decoder of the native interface, in process, on one thread: `bun src/ingest/greptime/decode.bench.ts`.
 *
 * A request has 1,000 rows of 10 columns: two tags of 100 series, six doubles, a counter and a time. Each case prints a hash of its
 * decoded rows, so that a faster decoder that decodes something else shows.
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { measure } from "mitata";
import { crc32 } from "../../base/bytes/hash.ts";
import { GreptimeDecoder, type RowMessage } from "./decode.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const ROWS: number = SMALL ? 10 : 1000;
const BODIES = 4;
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

function cellsOf(body: number, row: number): readonly (string | number)[] {
  const series = row % SERIES;
  const floats = FLOATS.map((_, i) => ((row * 7919 + i * 104_729 + body) % 10_000) / 100);
  return [`host_${series}`, `region_${series % 9}`, START_MS + body * ROWS + row, ...floats, row * 31 + body];
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

function rowsBody(body: number): Uint8Array {
  const rows = new BinaryWriter();
  for (const [name, type, semantic] of COLUMNS) {
    rows.tag(1, 2).bytes(new BinaryWriter().tag(1, 2).string(name).tag(2, 0).int32(type).tag(3, 0).int32(semantic).finish());
  }
  for (let row = 0; row < ROWS; row++) {
    const values = new BinaryWriter();
    for (const [i, cell] of cellsOf(body, row).entries()) {
      values.tag(1, 2).bytes(value(new BinaryWriter(), COLUMNS[i]?.[1] ?? 0, cell).finish());
    }
    rows.tag(2, 2).bytes(values.finish());
  }
  const request = new BinaryWriter().tag(1, 2).string("cpu").tag(2, 2).bytes(rows.finish());
  return new BinaryWriter().tag(1, 2).bytes(request.finish()).finish();
}

function columnsBody(body: number): Uint8Array {
  const request = new BinaryWriter().tag(1, 2).string("cpu").tag(4, 0).uint32(ROWS);
  for (const [i, [name, type, semantic]] of COLUMNS.entries()) {
    const [run, values] = [new BinaryWriter(), new BinaryWriter()];
    for (let row = 0; row < ROWS; row++) {
      const cell = cellsOf(body, row)[i] ?? 0;
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

const options = { database: "public", schemas: { columnOf: () => undefined } };

/** Decodes all bodies once and returns a hash of their rows. */
function decodeAll(decoder: GreptimeDecoder, bodies: readonly Uint8Array[], message: RowMessage): number {
  let hash = 0;
  for (const body of bodies) {
    for (const { rowCount, keys, fields } of decoder.decode(message, body, options).batch.tables) {
      hash = crc32(new Uint8Array(keys.buffer, keys.byteOffset, 4 * rowCount), hash);
      for (const { vector } of fields) {
        if (vector.kind === "number") hash = crc32(new Uint8Array(vector.values.buffer, vector.values.byteOffset, 8 * rowCount), hash);
      }
    }
  }
  return hash;
}

for (const message of ["row_inserts", "inserts"] as const) {
  const bodies = Array.from({ length: BODIES }, (_, body) => (message === "inserts" ? columnsBody(body) : rowsBody(body)));
  const decoder = new GreptimeDecoder();
  const hash = decodeAll(decoder, bodies, message);
  let next = 0;
  const run = (): number => decoder.decode(message, bodies[next++ % BODIES] as Uint8Array, options).rowCount;
  const stats = SMALL ? { p50: 0 } : await measure(run);
  if (SMALL) run();
  const rows = ((ROWS * 1e3) / stats.p50).toFixed(2);
  const speed = (((bodies[0]?.length ?? 0) * 1e3) / stats.p50).toFixed(0);
  const rate = SMALL ? "ran once" : `${rows} M rows/s, ${speed} MB/s`;
  process.stdout.write(`${message}: ${rate}, hash ${(hash >>> 0).toString(16)}\n`);
}
