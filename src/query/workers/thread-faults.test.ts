/** Workers on threads of their own that die, throw, or never come back. */
import { afterEach, beforeEach, expect } from "bun:test";
import { rowsHere } from "../../../test/support/cluster/rows-here.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { ThreadedEngine, type ThreadOptions } from "../../../test/support/threaded-engine.ts";

const { describe, test } = rowsHere("threads of its process");

const ROWS = 200;
const SUM = (ROWS * (ROWS - 1)) / 2;

let warnings: string[] = [];
let threads: ThreadedEngine;

async function start(options: ThreadOptions): Promise<void> {
  warnings = [];
  threads = await ThreadedEngine.start({ onWarning: (text) => void warnings.push(text), ...options });
  for (const name of ["throws", "rejects", "exits", "loops", "good"]) {
    await threads.engine.sql(`CREATE TABLE ${name} (host STRING PRIMARY KEY, v BIGINT, ts TIMESTAMP(3) TIME INDEX)`);
    const rows = Array.from({ length: ROWS }, (_, i) => `('h${i % 9}', ${i}, ${i})`);
    await threads.engine.sql(`INSERT INTO ${name} VALUES ${rows.join(", ")}`);
  }
}

const sum = (table: string): string => `SELECT sum(v) FROM ${table} WHERE v >= 0`;

afterEach(() => threads.close());

describe("a worker that misbehaves", () => {
  beforeEach(() => start({ script: new URL("../../../test/support/faulty-query-worker.ts", import.meta.url), endMillisMax: 150 }));

  test.each([
    ["throws", "told to throw"],
    ["rejects", "told to reject"],
    ["exits", "exited"],
  ])("a query fails whose worker %s, and only that one", async (table, why) => {
    const failure = await failureOf(threads.sql(sum(table)));
    expect(failure.message).toBe("cannot run query: the worker that ran a part of it stopped; run it again");
    await threads.settled();
    expect(warnings.join("\n")).toContain(why);
    expect(String((await threads.sql(sum("good"))).rows)).toBe(String(SUM));
    expect(threads.pool.counts.deaths).toBeGreaterThan(0);
  });

  test("others that wait for it are answered by the next", async () => {
    const answers = await Promise.allSettled(["good", "throws", "good", "good"].map((table) => threads.sql(sum(table))));
    expect(answers[1]?.status).toBe("rejected");
    await threads.settled();
    expect(String((await threads.sql(sum("good"))).rows)).toBe(String(SUM));
  });

  test("one in a loop is ended once its query is cancelled", async () => {
    const canceller = new AbortController();
    const answer = threads.sql(sum("loops"), {}, canceller.signal);
    while (threads.pool.counts.running === 0) await Bun.sleep(1);
    canceller.abort();
    expect(String(await failureOf(answer))).toContain("cancelled");
    await threads.settled();
    expect(warnings.join("\n")).toContain("did not end a cancelled part");
    expect(String((await threads.sql(sum("good"))).rows)).toBe(String(SUM));
  });

  test("closing the pool ends queries that run and that wait", async () => {
    const answers = Promise.allSettled(["loops", "good", "good", "loops"].map((table) => threads.sql(sum(table))));
    while (threads.pool.counts.running === 0) await Bun.sleep(1);
    threads.pool.close();
    const ended = await Promise.race([answers, Bun.sleep(5000)]);
    for (const outcome of ended ?? []) {
      if (outcome.status === "rejected") expect(String(outcome.reason)).toContain("closing");
    }
    expect(ended).toHaveLength(4);
    await threads.settled();
  });
});

describe("workers that cannot be started", () => {
  beforeEach(() => start({ script: new URL("file:///no-such-folder/no-such-worker.ts") }));

  test("after some tries queries stay on their own thread", async () => {
    const outcomes: string[] = [];
    for (let i = 0; i < 5; i++) {
      outcomes.push(
        await threads.sql(sum("good")).then(
          ({ rows }) => String(rows[0]?.[0]),
          () => "failed",
        ),
      );
      await threads.settled();
    }
    expect(outcomes.at(-1)).toBe(String(SUM));
    expect(warnings.join("\n")).toContain("none is used for 30 s");
  });
});
