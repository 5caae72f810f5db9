/**
 * Every place where a test may let the server die, fail or stand still, with the state that a death there leaves behind. A campaign kills
 * a server at each of them (`test/crash/README.md`); a name that no campaign hits fails it.
 */

/** Name → what is on disk there. Names are `<what>.<place>`, in the order in which they are passed. */
export const FAIL_POINTS = {
  // A write: schema, log, memory.
  "evolve.before-commit": "the batch needs a table or column; nothing of it is stored",
  "evolve.after-commit": "tables and columns of a batch are stored, its rows are nowhere",
  "write.appended": "the record is in the log's queue",
  "write.durable": "the record is in the log and synced, the rows are not visible yet",
  "write.published": "the rows are visible, and nobody was told that they are stored",

  // The same on an ingest thread; steps of the log and of schemas have the names above and below.
  "thread.durable": "the record is in the thread's log and synced, the owner of the tables has not heard of it",
  "thread.told": "the owner has been told of the record, the client was not",

  // A delete.
  "delete.appended": "the record of the delete is in the log's queue",
  "delete.durable": "the record is in the log and synced, the rows are still visible",
  "delete.published": "the rows are hidden, and nobody was told that they are deleted",

  // The log: one segment.
  "log.segment-made": "an empty segment file; its name may not outlive a power loss",
  "log.header-written": "a segment with a header that is not synced",
  "log.folder-synced": "the segment's header and name are durable",
  "log.ends-noted": "the log has said anew which segments there must be: one that was begun, or all but some that are still there",
  "log.before-write": "nothing of the group of records is in the segment",
  "log.written": "the whole group is in the segment and not synced",
  "log.synced": "the group is durable, and nobody was told",
  "log.cut": "a failed write was cut off, and the cut is not synced",
  "log.healed": "a log that took no records has tried a new segment, and takes them again from now on",
  "log.segment-closed": "the segment takes no more records; the next one does not exist yet",
  "log.before-delete": "a segment that nobody needs is still there",
  "log.deleted": "a segment is gone, older ones before it, younger ones that nobody needs are still there",
  "log.folder-deleted": "the folder of the log of a thread that is no more is gone",

  // A file of the file store.
  "file.folder-made": "a folder that may not outlive a power loss",
  "file.made": "an empty file under a temporary name",
  "file.written": "the whole file under a temporary name, not synced",
  "file.synced": "the whole file under a temporary name",
  "file.renamed": "the file under its name, which may not outlive a power loss",
  "file.durable": "the file is durable, and nobody was told",
  "file.before-delete": "a file that nobody needs is still there",
  "file.deleted": "a file that nobody needs is gone",
  "file.unfinished-deleted": "a start has deleted a file under a temporary name",
  "file.folder-deleted": "the folder of a dropped table is gone",

  // A file of a store elsewhere, with its copy here.
  "upload.begun": "a whole file is here, the store has nothing of it",
  "upload.parts-begun": "the store was told that a long file will come in parts, and has none of them",
  "upload.part-done": "the store has some parts of a long file, and shows nothing",
  "upload.parts-done": "the store has all parts of a long file, and shows nothing",
  "upload.done": "the file is in the store, no entry names it, and nobody was told",
  "upload.failed": "an upload failed, whether its file is in the store is not known, and its copy is still here",
  "upload.earlier-aborted": "a start has given up the uploads of earlier processes, and knows of no file yet",
  "upload.left-done": "a file that was only here, with an entry, is in the store; others perhaps are not",
  "remote.before-delete": "a file that nobody needs is in the store and perhaps here",
  "remote.deleted": "a file that nobody needs is not in the store any more; its copy perhaps is still here",
  "remote.folder-deleted": "the store has nothing of a dropped table; copies of its files perhaps are still here",

  // The meta store: one commit.
  "meta.in-commit": "the changes are in an open transaction",
  "meta.after-commit": "the changes are durable, and nobody was told",

  // A flush, steps in the worker among them.
  "flush.before-freeze": "nothing of the flush",
  "flush.after-freeze": "rows to be flushed are only in the log, perhaps not all of them durable",
  "flush.rows-durable": "all rows to be flushed are in the log",
  "flush.job-begun": "the worker has the job and has written nothing",
  "flush.file-made": "one file of the flush is durable, others perhaps not begun; no entry names it",
  "flush.job-done": "all files of the flush are durable; no entry names them",
  "flush.before-commit": "as before, and the main thread knows of them",
  "flush.after-commit": "entries name the files, the log has the rows too",
  "flush.after-settled": "as before, and the commit is sure to last",
  "flush.after-swap": "as before; readers see the files in place of memory",
  "flush.before-trim": "nobody needs the log for these rows",
  "flush.before-discard": "files of a flush whose table was dropped or emptied meanwhile; no entry names them",

  // A merge of files.
  "compact.before-merge": "nothing of the merge",
  "compact.job-begun": "the worker has the job and has written nothing",
  "compact.job-done": "the new file is durable; no entry names it",
  "compact.before-commit": "as before, and the main thread knows of it",
  "compact.after-commit": "the entry of the new file has replaced those of the old ones, which are all still there",
  "compact.after-swap": "as before; readers see the new file",
  "compact.after-settled": "as before, and the commit is sure to last",
  "compact.old-deleted": "the old files are gone, unless somebody still reads them",
  "compact.before-discard": "the new file of a merge whose table was dropped or emptied meanwhile; no entry names it",

  // Changes of databases and tables.
  "create.before-commit": "nothing of the new table or database",
  "create.after-commit": "the table or database exists, and nobody was told",
  "alter.before-commit": "nothing of the change",
  "alter.after-commit": "the change is stored, and is not in force yet",
  "rename.before-commit": "the table has its old name",
  "rename.after-commit": "the table has its new name, and nobody was told",
  "drop.before-commit": "the table or database with all its rows",
  "drop.after-commit": "no entry names the table; its rows are in the log, its files in their folder",
  "drop.files-deleted": "its files and their folder are gone; its rows are in the log",
  "truncate.before-commit": "the table with all its rows",
  "truncate.after-commit": "the table without rows; they are in the log, its files in their folder",
  "truncate.files-deleted": "its files are gone; its rows are in the log",

  // A start.
  "recover.schemas-read": "as the last end left it",
  "recover.orphan-deleted": "a file that no entry names was deleted; there may be more of them",
  "recover.files-checked": "every file has its entry",
  "recover.segment-read": "a segment was read into memory, others were not",
  "recover.tail-cut": "the torn end of the newest segment was cut off, and the cut is not synced",
  "recover.log-synced": "everything that was read from the log is sure to last",
  "recover.before-trim": "the whole log was read; segments that nobody needs are still there",
  "thread.begun": "what an earlier thread left in its log was read; the log is closed, and the new thread has not opened it",
  "thread.log-taken": "the new thread has the log, and takes no requests yet",
  "recover.done": "segments that nobody needs are gone; the server takes no requests yet",

  // An orderly end.
  "close.begun": "no more requests are taken; memory holds what the log has",
  "close.flushed": "one table was flushed, others perhaps not",
  "close.before-log": "all that will be flushed is in files",
  "close.log-closed": "the log is synced and closed",
  "close.done": "everything is closed; the directory is still locked",
} as const;

/** See `FAIL_POINTS`. */
export type FailPointName = keyof typeof FAIL_POINTS;

/** Whether only a server passes a point whose data files lie in a store elsewhere. */
export function isOfRemoteStore(name: string): boolean {
  return name.startsWith("upload.") || name.startsWith("remote.");
}
