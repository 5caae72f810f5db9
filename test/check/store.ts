/** A small data directory with every kind of file, as a killed server leaves it. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { silentLogger } from "../../src/base/log.ts";
import { openLocalWal } from "../../src/storage/wal/local-wal.ts";
import { ThreadLogNames } from "../../src/storage/wal/thread-log-names.ts";
import { threadLogFolder } from "../../src/storage/wal/thread-logs.ts";
import { fill } from "../compat/make.ts";
import { put } from "../engine/lines.ts";
import { openLocalEngine } from "../engine/local-engine.ts";
import { engineSql } from "../support/engine-sql.ts";

const SEGMENT_BYTES = 4096;
/** Far above those of the engine's own records. */
const THREAD_SEQUENCE = 1_000_000;

/**
 * Makes the directory `home`, by way of `${home}.life`: data files with tombstones, indexes of fields, filters of tags and sections of
 * series; a meta store with a view; a log of several segments, one of a thread, and rows that are only there.
 *
 * @param hasJournal whether the last commits are in the meta store's journal, or all in its database file
 */
export async function makeStore(home: string, hasJournal: boolean): Promise<void> {
  const life = `${home}.life`;
  const { engine } = await openLocalEngine(life, { sync: "never", segmentBytes: SEGMENT_BYTES });
  await fill(engine);
  await engineSql(
    engine,
    `CREATE TABLE indexed (ts TIMESTAMP TIME INDEX, host STRING PRIMARY KEY,
      k STRING INVERTED INDEX, n BIGINT SKIPPING INDEX, m STRING FULLTEXT INDEX)`,
  );
  const values = Array.from({ length: 300 }, (_, i) => `(${i}, 'h${i % 3}', 'k${i % 7}', ${i % 11}, 'some words of row ${i}')`);
  await engineSql(engine, `INSERT INTO indexed VALUES ${values.join(", ")}`);
  await engine.flushTable("public", "indexed");
  await engineSql(engine, "DELETE FROM indexed WHERE ts >= 10 AND ts < 20");
  await engine.flushTable("public", "indexed");
  await engineSql(engine, "CREATE VIEW seen AS SELECT host FROM indexed");
  for (let i = 0; i < 60; i++)
    await put(engine, `kinds,host=l${i},rack=r1 i=${i}i,s="a text that fills the segments of the log ${i}" ${i}`);
  if (!hasJournal) await engine.keepUp();
  else await engineSql(engine, "COMMENT ON TABLE indexed IS 'in the journal'");
  cpSync(life, home, { recursive: true, filter: (path) => !path.endsWith("-shm") });
  await addThreadLog(home);
  await engine.close();
}

/** A log of an ingest thread, with a record of a table that there is no more: a start takes it for one that was dropped. */
async function addThreadLog(home: string): Promise<void> {
  const directory = join(home, "wal");
  const payload = recordOfNothing();
  const options = { sync: "never", syncIntervalMs: 100, segmentBytes: SEGMENT_BYTES, recovery: "strict", logger: silentLogger } as const;
  const wal = await openLocalWal({ directory: threadLogFolder(directory, 1), ...options });
  await wal.recover(() => undefined);
  for (let i = 0; i < 3; i++) {
    wal.beginRecord();
    await wal.append(THREAD_SEQUENCE + i, [payload]);
  }
  await wal.close();
  await new ThreadLogNames(directory).set(() => [1]);
}

/** A write record of version 4 without chunks. */
function recordOfNothing(): Uint8Array {
  const bytes = new Uint8Array(9);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 4, true);
  view.setUint32(4, 1, true);
  return bytes;
}
