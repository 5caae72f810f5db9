/** Rows a second of the identity and of a typical text pipeline, JSON parsing included. `bun src/ingest/pipeline/decode.bench.ts`. */
import { bench, do_not_optimize, run } from "mitata";
import { runOptions } from "../../../test/support/pipeline/shown.ts";
import { runDocuments } from "../ndjson/scanned.ts";
import { compilePipeline, identityPipeline } from "./decode.ts";
import { jsonValue } from "../common/json-value.ts";
import type { PipelineResult, PipelineRunOptions } from "./types.ts";

const ROWS = 1000;
const OPTIONS: PipelineRunOptions = runOptions({ table: "logs", nowNanos: 1_716_668_197_000_000_000n });

function two(value: number): string {
  return String(value).padStart(2, "0");
}

const documents: string[] = [];
const lines: string[] = [];
for (let i = 0; i < ROWS; i++) {
  const clock = `${two(i % 24)}:${two((i * 7) % 60)}:${two((i * 13) % 60)}`;
  const [path, agent] = [
    `/api/v1/items/${i % 97}?page=${i % 11}`,
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/124.0 Safari/537.36",
  ];
  const day = "25/May/2024";
  const entry = {
    time: `2024-05-25T${clock}.123Z`,
    remote_addr: `10.0.${i % 7}.${i % 251}`,
    request: `GET ${path} HTTP/1.1`,
    status: 200 + (i % 5),
  };
  documents.push(
    JSON.stringify({ ...entry, body_bytes_sent: 100 + i, request_time: 0.5 + i / 7, http_user_agent: agent, host: "www.example.org" }),
  );
  lines.push(
    `10.0.${i % 7}.${i % 251} - user${i % 9} [${day}:${clock} +0000] "GET ${path} HTTP/1.1" ${200 + (i % 5)} ${100 + i} "-" "${agent}"`,
  );
}

const identity = identityPipeline();
const nginx = compilePipeline(`
processors:
  - dissect:
      fields: [message]
      patterns:
        - '%{ip} - %{user} [%{ts}] "%{method} %{path} %{protocol}" %{status} %{size} "%{referrer}" "%{agent}"'
  - date:
      fields: [ts]
      formats: ["%d/%b/%Y:%H:%M:%S %z"]
transform:
  - fields: [ip, user, method, path, protocol, referrer, agent]
    type: string
  - fields: [status, size]
    type: int32
  - field: ts
    type: time, ms
    index: timestamp
`);

function identityRun(): PipelineResult {
  return identity.run(documents.map(jsonValue), OPTIONS);
}

function nginxRun(): PipelineResult {
  return nginx.run(
    lines.map((message) => ({ message })),
    OPTIONS,
  );
}

/** Numbers that change when what the pipelines give does. */
function hash(result: PipelineResult): number {
  let sum = result.rowCount;
  for (const { batch } of result.groups)
    for (const { fields } of batch.tables) for (const { name } of fields) sum = (sum * 31 + name.length) >>> 0;
  return sum;
}

process.stdout.write(`hash ${hash(identityRun())} ${hash(nginxRun())}, ${ROWS} rows an iteration\n`);
const body = new TextEncoder().encode(documents.join("\n"));
const scanned = (): PipelineResult => runDocuments(body, "application/x-ndjson", false, identity, OPTIONS);
if (hash(scanned()) !== hash(identityRun())) throw new Error("rows that are read in place differ");
bench("identity of NDJSON, read in place", () => do_not_optimize(scanned()));
bench("identity of NDJSON, as objects", () => do_not_optimize(identityRun()));
bench("dissect + date of text", () => do_not_optimize(nginxRun()));
await run();
