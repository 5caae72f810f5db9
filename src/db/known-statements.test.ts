/** Statements of all frontends, as an account may see and end them. */
import { expect, test } from "bun:test";
import { fixedClock } from "../base/clock.ts";
import { newConnection } from "../query/connection.ts";
import type { RunningStatement } from "../query/system-facts.ts";
import type { AccessMode } from "./auth/user.ts";
import { KnownStatements } from "./known-statements.ts";
import type { OtherFrontends } from "./other-frontends.ts";
import { RunningStatements } from "./running-statements.ts";
import type { Session } from "./session.ts";

const NEVER = new AbortController().signal;

function sessionOf(mode: AccessMode, name: string = mode): Session {
  return { database: "public", timeZone: "UTC", user: { name, mode }, signal: NEVER, connection: newConnection("mysql", NEVER) };
}

interface Made {
  readonly known: KnownStatements;
  readonly running: RunningStatements;
  /** What the others were asked. */
  readonly asked: string[];
  readonly killed: () => number;
}

function made(): Made {
  const asked: string[] = [];
  const elsewhere: RunningStatement = { id: "b/1", frontend: "b", database: "public", query: "older", client: "", startMillis: 1 };
  const others: OtherFrontends = {
    self: "a",
    names: () => ["b", "c"],
    list: async (of) => {
      asked.push(`list ${of ?? "all"}`);
      return { statements: [elsewhere], gaps: ["c does not answer"] };
    },
    kill: async (frontend, id, of) => {
      asked.push(`kill ${id} at ${frontend} of ${of ?? "all"}`);
      return of === undefined ? (id === "b/1" ? "killed" : "none") : "denied";
    },
  };
  let killed = 0;
  const running = new RunningStatements(fixedClock(5_000_000n), others.self);
  running.begin("newer", { database: "public", user: { name: "rw" } }, NEVER);
  return { known: new KnownStatements(running, others, () => killed++), running, asked, killed: () => killed };
}

test("statements of all frontends are one list, oldest first; what is missing is a warning", async () => {
  const { known, asked } = made();
  const session = sessionOf("rw");
  expect((await known.list(session, NEVER)).map(({ id, frontend, query }) => [id, frontend, query])).toEqual([
    ["b/1", "b", "older"],
    ["a/1", "a", "newer"],
  ]);
  expect(session.connection?.warnings).toEqual(["c does not answer"]);
  expect((await known.list(sessionOf("ro"), NEVER)).map(({ id }) => id)).toEqual(["b/1"]); // As the other one answers.
  expect(asked).toEqual(["list all", "list ro"]);
});

test("a statement is ended where its id says; a number alone is one of this process", async () => {
  const { known, asked, killed } = made();
  const session = sessionOf("rw");
  const kill = async (id: string): Promise<boolean> => await known.kill(id, session, NEVER);
  expect([await kill("b/1"), await kill("c/1"), await kill("a/2"), await kill("7"), killed()]).toEqual([true, false, false, false, 0]);
  expect([await kill("a/1"), await kill("1"), killed()]).toEqual([true, true, 2]);
  expect(asked).toEqual(["kill b/1 at b of all", "kill c/1 at c of all"]);
});

/** How an attempt to end a statement fails. */
async function refusal({ known }: Made, id: string, mode: AccessMode): Promise<string> {
  return await (async () => String(await known.kill(id, sessionOf(mode), NEVER)))().catch((error: unknown) => String(error));
}

test("an id that is none, and a frontend that does not live, are said", async () => {
  const all = made();
  expect(await refusal(all, "z/1", "rw")).toContain('cannot kill statement "z/1": no frontend z lives; there are a, b, c');
  for (const id of ["", "b", "b/", "b/x", "b/1/2", "b/-1", " b/1", "b/1\0", `${"b".repeat(65)}/1`, `b/${"1".repeat(16)}`, "1".repeat(16)]) {
    expect(await refusal(all, id, "rw")).toContain('ids are as "a/17", as SHOW PROCESSLIST lists them');
  }
  expect((await refusal(all, "x".repeat(1_000_000), "rw")).length).toBeLessThan(200);
  expect(all.asked).toEqual([]);
});

test("an account that may not do everything learns nothing of statements and frontends that are not its own", async () => {
  const all = made();
  const told = await Promise.all(["a/1", "1", "a/9", "b/1", "b/9", "z/1"].map((id) => refusal(all, id, "ro")));
  expect(new Set(told.map((text) => text.replace(/statement \S+/, "statement")))).toEqual(
    new Set([
      "DbError: cannot kill statement you have no statement of that id; to end those of others takes an account that may read and write",
    ]),
  );
  expect(all.asked).toEqual(["kill b/1 at b of ro", "kill b/9 at b of ro"]);
});

test("a process that is no part of a cluster asks nobody, and answers at once", () => {
  const running = new RunningStatements(fixedClock(0n));
  running.begin("x", { database: "public", user: { name: "rw" } }, NEVER);
  const known = new KnownStatements(running, undefined, () => undefined);
  const session = sessionOf("rw");
  expect(known.list(session, NEVER)).toMatchObject([{ id: "1", frontend: "" }]);
  expect([known.kill("1", session, NEVER), known.kill("2", session, NEVER), known.kill("b/1", session, NEVER)]).toEqual([
    true,
    false,
    false,
  ]);
});
