/**
 * Data files that the meta store names and that are missing or not as long as they were when they were made. They are looked for at the
 * start, which costs one listing and one look a file; queries of their tables fail by the files' names, everything else goes on.
 */
import type { Logger } from "../../base/log.ts";
import type { Troubles } from "../../base/process/troubles.ts";
import type { FileStore } from "../../storage/file-store/file-store.ts";
import type { DataFile } from "../../storage/sst/data-file.ts";

/** Files that get a log line of their own; the rest is counted. */
const LINES_MAX = 20;
/** Files that the reason names. */
const NAMED_MAX = 3;

/** A table as it is looked at. */
export interface CheckedTable {
  readonly database: string;
  readonly name: string;
  readonly files: readonly DataFile[];
}

interface DamagedFile {
  readonly file: DataFile;
  readonly table: string;
}

/** See the file header. */
export class DamagedFiles {
  private readonly store: FileStore;
  private readonly troubles: Troubles;
  private readonly logger: Logger;
  private damaged: readonly DamagedFile[] = [];

  constructor(store: FileStore, troubles: Troubles, logger: Logger) {
    this.store = store;
    this.troubles = troubles;
    this.logger = logger;
  }

  /** Looks at the files of all tables. `present` are the names of those that exist. @throws DbError StorageUnavailable */
  async find(tables: Iterable<CheckedTable>, present: ReadonlySet<string>): Promise<void> {
    const found: DamagedFile[] = [];
    for (const { database, name, files } of tables) {
      for (const file of files) {
        const byteLength = present.has(file.name) ? await this.store.sizeOf(file.name) : undefined;
        if (byteLength === file.byteLength) continue;
        found.push({ file, table: `${database}.${name}` });
        if (found.length > LINES_MAX) continue;
        const fields = {
          file: file.name,
          table: `${database}.${name}`,
          wantBytes: file.byteLength,
          gotBytes: byteLength,
          rows: file.rowCount,
        };
        this.logger.error(fields, byteLength === undefined ? "a data file is missing" : "a data file does not have its length");
      }
    }
    this.damaged = found;
    this.judge();
  }

  /** Looks again at those that were damaged: they may have been restored, or are not needed any more. @throws DbError */
  async lookAgain(isNeeded: (file: DataFile) => boolean): Promise<void> {
    if (this.damaged.length === 0) return;
    const left: DamagedFile[] = [];
    for (const one of this.damaged) {
      if (isNeeded(one.file) && (await this.store.sizeOf(one.file.name)) !== one.file.byteLength) left.push(one);
    }
    this.damaged = left;
    this.judge();
  }

  private judge(): void {
    const { damaged } = this;
    if (damaged.length === 0) {
      this.troubles.works("data_files");
      return;
    }
    const named = damaged.slice(0, NAMED_MAX).map(({ file, table }) => `${file.name} of table ${table}`);
    const rest = damaged.length - named.length;
    const which = `${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
    this.troubles.failed(
      "data_files",
      `missing or cut off: ${which}; queries that need them fail: restore them from a backup, or drop or truncate the tables`,
    );
  }
}
