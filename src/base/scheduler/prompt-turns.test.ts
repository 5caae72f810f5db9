import { expect, test } from "bun:test";
import { PromptTurns } from "./prompt-turns.ts";

test("what is done at once is answered at once, while nothing is under way", () => {
  const turns = new PromptTurns();
  expect([turns.run(() => 1), turns.run(() => 2)]).toEqual([1, 2]);
  expect(() => turns.run(() => fails("no"))).toThrow("no");
  expect(turns.run(() => 3)).toBe(3);
});

test("work waits for what was asked for before, however that ends, in order", async () => {
  const turns = new PromptTurns();
  const done: string[] = [];
  const gate = Promise.withResolvers<string>();
  const first = turns.run(async () => note(done, await gate.promise));
  const second = turns.run(() => note(done, "second"));
  const third = turns.run(() => fails("third"));
  const fourth = turns.run(async () => note(done, "fourth"));
  expect(done).toEqual([]);
  gate.reject(new Error("first"));
  const outcomes = await Promise.allSettled([first, second, third, fourth]);
  expect(outcomes.map((each) => (each.status === "rejected" ? String(each.reason) : each.value))).toEqual([
    "Error: first",
    "second",
    "Error: third",
    "fourth",
  ]);
  expect(done).toEqual(["second", "fourth"]);
  expect(turns.run(() => "at once again")).toBe("at once again");
});

function note(done: string[], what: string): string {
  done.push(what);
  return what;
}

function fails(what: string): never {
  throw new Error(what);
}
