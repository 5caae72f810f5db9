/**
 * Puts other files in the place of some of a table's: one commit, then the lists, then the old files go. After a commit that failed, or of
 * which nobody knows whether it is durable, `settle` makes it good, and deletes what is not named then, before another file is made.
 */
import { failPoint } from "../../base/process/fail-point.ts";
import type { SureSteps } from "../../base/process/sure-steps.ts";
import type { FileStore } from "../../storage/file-store/file-store.ts";
import { type Commits, NOTHING_TO_TAKE } from "../schema/commits.ts";
import { Fenced, type MetaChange, type MetaStore } from "../../storage/meta-store/meta-store.ts";
import type { Region } from "../../storage/region/region.ts";
import type { DataFile } from "../../storage/sst/data-file.ts";
import { encodeFile, fileKey } from "../schema/meta-codec.ts";

/** What a commit that failed, or of which nobody knows whether it is durable, leaves to do. */
interface Unsettled {
  /** To be committed, whatever was in force. */
  readonly changes: readonly MetaChange[];
  /** What may go once that is durable. */
  readonly cleanUp: () => Promise<void>;
}

/** What swaps work with. */
export interface FileSwapsParts {
  readonly meta: MetaStore;
  readonly commits: Commits;
  readonly files: FileStore;
  readonly sure: SureSteps;
  /** False once the table is dropped. */
  isLive(region: Region): boolean;
}

/** See the file header. One swap of a table at a time. */
export class FileSwaps {
  private readonly meta: MetaStore;
  private readonly commits: Commits;
  private readonly files: FileStore;
  private readonly sure: SureSteps;
  private readonly isLive: (region: Region) => boolean;
  private readonly unsettled: WeakMap<Region, Unsettled> = new WeakMap();

  constructor(parts: FileSwapsParts) {
    this.meta = parts.meta;
    this.commits = parts.commits;
    this.files = parts.files;
    this.sure = parts.sure;
    this.isLive = (region) => parts.isLive(region);
  }

  /**
   * One commit, then the lists, then the old files. False: nothing was done, since the table, or one of its old files, has gone meanwhile.
   *
   * @throws DbError StorageUnavailable; `settle` has to be called before the next
   */
  async swap(region: Region, old: readonly DataFile[], made: readonly DataFile[]): Promise<boolean> {
    const { meta, files } = this;
    const tableId = region.schemaNow.id;
    const removal = (file: DataFile): MetaChange => ({ key: fileKey(tableId, file.id), value: undefined });
    const entry = (file: DataFile): MetaChange => ({ key: fileKey(tableId, file.id), value: encodeFile(file) });
    const changes = [...old.map(removal), ...made.map(entry)];
    let removeOld: (() => Promise<void>) | undefined;
    try {
      removeOld = await this.commits.make(
        () => {
          if (!this.isLive(region) || !region.hasFiles(old)) return undefined;
          failPoint("compact.before-commit");
          return changes;
        },
        // In the turn of the answer: a truncation or another merge must see the list that the meta store has.
        () =>
          this.sure.run("merged files take the place of others", () => {
            failPoint("compact.after-commit");
            return region.replaceFiles(old, made);
          }),
      );
    } catch (error) {
      if (error instanceof Fenced) throw error; // It is not in force, and the files are another's to delete.
      // Whether it took effect is not known: `settle` undoes it, a restart finds one or the other.
      const cleanUp = async (): Promise<void> => {
        for (const { name } of made) await files.delete(name);
      };
      this.unsettled.set(region, { changes: [...made.map(removal), ...old.map(entry)], cleanUp });
      throw error;
    }
    if (removeOld === undefined) return false;
    failPoint("compact.after-swap");
    try {
      await meta.settled();
      meta.secure(); // The old files are the other copy of these rows.
    } catch (error) {
      this.unsettled.set(region, { changes, cleanUp: removeOld }); // In force here, perhaps not on disk.
      throw error;
    }
    failPoint("compact.after-settled");
    await removeOld();
    failPoint("compact.old-deleted");
    return true;
  }

  /** Does what a failed commit left to do. @throws DbError StorageUnavailable when the meta store still fails */
  async settle(region: Region): Promise<void> {
    const unsettled = this.unsettled.get(region);
    if (unsettled === undefined) return;
    const { meta } = this;
    // At its turn: a truncation may have forgotten some of them, and a drop all.
    const changesNow = (): readonly MetaChange[] => (this.isLive(region) ? (this.unsettled.get(region)?.changes ?? []) : []);
    await this.commits.make(() => (changesNow().length === 0 ? undefined : changesNow()), NOTHING_TO_TAKE);
    await meta.settled();
    meta.secure();
    this.unsettled.delete(region);
    await unsettled.cleanUp();
  }

  /**
   * Says that entries of a table's files are gone for good, all or those of `keys`: no failed commit may bring them back. Returns whether
   * there was one.
   */
  forget(region: Region, keys: ReadonlySet<string> | undefined): boolean {
    const unsettled = this.unsettled.get(region);
    if (unsettled === undefined) return false;
    const changes = keys === undefined ? [] : unsettled.changes.filter(({ key }) => !keys.has(key));
    this.unsettled.set(region, { ...unsettled, changes });
    return true;
  }
}
