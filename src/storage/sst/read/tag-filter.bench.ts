/**
 * What the filters of tags save a query for one series over files that are not open yet: `bun src/storage/sst/read/tag-filter.bench.ts`.
 *
 * 200 files in memory, of 1,000 series each, five rows a series. Every measurement opens all of them anew.
 *
 * Measured with Bun 1.4.5 on one of 2 shared cores:
 *   without filters all 200 files are opened: 290-310 ms; with them 2 are (one holds the host): 18-19 ms
 *   asked again, with 198 files still closed: 0.3-0.5 ms
 */
import { measure } from "mitata";
import { tsbsJob } from "../../../../test/support/storage/tsbs-job.ts";
import { type TextTable, textAt, textTableOf } from "../../../column/text-table.ts";
import { bloomHash } from "../../../format/parquet/chunks/bloom-filter.ts";
import { PageCache } from "../../cache/page-cache.ts";
import { memoryFileStore } from "../../file-store/memory-file-store.ts";
import { SeriesRegistry } from "../../series/series-registry.ts";
import type { DataFile } from "../data-file.ts";
import { flushChunks } from "../write/flush.ts";
import { SstFile } from "./sst-file.ts";
import type { WantedTag } from "./tag-filter.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const FILES: number = SMALL ? 2 : 200;
const HOSTS: number = SMALL ? 100 : 1000;
const ROWS = 10_000;

const store = memoryFileStore();
const metas: DataFile[] = [];
for (let file = 0; file < FILES; file++) {
  const job = tsbsJob(file * ROWS, ROWS, HOSTS, file + 1);
  const { tags } = job;
  const own = tags.map((column, c) => (c === 0 ? { ...column, texts: withSuffix(column.texts, `_${file}`) } : column));
  metas.push(...(await flushChunks({ ...job, tags: own }, store)));
}

/** The same texts with something behind each. */
function withSuffix(texts: TextTable, suffix: string): TextTable {
  return textTableOf(
    Array.from({ length: texts.size }, (_, code) => {
      const text = textAt(texts, code);
      return text === undefined ? undefined : text + suffix;
    }),
  );
}

/** Opens all files for a query and tells how many were opened. */
async function open(wanted: readonly WantedTag[], files: readonly SstFile[]): Promise<number> {
  const registry = new SeriesRegistry("cpu");
  registry.setColumns(Array.from({ length: 10 }, (_, c) => ({ id: c + 1, name: `tag_${c}` })));
  const cache = new PageCache(1 << 20);
  let opened = 0;
  for (const file of files) if ((await file.openIfHolds(wanted, registry, cache)) !== undefined) opened++;
  return opened;
}

const newFiles = (): readonly SstFile[] => metas.map((meta) => new SstFile(meta, store));

async function report(name: string, wanted: readonly WantedTag[]): Promise<void> {
  const opened = await open(wanted, newFiles());
  const { p50 } = await measure(async () => void (await open(wanted, newFiles())), {
    min_cpu_time: SMALL ? 1 : 1e9,
    min_samples: SMALL ? 1 : 3,
    warmup_samples: 1,
  });
  process.stdout.write(`${name}: ${opened} of ${metas.length} files opened, ${(p50 / 1e6).toFixed(1)} ms\n`);
}

const hash = bloomHash(new TextEncoder().encode(`host_5_${FILES - 1}`));
const wanted: readonly WantedTag[] = [{ columnId: 1, hashes: [hash], orNull: false, orAbsent: false }];
await report("without filters", []);
await report("with filters", wanted);

const probed = newFiles();
await open(wanted, probed);
const again = await measure(async () => void (await open(wanted, probed)), { min_cpu_time: SMALL ? 1 : 2e8 });
process.stdout.write(`asked again, files closed still: ${(again.p50 / 1e6).toFixed(2)} ms\n`);
