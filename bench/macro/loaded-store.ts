/** Stores that hold a data set, for measurements that only read: loaded once, and found again in a work directory that is kept. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Dataset, TABLE } from "./dataset.ts";
import type { Generated } from "./generator.ts";
import { loadFile, type Shape, waitUntilVisible } from "./ingest-bench.ts";
import { waitUntilIdle } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import { sqlTable } from "./sql-client.ts";
import type { Target } from "./target.ts";

/** What to load, and how. */
export interface StoreLoad {
  readonly dataset: Dataset;
  /** Makes the input when it is needed. */
  readonly input: () => Promise<Generated>;
  readonly shape: Shape;
  /** Whether all of Varve's files are merged at the end; default no. */
  readonly isMerged?: boolean;
  readonly progress: Progress;
}

/** Says that a store is whole, and which rows it holds. */
const MARK = "loaded.json";

/** Whether `directory` is a store that `loadStore` made of these rows. */
export async function isLoaded(target: Target, directory: string, dataset: Dataset, isMerged = false): Promise<boolean> {
  const mark = Bun.file(join(directory, MARK));
  return (await mark.exists()) && (await mark.text()) === markOf(target, dataset, isMerged);
}

function markOf(target: Target, dataset: Dataset, isMerged: boolean): string {
  return JSON.stringify({ target: target.name, ...dataset, ...(isMerged ? { isMerged } : {}) });
}

/** Makes `directory` a stopped store of the target with all rows, flushed, unless it is one. @throws Error when a row is missing */
export async function loadStore(target: Target, directory: string, load: StoreLoad): Promise<void> {
  const { dataset, input, shape, isMerged = false, progress } = load;
  if (await isLoaded(target, directory, dataset, isMerged)) {
    progress(`${target.name}: the rows are in ${directory} already`);
    return;
  }
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const rows = await input();
  progress(`${target.name}: ${dataset.rows} rows to ${directory}`);
  const running = await target.start(directory);
  await loadFile(running, shape, rows);
  await waitUntilVisible(running, target.name, dataset.rows);
  await running.flush();
  if (isMerged) await sqlTable(running.baseUrl, `ADMIN compact_table('${TABLE}')`);
  await waitUntilIdle(running.server.pid);
  await running.server.stop();
  await Bun.write(join(directory, MARK), markOf(target, dataset, isMerged));
}
