/**
 * Rows a second of the decoder of the native interface, in process, on one thread: `bun src/ingest/greptime/decode.bench.ts`.
 *
 * A request has 1,000 rows of 10 columns: two tags of 100 series, six doubles, a counter and a time. Each case prints a hash of its
 * decoded rows, so that a faster decoder that decodes something else shows.
 */
import { measure } from "mitata";
import { columnsBody, rowsBody } from "../../../bench/macro/native-bodies.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { GreptimeDecoder, type RowMessage } from "./decode.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const ROWS: number = SMALL ? 10 : 1000;
const BODIES = 4;
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
  const bodies = Array.from({ length: BODIES }, (_, body) => (message === "inserts" ? columnsBody(body, ROWS) : rowsBody(body, ROWS)));
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
