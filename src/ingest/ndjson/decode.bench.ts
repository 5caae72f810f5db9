/** Documents a second of bodies of logs, without a pipeline: `bun src/ingest/ndjson/decode.bench.ts`. */
import { printRate } from "../../../test/support/rate.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { decodeDocuments } from "./decode.ts";
import type { DocumentType } from "./types.ts";

const ROWS: number = process.env["VARVE_BENCH_SMOKE"] === "1" ? 100 : 10_000;
const AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36";
const lines: readonly string[] = Array.from({ length: ROWS }, (_, i) => {
  const request = { method: "GET", path: `/api/v1/items/${i % 997}`, status: i % 17 === 0 ? 404 : 200, bytes: (i * 7919) % 65_536 };
  return JSON.stringify({
    time: `2024-05-25T20:16:${10 + (i % 50)}Z`,
    ip: `10.0.${i % 256}.1`,
    ...request,
    seconds: i / 1e4,
    agent: AGENT,
  });
});
const bodies: readonly (readonly [DocumentType, string])[] = [
  ["application/x-ndjson", lines.join("\n")],
  ["application/json", `[${lines.join(",")}]`],
  ["text/plain", lines.join("\n")],
];
for (const [type, body] of bodies) {
  const hash = crc32(new TextEncoder().encode(JSON.stringify(decodeDocuments(body, type, false).at(-1), (_key, value: unknown) => value)));
  printRate(type, ROWS, hash, () => decodeDocuments(body, type, false));
}
