/** SQL text against an engine, answers as text: one line a row, cells joined by `|`, NULL empty. */
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { systemClock } from "../../src/base/clock.ts";
import { scalarAt } from "../../src/column/scalar.ts";
import type { Scalar } from "../../src/column/vector.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { executeStatement } from "../../src/query/execute.ts";
import type { QueryContext } from "../../src/query/query-context.ts";
import { PLANS_OF_RUN } from "./query-fixture.ts";
import { parseSql } from "../../src/query/sql/parse.ts";

/** Runs the statements of a text one after another and gives the answer of the last: lines, or "affected N". */
export async function engineSql(engine: Engine, text: string): Promise<string> {
  const context: QueryContext = {
    catalog: engine,
    writer: engine,
    admin: engine,
    clock: systemClock,
    scheduler: new Scheduler(),
    variables: { database: "public", timeZone: "UTC" },
    signal: new AbortController().signal,
  };
  let last = "";
  for (const statement of parseSql(text)) {
    const result = await executeStatement(statement, context, PLANS_OF_RUN);
    if (result.kind === "affected") {
      last = `affected ${result.rowCount}`;
      continue;
    }
    const lines: string[] = [];
    for await (const batch of result.batches) {
      for (let row = 0; row < batch.rowCount; row++) {
        const cells = result.headers.map((header, c) => {
          const vector = batch.vectors[c];
          return vector === undefined ? "" : cellText(scalarAt(vector, header.type, row));
        });
        lines.push(cells.join("|"));
      }
    }
    last = lines.join("\n");
  }
  return last;
}

function cellText(value: Scalar): string {
  return value === undefined ? "" : value instanceof Uint8Array ? value.toHex() : String(value);
}
