import { expect, test } from "bun:test";
import { SpareSteps } from "./spare-steps.ts";
import { emptySteps } from "./steps.ts";

test("steps that were given come back empty, once", () => {
  const spare = new SpareSteps();
  const used = emptySteps(3);
  used.values.set([1, Number.NaN, 3]);
  used.present.fill(1);
  spare.give(used, 2);
  const again = spare.take(3);
  expect(again.values).toBe(used.values);
  expect(again).toEqual(emptySteps(3));
  expect(spare.take(3).values).not.toBe(used.values);
});

test("no more are kept than asked for, none of another length and none with histograms", () => {
  const spare = new SpareSteps();
  const [first, second] = [emptySteps(2), emptySteps(2)];
  spare.give(first, 1);
  spare.give(second, 1);
  expect(spare.take(2).values).toBe(first.values);
  expect(spare.take(2).values).not.toBe(second.values);
  spare.give(first, 1);
  expect(spare.take(5).values.length).toBe(5);
  spare.give(emptySteps(5), 1);
  expect(spare.take(2).values).not.toBe(first.values);
  const withHistograms = { ...emptySteps(7), histograms: [] };
  spare.give(withHistograms, 1);
  expect(spare.take(7).values).not.toBe(withHistograms.values);
});
