/** Tables that are dropped while somebody else still makes or changes them: no client's order of requests ends the process. */
import { expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { AssertionError } from "../../base/assert.ts";

const DEFINITION = "CREATE TABLE t (ts TIMESTAMP TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)";

/** Runs all at once; what fails is an error of its client, not of the server. */
async function together(machine: Machine, ...texts: readonly string[]): Promise<void> {
  const outcomes = await Promise.allSettled(texts.map((text) => engineSql(machine.engine, text)));
  for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason).not.toBeInstanceOf(AssertionError);
}

test.each([
  ["made", []],
  ["altered", [DEFINITION]],
  ["renamed", [DEFINITION]],
  ["truncated", [DEFINITION]],
  ["emptied by rows", [DEFINITION, "INSERT INTO t VALUES (0, 'a', 1)"]],
  ["flushed", [DEFINITION, "INSERT INTO t VALUES (0, 'a', 1)"]],
  ["merged", [DEFINITION, "INSERT INTO t VALUES (0, 'a', 1)", "ADMIN flush_table('t')"]],
  ["written to", [DEFINITION]],
] as const)("a table that is dropped while it is %s", async (what, before) => {
  const texts = {
    made: DEFINITION,
    altered: "ALTER TABLE t ADD COLUMN w DOUBLE",
    renamed: "ALTER TABLE t RENAME u",
    truncated: "TRUNCATE TABLE t",
    "emptied by rows": "DELETE FROM t WHERE v > 0",
    flushed: "ADMIN flush_table('t')",
    merged: "ADMIN compact_table('t')",
    "written to": "INSERT INTO t VALUES (1, 'b', 2)",
  };
  for (let ticks = 0; ticks < 8; ticks++) {
    const machine = await Machine.start();
    for (const text of before) await engineSql(machine.engine, text);
    let late: Promise<unknown> = Promise.resolve();
    for (let tick = 0; tick < ticks; tick++) late = late.then(() => undefined);
    const dropped = late.then(() => machine.engine.dropTable("public", "t", true));
    await together(machine, texts[what], DEFINITION, "DROP TABLE IF EXISTS t", DEFINITION);
    await dropped;
    await together(machine, "DROP TABLE IF EXISTS t", "DROP TABLE IF EXISTS u");
    await machine.crash();
    expect(await engineSql(machine.engine, "SHOW TABLES LIKE 't'")).toBe("");
  }
});
