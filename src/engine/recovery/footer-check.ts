/**
 * Entries of files that were taken over from a meta store without checksums (version 1) are held against the files' footers, once, by the
 * first start of a version that has them: a bit that had flipped in an entry would hide rows, and its checksum would not tell.
 */
import { corrupted } from "../../base/error.ts";
import type { FileStore } from "../../storage/file-store/file-store.ts";
import { type MetaStore, UNVERIFIED_KEY } from "../../storage/meta-store/meta-store.ts";
import { entryMismatch } from "../../storage/sst/read/entry-check.ts";
import { fromParquet } from "../../storage/sst/read/file-contents.ts";
import type { CheckedTable } from "../health/damaged-files.ts";

/** See the file header. @throws DbError StorageUnavailable naming the first entry that is not its file's */
export async function checkFooters(meta: MetaStore, files: FileStore, tables: Iterable<CheckedTable>): Promise<void> {
  if (meta.get(UNVERIFIED_KEY) === undefined) return;
  for (const table of tables) {
    for (const file of table.files) {
      // A file that is missing or cannot be read is found, and named, elsewhere.
      const why = await fromParquet(file.name, files, (parquet) => entryMismatch(file, parquet));
      if (why === undefined) continue;
      throw corrupted(
        `cannot open the data: of file ${file.name} of table ${table.database}.${table.name}, ${why}; put back the one ` +
          "that is not right, from a backup, or move the file out of the data folder to go on without its rows",
        { file: file.name, offset: undefined, kind: "structure" },
      );
    }
  }
  await meta.commit([{ key: UNVERIFIED_KEY, value: undefined }]);
  await meta.settled();
}
