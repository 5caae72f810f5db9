/** Rows a second of NDJSON through the identity, read in place and as objects: `bun src/ingest/ndjson/scanned.bench.ts`. */
import { runOptions } from "../../../test/support/pipeline/shown.ts";
import { printRate } from "../../../test/support/rate.ts";
import { jsonValue } from "../common/json-value.ts";
import { identityPipeline } from "../pipeline/decode.ts";
import type { PipelineResult, PipelineRunOptions } from "../pipeline/types.ts";
import { runDocuments } from "./scanned.ts";

const ROWS: number = process.env["VARVE_BENCH_SMOKE"] === "1" ? 100 : 1000;
const OPTIONS: PipelineRunOptions = runOptions({ table: "logs", nowNanos: 1_716_668_197_000_000_000n });

const documents: readonly string[] = Array.from({ length: ROWS }, (_, i) => {
  const [hour, minute, second] = [i % 24, (i * 7) % 60, (i * 13) % 60].map((value) => String(value).padStart(2, "0"));
  return JSON.stringify({
    time: `2024-05-25T${hour}:${minute}:${second}.123Z`,
    remote_addr: `10.0.${i % 7}.${i % 251}`,
    request: `GET /api/v1/items/${i % 97}?page=${i % 11} HTTP/1.1`,
    status: 200 + (i % 5),
    body_bytes_sent: 100 + i,
    request_time: 0.5 + i / 7,
    http_user_agent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/124.0 Safari/537.36",
    host: "www.example.org",
  });
});
const body: Uint8Array = new TextEncoder().encode(documents.join("\n"));
const identity = identityPipeline();

const inPlace = (): PipelineResult => runDocuments(body, "application/x-ndjson", false, identity, OPTIONS);
const asObjects = (): PipelineResult => identity.run(documents.map(jsonValue), OPTIONS);

/** A number that changes when what the pipeline gives does. */
function hash(result: PipelineResult): number {
  let sum = result.rowCount;
  for (const { batch } of result.groups)
    for (const { fields } of batch.tables) for (const { name } of fields) sum = (sum * 31 + name.length) >>> 0;
  return sum;
}

if (hash(inPlace()) !== hash(asObjects())) throw new Error("rows that are read in place differ");
printRate("identity of NDJSON, read in place", ROWS, hash(inPlace()), inPlace);
printRate("identity of NDJSON, as objects", ROWS, hash(asObjects()), asObjects);
