import { expect, test } from "bun:test";
import { AssertionError } from "../assert.ts";
import { SureSteps } from "./sure-steps.ts";

function rig(): { readonly steps: SureSteps; readonly bugs: Error[] } {
  const bugs: Error[] = [];
  return { steps: new SureSteps((error) => bugs.push(error)), bugs };
}

function broken(): never {
  throw new RangeError("Out of memory");
}

test("a step that works gives its result and nobody is told", () => {
  const { steps, bugs } = rig();
  expect(steps.run("rows become visible", () => 7)).toBe(7);
  steps.check();
  expect(bugs).toEqual([]);
});

test("what a step throws is a bug whatever its class, and is told once with what the step was", () => {
  const { steps, bugs } = rig();
  expect(() => steps.run("rows become visible", broken)).toThrow(AssertionError);
  expect(bugs).toHaveLength(1);
  expect(bugs[0]?.message).toContain("rows become visible: RangeError: Out of memory");
  expect(bugs[0]?.cause).toBeInstanceOf(RangeError);
});

test("after a step failed no other is done", () => {
  const { steps, bugs } = rig();
  expect(() => steps.run("first", broken)).toThrow(AssertionError);
  let done = 0;
  expect(() => steps.run("second", () => done++)).toThrow("first");
  expect(() => steps.check()).toThrow("first");
  expect([done, bugs.length]).toEqual([0, 1]);
});

test("a step within a step is told of once", () => {
  const { steps, bugs } = rig();
  expect(() => steps.run("outer", () => steps.run("inner", broken))).toThrow("inner");
  expect(bugs).toHaveLength(1);
});
