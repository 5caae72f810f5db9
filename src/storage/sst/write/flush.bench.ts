/**
 * Rows a second of a flush: chunks of 10,000 rows to one sorted file, on one thread: `bun src/storage/sst/write/flush.bench.ts`.
 *
 * 1M rows of 4,000 series with ten integers of 0 to 100, into memory, so that no disk is measured.
 *
 * Measured with Bun 1.4.5 on one of 2 shared cores: 6.2-6.9M rows/s (146-162 ms), 2.27 B a row, sha256 a372ae5b47fd.
 */
import { measure } from "mitata";
import { tsbsJob } from "../../../../test/support/storage/tsbs-job.ts";
import { memoryFileStore } from "../../file-store/memory-file-store.ts";
import { flushChunks } from "./flush.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const ROWS: number = SMALL ? 20_000 : 1_000_000;
const HOSTS: number = SMALL ? 100 : 4000;

const job = tsbsJob(0, ROWS, HOSTS, 1);
const store = new Map<string, Uint8Array>();
const files = await flushChunks(job, memoryFileStore(store));
const bytes = files.reduce((sum, file) => sum + file.byteLength, 0);
const hash = new Bun.CryptoHasher("sha256");
for (const file of files) hash.update(store.get(file.name)!);
process.stdout.write(`${files.length} file(s), ${(bytes / ROWS).toFixed(2)} B a row, sha256 ${hash.digest("hex").slice(0, 12)}\n`);
const { p50 } = await measure(async () => void (await flushChunks(job, memoryFileStore())), {
  min_cpu_time: 1e9,
  min_samples: 5,
  warmup_samples: 1,
});
process.stdout.write(`flush: ${((ROWS * 1e3) / p50).toFixed(2)}M rows/s, ${(p50 / 1e6).toFixed(0)} ms for ${ROWS} rows\n`);
