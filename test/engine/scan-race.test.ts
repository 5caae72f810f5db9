import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { FLOAT64, STRING } from "../../src/column/data-type.ts";
import { executeStatement } from "../../src/query/execute.ts";
import { parseSql } from "../../src/query/sql/parse.ts";
import { put, refusal } from "./lines.ts";
import { Machine } from "./machine.ts";

test("a query that was planned before a column's type changed says so instead of reading it wrongly", async () => {
  const { engine } = await Machine.start();
  await put(engine, "cpu,host=a v=1i 1");
  const [statement] = parseSql("SELECT v + 1 FROM cpu");
  if (statement === undefined) throw new Error("a statement");
  const context = {
    catalog: engine,
    writer: engine,
    admin: engine,
    clock: systemClock,
    scheduler: new Scheduler(),
    variables: { database: "public", timeZone: "UTC" },
    signal: new AbortController().signal,
  };
  const planned = await executeStatement(statement, context);
  await engine.alterTable("public", "cpu", { kind: "change-type", column: "v", type: STRING });
  await engine.alterTable("public", "cpu", { kind: "change-type", column: "v", type: FLOAT64 });
  const readAll = async (): Promise<void> => {
    if (planned.kind === "rows") for await (const batch of planned.batches) expect(batch.rowCount).toBe(0);
  };
  expect(await refusal(readAll())).toMatchObject({
    code: "RequestOutdated",
    message: "cannot read table cpu: the type of column v changed while the statement began; run it again",
  });
});
