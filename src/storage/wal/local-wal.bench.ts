/**
 * Records a second of the local log with every record synced before it is answered: `bun src/storage/wal/local-wal.bench.ts`.
 *
 * A record has 200 KiB, as 10,000 rows of ten small integers have; writers wait for their answer before they send the next one. The
 * directory is under the system's temporary one, so the figures are those of its disk.
 *
 * Measured with Bun 1.4.5 on 2 shared cores and a virtual disk: 1 writer 640-1,170 records/s, 4 writers 1,340-1,940, 16 writers
 * 4,800-5,900 (940-1,140 MiB/s): what waits for one sync shares the next.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measure } from "mitata";
import { silentLogger } from "../../base/log.ts";
import { openLocalWal } from "./local-wal.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const RECORD_BYTES: number = SMALL ? 4096 : 200 * 1024;
const RECORDS: number = SMALL ? 16 : 64;

const head = new Uint8Array(200).fill(1);
const memory = new Uint8Array(new SharedArrayBuffer(RECORD_BYTES - head.length));
for (let i = 0; i < memory.length; i++) memory[i] = (i * 31) ^ (i >> 7);

process.stdout.write(
  `${"writers".padEnd(10)}${"records/s".padStart(12)}${"MiB/s".padStart(10)}  (median of rounds of ${RECORDS} records)\n`,
);
for (const writers of [1, 4, 16]) {
  const directory = await mkdtemp(join(tmpdir(), "varve-log-bench-"));
  const options = { sync: "always", syncIntervalMs: 1000, segmentBytes: 64 * 1024 * 1024, recovery: "strict" } as const;
  const wal = await openLocalWal({ ...options, directory, logger: silentLogger });
  await wal.recover(() => undefined);
  let sequence = 0;
  const write = async (): Promise<void> => {
    for (let i = 0; i < RECORDS / writers; i++) {
      wal.beginRecord();
      await wal.append(++sequence, [head, memory]);
    }
  };
  const round = async (): Promise<void> => {
    await Promise.all(Array.from({ length: writers }, write));
    await wal.trim(wal.segments().at(-1)?.id ?? 0);
  };
  const { p50 } = await measure(round, { min_cpu_time: 300e6, min_samples: 5, max_samples: 30, warmup_samples: 1 });
  const perSecond = (RECORDS * 1e9) / p50;
  const mebibytes = (perSecond * RECORD_BYTES) / 2 ** 20;
  process.stdout.write(`${String(writers).padEnd(10)}${perSecond.toFixed(0).padStart(12)}${mebibytes.toFixed(0).padStart(10)}\n`);
  await wal.close();
  await rm(directory, { recursive: true });
}
