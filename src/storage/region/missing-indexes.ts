/**
 * Files that were written before the indexes that their table asks for now: ALTER changes only what new files get. Only the directories
 * of indexes are compared, so that a change of an option such as the granularity does not count.
 */
import type { PageCache } from "../cache/page-cache.ts";
import type { FileIndexes } from "../index/file-indexes.ts";
import { type IndexSpec, indexSpecsOf } from "../index/index-spec.ts";
import type { DataFile } from "../sst/data-file.ts";
import type { Region } from "./region.ts";

/** Files of a region that lack an index of its schema, oldest first. All files are opened. @throws DbError StorageUnavailable */
export async function filesWithoutIndexes(region: Region, cache: PageCache): Promise<readonly DataFile[]> {
  const specs = indexSpecsOf(region.schemaNow);
  if (specs.length === 0) return [];
  const lacking: DataFile[] = [];
  const snapshot = region.snapshot();
  try {
    for (const file of snapshot.files) {
      const opened = await file.open(region.registry, cache);
      const indexes = await opened.indexes();
      if (!specs.every((spec) => has(indexes, spec))) lacking.push(file.meta);
    }
  } finally {
    await snapshot.release();
  }
  return lacking;
}

/** Whether a file has an index. Too many values for a list get filters of them instead. */
function has(indexes: FileIndexes | undefined, { columnId, kind }: IndexSpec): boolean {
  const found = indexes?.of(columnId) ?? [];
  return found.some((index) => index.kind === kind || (kind === "list" && index.kind === "values"));
}
