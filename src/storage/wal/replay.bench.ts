/**
 * How fast a log is read back, and what memory that takes: `bun src/storage/wal/replay.bench.ts`.
 *
 * Each size of records is read in a process of its own, for its peak of memory. Nobody does anything with the records; the log was just
 * written, so the figures are those of the system's file cache, of checksums, and of what a record costs. Peaks hold garbage of all rounds.
 *
 * Measured with Bun 1.4.5 on 2 shared cores, others busy: 300 B a record 365-461 MiB/s, peak 280-450 MiB; 4 KiB 1,780-2,950, 170-180;
 * 200 KiB 1,800-1,920, 260-500; 20 MiB 2,070-2,780, 240-370. With segments read whole peaks were 680-860, 610-980, 620-820, 600-910 MiB.
 * In turn in one process, memory collected before each read, 256 MiB of 200 KiB: 159 ms whole, 44 by pieces; of 4 KiB: 175 and 116.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../base/log.ts";
import { openLocalWal } from "./local-wal.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const LOG_BYTES: number = (SMALL ? 1 : 512) * 2 ** 20;
const ROUNDS: number = SMALL ? 1 : 5;
const OPTIONS = { sync: "interval", syncIntervalMs: 1000, segmentBytes: 64 * 2 ** 20, recovery: "strict" } as const;

const [, , directory] = process.argv;
if (directory === undefined) {
  process.stdout.write(`${"record".padStart(10)}${"MiB/s".padStart(10)}${"peak MiB".padStart(10)}  (median of ${ROUNDS} reads)\n`);
  for (const recordBytes of [300, 4096, 200 * 1024, 20 * 2 ** 20]) await measured(recordBytes);
} else await readBack(directory);

/** Writes a log and has it read by another process. */
async function measured(recordBytes: number): Promise<void> {
  const made = await mkdtemp(join(tmpdir(), "varve-replay-bench-"));
  const wal = await openLocalWal({ ...OPTIONS, directory: made, logger: silentLogger });
  await wal.recover(() => undefined);
  const payload = Uint8Array.from({ length: recordBytes }, (_, i) => (i * 31) ^ (i >> 7));
  let sequence = 0;
  for (let left = LOG_BYTES; left > 0; ) {
    const group: Promise<void>[] = [];
    for (let bytes = 0; bytes < 4 * 2 ** 20 && left > 0; bytes += recordBytes, left -= recordBytes) {
      wal.beginRecord();
      group.push(wal.append(++sequence, [payload]));
    }
    await Promise.all(group);
  }
  await wal.close();
  const child = Bun.spawn([process.execPath, "run", import.meta.path, made], { stdout: "inherit", stderr: "inherit", stdin: "ignore" });
  if ((await child.exited) !== 0) throw new Error(`the reader of records of ${recordBytes} B ended with ${child.exitCode}`);
  await rm(made, { recursive: true });
}

async function readBack(path: string): Promise<void> {
  const times: number[] = [];
  let report = { records: 0, bytes: 0 };
  for (let i = 0; i < ROUNDS; i++) {
    const wal = await openLocalWal({ ...OPTIONS, directory: path, logger: silentLogger });
    const started = performance.now();
    report = await wal.recover(() => undefined);
    times.push(performance.now() - started);
    await wal.close();
  }
  const p50 = times.sort((a, b) => a - b)[ROUNDS >> 1] ?? 0;
  const rate = (report.bytes / 2 ** 20 / p50) * 1000;
  const peakMebibytes = process.resourceUsage().maxRSS / 1024;
  const figures = [report.bytes / report.records, rate, peakMebibytes].map((figure) => figure.toFixed(0).padStart(10));
  process.stdout.write(`${figures.join("")}\n`);
}
