/** Documents a second of bulk requests, without a pipeline: `bun src/ingest/elasticsearch/decode.bench.ts`. */
import { printRate } from "../../../test/support/rate.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { decodeBulk } from "./decode.ts";

const ROWS: number = process.env["VARVE_BENCH_SMOKE"] === "1" ? 100 : 10_000;
const OPTIONS = { index: undefined, messageField: undefined };
const body: string = Array.from({ length: ROWS }, (_, i) => {
  const document = {
    "@timestamp": "2024-05-25T20:16:37Z",
    message: `GET /items/${i} 200`,
    host: { name: `h${i % 10}` },
    log: { offset: i },
  };
  return `{"create":{"_index":"filebeat"}}\n${JSON.stringify(document)}\n`;
}).join("");
const hash: number = crc32(
  new TextEncoder().encode(JSON.stringify(decodeBulk(body, OPTIONS).tables[0]?.rows.at(-1), (_key, value: unknown) => value)),
);
printRate("bulk", ROWS, hash, () => decodeBulk(body, OPTIONS));
