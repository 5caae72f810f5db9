/**
 * The decision table of replay.ts, every combination of: what became of the table, what was flushed before, whether the record that defines
 * a series was lost, whether the last record was torn, and whether records share a segment. The want is computed from these alone.
 */
import { expect, test } from "bun:test";
import { put, read } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { plainParts } from "../../../test/engine/plain-parts.ts";
import { memoryFileStore } from "../../storage/file-store/memory-file-store.ts";
import { Engine } from "../engine.ts";

const FATES = ["kept", "renamed", "truncated", "dropped", "dropped and made again"] as const;
const BOTH = [false, true];

interface Case {
  readonly fate: (typeof FATES)[number];
  /** Whether records 1 and 2 were flushed. */
  readonly isFlushed: boolean;
  /** Whether record 1, which defines series `a` for its segment, was damaged and skipped. */
  readonly isLost: boolean;
  /** Whether the last record is a torn tail. */
  readonly isTorn: boolean;
  /** Whether every record has a segment of its own, and so its definitions. */
  readonly isApart: boolean;
}

/** Sequences: another table's row, which keeps the log; `a`; `b`; `a` again; then, if there is a table, `b` again. */
const [FIRST_A, LAST_A, LATER] = [2, 4, 5];

async function live(machine: Machine, { fate, isFlushed }: Case): Promise<void> {
  const { engine } = machine;
  await put(engine, "keeper,host=a v=1i 1");
  await put(engine, "cpu,host=a v=1i 1");
  await put(engine, "cpu,host=b v=2i 2");
  if (isFlushed) await engine.flushTable("public", "cpu");
  await put(engine, "cpu,host=a v=3i 3");
  if (fate === "renamed") await engine.alterTable("public", "cpu", { kind: "rename", name: "renamed" });
  if (fate === "truncated") await engine.truncateTable("public", "cpu");
  if (fate.startsWith("dropped")) await engine.dropTable("public", "cpu", false);
  if (fate !== "dropped") await put(engine, `${fate === "renamed" ? "renamed" : "cpu"},host=b v=4i 4`);
}

/** Rows after a start; undefined when there is no table. */
function wanted({ fate, isFlushed, isLost, isTorn, isApart }: Case): string[] | undefined {
  if (fate === "dropped") return undefined;
  const rows: string[] = [];
  if (fate === "kept" || fate === "renamed") {
    if (isFlushed || !isLost) rows.push("'a'|1|1");
    // What record 1 defined is needed for `a` in the same segment, whether its own rows are flushed or not.
    if (!isLost || isApart) rows.push("'a'|3|3");
    rows.push("'b'|2|2");
  }
  if (!isTorn) rows.push("'b'|4|4");
  return rows;
}

async function restart(machine: Machine, { fate, isLost, isTorn }: Case): Promise<Engine> {
  const wal = machine.wal.crash();
  const last = fate === "dropped" ? LAST_A : LATER;
  const inner = wal.recover.bind(wal);
  wal.recover = (onRecord) =>
    inner((record) => {
      if (isLost && record.sequence === FIRST_A) return undefined;
      return isTorn && record.sequence === last ? undefined : onRecord(record);
    });
  const files = memoryFileStore(machine.files);
  const { engine } = await Engine.open({
    wal,
    shards: machine.shards,
    meta: machine.meta,
    ...plainParts(files),
  });
  return engine;
}

async function check(what: Case): Promise<void> {
  const machine = await Machine.start({ segmentBytes: what.isApart ? 1 : 1 << 20 });
  await live(machine, what);
  const segments = machine.wal.segments().length;
  expect({ ...what, segments }).toEqual({ ...what, segments: what.isApart ? (what.fate === "dropped" ? LAST_A : LATER) : 1 });
  const engine = await restart(machine, what);
  const name = what.fate === "renamed" ? "renamed" : "cpu";
  const rows = engine.table("public", name) === undefined ? undefined : await read(engine, name);
  expect({ ...what, rows }).toEqual({ ...what, rows: wanted(what) });
  expect(await read(engine, "keeper")).toEqual(["'a'|1|1"]);
  if (rows === undefined) return;
  // The same from files, and new rows beside them.
  await put(engine, `${name},host=a v=5i 5`);
  await engine.flushTable("public", name);
  expect({ ...what, rows: await read(engine, name) }).toEqual({ ...what, rows: [...rows, "'a'|5|5"].sort() });
}

test.each([...FATES])("a table that was %s: every combination of flushed, lost, torn and apart", async (fate) => {
  let count = 0;
  for (const isFlushed of BOTH) {
    for (const isLost of BOTH) {
      for (const isTorn of BOTH) {
        for (const isApart of BOTH) {
          await check({ fate, isFlushed, isLost, isTorn, isApart });
          count++;
        }
      }
    }
  }
  expect(count).toBe(16);
});
