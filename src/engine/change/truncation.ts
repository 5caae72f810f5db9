/**
 * Takes the rows of a table away, all or those of whole files: one commit in which file entries go and the flushed sequence rises, so that
 * neither a start nor a flush or merge under way brings them back.
 */
import { DbError } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { MetaChange } from "../../storage/meta-store/meta-store.ts";
import type { Region } from "../../storage/region/region.ts";
import type { DataFile } from "../../storage/sst/data-file.ts";
import type { TimeRange } from "../../table/scan.ts";
import { tableNotFound } from "../../table/not-found.ts";
import type { TableSchema } from "../../table/schema.ts";
import { truncationOf } from "../compaction/file-expiry.ts";
import type { Commits } from "../schema/commits.ts";
import { fileKey, flushedKey } from "../schema/meta-codec.ts";
import type { SequenceCounter } from "../log/sequence-counter.ts";
import type { TableChangesParts } from "./table-changes.ts";
import type { TablesInForce } from "../catalog/tables-in-force.ts";

/** What a truncation touches. */
export interface TruncationParts extends Omit<TableChangesParts, "forgetStorage" | "logger"> {
  readonly commits: Commits;
  readonly sequences: SequenceCounter;
}

/** See the file header. */
export class Truncation {
  private readonly tables: TablesInForce;
  private readonly parts: TruncationParts;

  constructor(tables: TablesInForce, parts: TruncationParts) {
    this.tables = tables;
    this.parts = parts;
  }

  /** @param ranges takes only files whose times all lie in one of them. @throws DbError as `Catalog.truncateTable` */
  async table(database: string, name: string, ranges?: readonly TimeRange[]): Promise<void> {
    const logical = this.tables.live.logical(database, name);
    if (logical !== undefined) return this.logicalTable(logical.schema, ranges);
    const entry = this.tables.live.find(database, name);
    if (entry === undefined) throw tableNotFound(database, name);
    const { elsewhere } = this.parts;
    if (elsewhere !== undefined) return elsewhere.truncate(entry.physical?.schema ?? entry.schema, ranges);
    const regions = entry.all.map(({ table }) => table.region);
    const { meta, commits, compactor, flusher, threads, trimmer, sequences, sure } = this.parts;
    const { live } = this.tables;
    const isChosen = (file: DataFile): boolean => ranges === undefined || ranges.some((range) => lies(file, range));
    if (ranges !== undefined) {
      for (const region of regions) await compactor.strip(region, truncationOf(region.dataFiles, isChosen).stripped);
    }
    const chosen = (region: Region): readonly DataFile[] => truncationOf(region.dataFiles, isChosen).removed;
    let keys: readonly string[] = [];
    let newest = 0;
    const plan = (): readonly MetaChange[] | undefined => {
      if (!regions.every((region) => live.isLive(region))) return undefined;
      failPoint("truncate.before-commit");
      if (ranges !== undefined) {
        keys = regions.flatMap((region) => chosen(region).map((file) => fileKey(region.schemaNow.id, file.id)));
        return keys.map(removalOf);
      }
      // A flush whose commit has not settled has entries of files that the region does not know yet.
      keys = regions.flatMap((region) => [
        ...meta.list(fileKey(region.schemaNow.id)).map(({ key }) => key),
        ...flusher.uncommittedKeys(region),
      ]);
      // Everything that was appended to the log until now goes; what comes until the store answers has a higher sequence.
      ({ newest } = sequences);
      for (const region of regions) {
        const barrier = region.freeze(newest, threads.isShared);
        if (barrier !== undefined) barrier.isBarrier = true;
      }
      return [...keys.map(removalOf), ...regions.map((region) => ({ key: flushedKey(region.schemaNow.id), value: newest }))];
    };
    const taken = await commits.make(plan, () =>
      sure.run("rows that were truncated are gone", () => {
        failPoint("truncate.after-commit");
        const named = new Set(keys);
        return regions.map((region) => {
          compactor.forget(region, ranges === undefined ? undefined : named);
          // As they are now: a flush may have ended since, of rows that go; with ranges its entry stays, and so does its file.
          const isGone = (file: DataFile): boolean => named.has(fileKey(region.schemaNow.id, file.id));
          const gone = ranges === undefined ? region.dataFiles : region.dataFiles.filter(isGone);
          return region.takeAway(gone, ranges === undefined ? newest : undefined);
        });
      }),
    );
    if (taken === undefined) throw tableNotFound(database, name);
    await meta.settled();
    // What threads wrote before is dropped as they tell of it, and its memory comes back.
    await Promise.all(regions.map((region) => threads.barrier(region.schemaNow.id)));
    await flusher.idle(); // A flush of these rows, if it runs, still reads their memory.
    if (ranges === undefined) for (const region of regions) await flusher.forget(region);
    for (const rows of taken) await rows.end();
    failPoint("truncate.files-deleted");
    await trimmer.trim();
  }

  /** A logical table begins anew under another id; its rows go with flushes and merges. */
  private async logicalTable(schema: TableSchema, ranges: readonly TimeRange[] | undefined): Promise<void> {
    const { database, name } = schema;
    if (ranges !== undefined) {
      const why = "its files hold rows of other tables as well; truncate it without FILE RANGE, or delete rows";
      throw new DbError(StatusCode.Unsupported, `cannot truncate table ${name} by file range: ${why}`);
    }
    failPoint("truncate.before-commit");
    const later = this.tables.make(() => this.tables.plans.renumber(database, name).changes);
    if (later !== undefined) await later;
    await this.parts.meta.settled();
  }
}

function removalOf(key: string): MetaChange {
  return { key, value: undefined };
}

/** Whether all times of a file are in the range. */
function lies(file: DataFile, { start, end }: TimeRange): boolean {
  return file.minTime >= start && file.maxTime < end;
}
