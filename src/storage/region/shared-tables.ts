import type { DataFile } from "../sst/data-file.ts";

/** The logical tables that share a region. Their ids are the values of its first tag column. */
export interface SharedTables {
  /** Ids of those that exist, as the tag's text. Rows of others are dropped tables': flushes and merges leave them out. */
  liveIds(): readonly string[];
  /** Whether a table was dropped since files were last looked through for such rows. Durable. */
  isUnclean(): boolean;
  /** Says that files are about to be looked through, so that drops from now on count anew. Not durable: that is the caller's. */
  beginCleaning(): void;
  /** Files of which more than this share of the rows are dropped tables'. Opens all files. @throws DbError StorageUnavailable */
  filesToClean(share: number): Promise<readonly DataFile[]>;
}
