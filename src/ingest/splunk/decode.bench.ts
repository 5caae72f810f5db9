/** Events a second of the event collector, without a pipeline: `bun src/ingest/splunk/decode.bench.ts`. */
import { printRate } from "../../../test/support/rate.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { decodeEvents } from "./decode.ts";
import type { EventOptions } from "./types.ts";

const ROWS: number = process.env["VARVE_BENCH_SMOKE"] === "1" ? 100 : 10_000;
const OPTIONS: EventOptions = { table: "t", timeColumn: "greptime_timestamp", nowNanos: 0n, isTimeNumber: true };
const body: string = Array.from({ length: ROWS }, (_, i) =>
  JSON.stringify({
    time: 1_700_000_000 + i / 1000,
    host: `h${i % 10}`,
    source: "app",
    event: `GET /items/${i} 200`,
    fields: { env: "prod" },
  }),
).join("\n");
const decoded = decodeEvents(body, OPTIONS);
const last: unknown = decoded.kind === "events" ? decoded.tables[0]?.rows.at(-1) : decoded;
const hash: number = crc32(
  new TextEncoder().encode(JSON.stringify(last, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value))),
);
printRate("events", ROWS, hash, () => decodeEvents(body, OPTIONS));
