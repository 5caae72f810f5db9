/** Rows a second of a text pipeline: `bun src/ingest/pipeline/decode.bench.ts`. The identity has its own: ../ndjson/scanned.bench.ts. */
import { bench, do_not_optimize, run } from "mitata";
import { runOptions } from "../../../test/support/pipeline/shown.ts";
import { compilePipeline } from "./decode.ts";
import type { PipelineResult, PipelineRunOptions } from "./types.ts";

const ROWS = 1000;
const OPTIONS: PipelineRunOptions = runOptions({ table: "logs", nowNanos: 1_716_668_197_000_000_000n });

function two(value: number): string {
  return String(value).padStart(2, "0");
}

const lines: string[] = [];
for (let i = 0; i < ROWS; i++) {
  const clock = `${two(i % 24)}:${two((i * 7) % 60)}:${two((i * 13) % 60)}`;
  const agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/124.0 Safari/537.36";
  const request = `GET /api/v1/items/${i % 97}?page=${i % 11} HTTP/1.1`;
  lines.push(
    `10.0.${i % 7}.${i % 251} - user${i % 9} [25/May/2024:${clock} +0000] "${request}" ${200 + (i % 5)} ${100 + i} "-" "${agent}"`,
  );
}

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

function nginxRun(): PipelineResult {
  return nginx.run(
    lines.map((message) => ({ message })),
    OPTIONS,
  );
}

/** Numbers that change when what the pipeline gives does. */
function hash(result: PipelineResult): number {
  let sum = result.rowCount;
  for (const { batch } of result.groups)
    for (const { fields } of batch.tables) for (const { name } of fields) sum = (sum * 31 + name.length) >>> 0;
  return sum;
}

process.stdout.write(`hash ${hash(nginxRun())}, ${ROWS} rows an iteration\n`);
bench("dissect + date of text", () => do_not_optimize(nginxRun()));
await run();
