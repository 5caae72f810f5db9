/**
 * Short lives of the engine beside the model. Longer: `bun test/engine/soak.ts 600`. VARVE_ENGINE_SEED starts elsewhere. Seeds that failed
 * once stand in `FAILED`.
 */
import { expect, test } from "bun:test";
import { live } from "./differential.ts";

const FIRST_SEED = Number(process.env["VARVE_ENGINE_SEED"] ?? "1");
const LIVES = 6;
const STEPS = 50;

/** What each of these found is said beside it. */
const FAILED: readonly (readonly [seed: number, steps: number, what: string])[] = [
  [5, 46, "a failed commit while ids of files were taken: the next start gave the same ids out again"],
];

test.each(Array.from({ length: LIVES }, (_, i) => FIRST_SEED + i))("seed %i: every scan answers what the model says", async (seed) => {
  expect(await live(seed, STEPS)).toBeUndefined();
});

test.each(FAILED)("seed %i, %i steps: %s", async (seed, steps) => {
  expect(await live(seed, steps)).toBeUndefined();
});
