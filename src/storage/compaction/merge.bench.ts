/**
 * Rows a second of a merge: eight flushes of 4,000 series that follow each other in time, to one file, on one thread, in memory:
 * `bun src/storage/compaction/merge.bench.ts`. The second figure has every row twice, as if all clients had sent their rows again.
 *
 * Measured with Bun 1.4.5 on one of 2 shared cores: in order 3.0M rows/s (667 ms for 2M rows), 2.90 B a row before, 1.95 after; twice
 * 2.9M rows/s, and the very bytes that one flush of the rows writes (sha256 4bfa725281b1).
 */
import { measure } from "mitata";
import { tsbsJob, TSBS_SCHEMA } from "../../../test/support/storage/tsbs-job.ts";
import { memoryFileStore } from "../file-store/memory-file-store.ts";
import type { DataFile } from "../sst/data-file.ts";
import { flushChunks } from "../sst/write/flush.ts";
import { mergeFiles } from "./merge.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const FLUSHES = 8;
const FLUSH_ROWS: number = SMALL ? 10_000 : 250_000;
const HOSTS: number = SMALL ? 100 : 4000;

async function run(what: string, firstRows: readonly number[]): Promise<void> {
  const files = new Map<string, Uint8Array>();
  const store = memoryFileStore(files);
  const inputs: DataFile[] = [];
  for (const [i, firstRow] of firstRows.entries())
    inputs.push(...(await flushChunks(tsbsJob(firstRow, FLUSH_ROWS, HOSTS, 1 + 100 * i), store)));
  const job = { schema: TSBS_SCHEMA, inputs, defaults: [], minTime: undefined, older: [], fileId: 100_000 };
  const file = await mergeFiles(job, store);
  if (file === undefined) throw new Error("rows make a file");
  const hash = new Bun.CryptoHasher("sha256")
    .update(files.get(file.name) ?? "")
    .digest("hex")
    .slice(0, 12);
  const rows = inputs.reduce((sum, input) => sum + input.rowCount, 0);
  const before = inputs.reduce((sum, input) => sum + input.byteLength, 0) / rows;
  process.stdout.write(
    `${what}: ${inputs.length} files of ${rows} rows, ${before.toFixed(2)} B a row → ${file.rowCount} rows, ` +
      `${(file.byteLength / file.rowCount).toFixed(2)} B a row, sha256 ${hash}\n`,
  );
  const { p50 } = await measure(async () => void (await mergeFiles(job, store)), { min_cpu_time: 1e9, min_samples: 3, warmup_samples: 1 });
  process.stdout.write(`${what}: ${((rows * 1e3) / p50).toFixed(2)}M rows/s read, ${(p50 / 1e6).toFixed(0)} ms\n`);
}

const inOrder: readonly number[] = Array.from({ length: FLUSHES }, (_, i) => i * FLUSH_ROWS);
await run("in order", inOrder);
await run("twice", [...inOrder.slice(0, FLUSHES / 2), ...inOrder.slice(0, FLUSHES / 2)]);
