import { expect, test } from "bun:test";
import { EngineFixture } from "../../../test/support/engine-fixture.ts";

/** A table of one region and three files, the last with a tombstone, whose column got an index after the first. */
async function started(): Promise<EngineFixture> {
  const fixture = await EngineFixture.start();
  await fixture.sql("CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP(3) TIME INDEX, level STRING, msg STRING) WITH (spread = 1)");
  await fixture.sql("INSERT INTO t VALUES ('a', 1, 'info', 'one'), ('b', 2, 'warn', 'two')");
  await fixture.sql("ADMIN flush_table('t')");
  await fixture.sql("ALTER TABLE t MODIFY COLUMN level SET INVERTED INDEX");
  await fixture.sql("INSERT INTO t VALUES ('a', 100000, 'info', 'three')");
  await fixture.sql("ADMIN flush_table('t')");
  await fixture.sql("DELETE FROM t WHERE host = 'b'");
  await fixture.sql("INSERT INTO t VALUES ('c', 100000, 'info', 'four')");
  await fixture.sql("ADMIN flush_table('t')");
  return fixture;
}

const ROWS = [
  ["a", "one"],
  ["a", "three"],
  ["c", "four"],
];

async function checkRows(fixture: EngineFixture): Promise<void> {
  const { rows } = await fixture.both("SELECT host, msg FROM t WHERE level = 'info'");
  expect(rows as unknown).toEqual(ROWS);
}

/** Files now, and files written anew so far. */
function counts({ machine }: EngineFixture): readonly [files: number | undefined, merges: number] {
  const { engine } = machine;
  return [engine.table("public", "t")?.statistics().fileCount, engine.compactionTotals.merges];
}

test("build_index writes the files anew that lack an index, and no others", async () => {
  const fixture = await started();
  await checkRows(fixture);
  expect(counts(fixture)).toEqual([3, 0]);
  await fixture.sql("ADMIN build_index('t')");
  expect(counts(fixture)).toEqual([3, 1]);
  await checkRows(fixture);
  await fixture.sql("ADMIN build_index('t')");
  expect(counts(fixture)).toEqual([3, 1]);
  await fixture.machine.restart();
  await checkRows(fixture);
});

test("build_index leaves a table without indexes alone", async () => {
  const fixture = await started();
  await fixture.sql("ALTER TABLE t MODIFY COLUMN level UNSET INVERTED INDEX");
  await fixture.sql("ADMIN build_index('t')");
  expect(counts(fixture)).toEqual([3, 0]);
  await checkRows(fixture);
});

test("build_index of a column that files do not have writes them once", async () => {
  const fixture = await started();
  await fixture.sql("ALTER TABLE t ADD COLUMN extra STRING SKIPPING INDEX");
  await fixture.sql("ADMIN build_index('t')");
  const [files, merges] = counts(fixture);
  expect([files, merges]).toEqual([3, 3]);
  await fixture.sql("ADMIN build_index('t')");
  expect(counts(fixture)).toEqual([3, 3]);
  await checkRows(fixture);
});
