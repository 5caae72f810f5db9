import { expect, test } from "bun:test";
import type { RunningStatement } from "../../query/system-facts.ts";
import { ValueError } from "../ownership/value-fields.ts";
import { ANSWER_BYTES_MAX } from "./limits.ts";
import {
  decodeKillAnswer,
  decodeKillAsk,
  decodeListAnswer,
  decodeListAsk,
  encodeAsk,
  encodeKillAnswer,
  encodeListAnswer,
} from "./messages.ts";

const STATEMENT: RunningStatement = {
  id: "b/7",
  frontend: "b",
  database: "public",
  query: "SELECT “1” \ud800",
  client: "10.0.0.1:4",
  startMillis: 1_700_000_000_000,
};

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function bytesOf(value: unknown): Uint8Array {
  return new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
}

test("requests are what FORMAT.md says", () => {
  expect(textOf(encodeAsk({ to: "b", of: undefined, bytes: 9 }))).toBe('{"v":1,"to":"b","bytes":9}');
  expect(textOf(encodeAsk({ to: "b", of: "me", id: "b/7" }))).toBe('{"v":1,"to":"b","of":"me","id":"b/7"}');
  expect(decodeListAsk(encodeAsk({ to: "b", of: undefined, bytes: 9 }))).toEqual({ to: "b", of: undefined, bytes: 9 });
  expect(decodeKillAsk(encodeAsk({ to: "b", of: "me", id: "b/7" }))).toEqual({ to: "b", of: "me", id: "b/7" });
});

test("answers are what FORMAT.md says", () => {
  expect(decodeListAnswer(encodeListAnswer([STATEMENT]), "b")).toEqual({ statements: [STATEMENT], leftOut: 0 });
  const own = { ...STATEMENT, query: "x" };
  expect(textOf(encodeListAnswer([own]))).toBe(
    '{"v":1,"statements":[{"id":"b/7","database":"public","query":"x","client":"10.0.0.1:4","started":1700000000000}],"more":0}',
  );
  for (const outcome of ["killed", "none", "denied"] as const) expect(decodeKillAnswer(encodeKillAnswer(outcome))).toBe(outcome);
});

test("an answer has the oldest statements, within its bounds, and counts the others", () => {
  const many = Array.from({ length: 5000 }, (_, id) => ({ ...STATEMENT, id: `b/${id}` }));
  const few = decodeListAnswer(encodeListAnswer(many), "b");
  expect([few.statements.length, few.leftOut, few.statements.at(-1)?.id]).toEqual([1000, 4000, "b/999"]);
  const long = many.map((each) => ({ ...each, query: "\u0001".repeat(4096) }));
  const bytes = encodeListAnswer(long);
  expect(bytes.length).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
  const { statements, leftOut } = decodeListAnswer(bytes, "b");
  expect([statements.length + leftOut, statements.length > 50]).toEqual([5000, true]);
  expect(encodeListAnswer(long, 100_000).length).toBeLessThanOrEqual(100_000);
  expect(decodeListAnswer(encodeListAnswer(many, 0), "b")).toEqual({ statements: [], leftOut: 5000 });
  const huge = [{ ...STATEMENT, database: "x".repeat(10_000_000) }, STATEMENT];
  expect(decodeListAnswer(encodeListAnswer(huge), "b")).toEqual({ statements: [STATEMENT], leftOut: 1 });
});

const LISTED = { id: "b/7", database: "", query: "", client: "", started: 1 };

test.each([
  [decodeListAsk, "", "it is no JSON"],
  [decodeListAsk, "[1]", "it is no object"],
  [decodeListAsk, { v: 2, to: "b" }, "its version is 2, and 1 is known"],
  [decodeListAsk, { v: 1, to: "b" }, "how long the answer may be is no number"],
  [decodeListAsk, { v: 1, bytes: 9 }, "it does not say which frontend it is for"],
  [decodeListAsk, { v: 1, to: "b", of: null, bytes: 9 }, "whose statements it means is no text"],
  [decodeKillAsk, { v: 1, to: "b" }, "it names no statement"],
  [decodeKillAsk, { v: 1, to: "b", id: 7 }, "it names no statement"],
  [decodeKillAsk, { v: 1, to: 7, id: "b/7" }, "it does not say which frontend it is for"],
  [decodeKillAnswer, { v: 1, outcome: "maybe" }, "what became of the statement is not said"],
  [decodeKillAnswer, { v: 1, outcome: ["killed"] }, "what became of the statement is not said"],
])("%p refuses %p", (decode, value, reason) => {
  expect(() => decode(bytesOf(value))).toThrow(new ValueError(reason));
});

test.each([
  [{ v: 1, statements: {}, more: 0 }, "its statements are no list, or too many"],
  [{ v: 1, statements: Array.from({ length: 1001 }, () => LISTED), more: 0 }, "its statements are no list, or too many"],
  [{ v: 1, statements: [], more: -1 }, "how many more there are is no number"],
  [{ v: 1, statements: [null], more: 0 }, "one of its statements is no object"],
  [{ v: 1, statements: [{ ...LISTED, id: "a/7" }], more: 0 }, "one of its statements has an id of another frontend"],
  [{ v: 1, statements: [{ ...LISTED, id: 7 }], more: 0 }, "one of its statements has an id of another frontend"],
  [{ v: 1, statements: [{ ...LISTED, query: null }], more: 0 }, "one of its statements is not told as they are"],
  [{ v: 1, statements: [{ ...LISTED, started: "now" }], more: 0 }, "one of its statements is not told as they are"],
])("a list %p is refused", (value, reason) => {
  expect(() => decodeListAnswer(bytesOf(value), "b")).toThrow(new ValueError(reason));
});
