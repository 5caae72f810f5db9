import { Scheduler } from "../base/scheduler/scheduler.ts";
import { expect, test } from "bun:test";
import { put } from "../../test/engine/lines.ts";
import { Machine } from "../../test/engine/machine.ts";
import { fixedClock } from "../base/clock.ts";
import { DbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import { LocalDb } from "./local-db.ts";
import { RunningStatements } from "./running-statements.ts";
import type { Session } from "./session.ts";

const NEVER = new AbortController().signal;
const user = { name: "someone" };

test("statements are listed while they run, oldest first", () => {
  const running = new RunningStatements(fixedClock(5_000_000n));
  const first = running.begin("SELECT 1", { database: "public", client: "1.2.3.4:5", user }, NEVER);
  const second = running.begin("SELECT 2", { database: "other", user }, NEVER);
  expect(running.list()).toEqual([
    { id: "1", frontend: "", database: "public", query: "SELECT 1", client: "1.2.3.4:5", startMillis: 5 },
    { id: "2", frontend: "", database: "other", query: "SELECT 2", client: "", startMillis: 5 },
  ]);
  first.end();
  expect(running.list().map(({ id }) => id)).toEqual(["2"]);
  second.end();
  second.end();
  expect(running.list()).toEqual([]);
});

test("a text is kept to its 4096th character", () => {
  const running = new RunningStatements(fixedClock(0n));
  running.begin("x".repeat(5000), { database: "public", user }, NEVER);
  expect(running.list()[0]?.query).toBe(`${"x".repeat(4096)}…`);
});

test("a secret that the end of what is kept cuts is not shown", () => {
  for (const left of [5, 12, 20, 30]) {
    const running = new RunningStatements(fixedClock(0n));
    const text = `${"x".repeat(4096 - left)} http://me:hush-hush@host, secret = 'hush-hush'`;
    running.begin(text, { database: "public", user }, NEVER);
    expect(running.list()[0]?.query).not.toContain("hush");
  }
});

test("secrets of a text are not shown", () => {
  const check = (text: string, want: string): void => {
    const running = new RunningStatements(fixedClock(0n));
    running.begin(text, { database: "public", user }, NEVER);
    expect(running.list()[0]?.query).toBe(want);
  };
  check(
    "COPY t TO 's3://b/x' CONNECTION (ACCESS_KEY_ID = 'a', region='eu')",
    "COPY t TO 's3://b/x' CONNECTION (ACCESS_KEY_ID = '***', region='eu')",
  );
  check(
    "CONNECTION ('secret_access_key'='it''s', \"session_token\" ='x",
    "CONNECTION ('secret_access_key'='***', \"session_token\" ='***'",
  );
  check(
    `WITH (secret_access_key = "it""s", session_token = hush, account_key="x`,
    "WITH (secret_access_key = '***', session_token = '***', account_key='***'",
  );
  check("SELECT 'token', a = 'x' FROM t", "SELECT 'token', a = 'x' FROM t");
});

test("killing fires the signal of one statement, and so does its parent", () => {
  const running = new RunningStatements(fixedClock(0n));
  const parent = new AbortController();
  const [first, second] = [
    running.begin("a", { database: "public", user }, parent.signal),
    running.begin("b", { database: "public", user }, parent.signal),
  ];
  expect([running.kill("3"), running.kill(""), running.kill("2")]).toEqual(["none", "none", "killed"]);
  expect([first.signal.aborted, second.signal.aborted]).toEqual([false, true]);
  expect(second.signal.reason).toBeInstanceOf(DbError);
  second.end();
  expect(running.kill("2")).toBe("none");
  parent.abort();
  expect(first.signal.aborted).toBe(true);
});

test("an account that may not do everything lists and ends its own statements", () => {
  const running = new RunningStatements(fixedClock(0n));
  running.begin("a", { database: "public", user: { name: "alice" } }, NEVER);
  const own = running.begin("b", { database: "public", user: { name: "bob" } }, NEVER);
  expect(running.list("bob").map(({ id }) => id)).toEqual(["2"]);
  // One of another's and one that does not exist look the same.
  expect([running.kill("1", "bob"), running.kill("9", "bob")]).toEqual(["denied", "denied"]);
  expect([running.kill("2", "bob"), own.signal.aborted]).toEqual(["killed", true]);
});

test("KILL ends a query that is being read; the others go on", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  const db = new LocalDb(machine.engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
  const session: Session = { database: "public", timeZone: "UTC", user: { name: "someone", mode: "rw" }, signal: NEVER };
  const query = db.sql("SELECT v FROM cpu; SELECT 1", session);
  const answer = await query.next(); // Planned; its rows are computed while they are read.
  const listed: unknown[] = [];
  for await (const result of db.sql("SELECT id, query FROM information_schema.process_list; KILL 1; KILL 99", session)) {
    if (result.kind === "affected") listed.push(result.rowCount);
    else for await (const { rowCount } of result.batches) listed.push(`${rowCount} listed`);
  }
  expect(listed).toEqual(["2 listed", 1, 0]);
  const read = async (): Promise<void> => {
    if (answer.done === true || answer.value.kind !== "rows") throw new Error("the first statement gives rows");
    for await (const _ of answer.value.batches);
  };
  const thrown = await read().catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: StatusCode.Cancelled, message: "Query has been cancelled: statement 1 was killed" });
  expect((await query.next()).done).toBe(false);
  await query.return(undefined);
});
