/**
 * Short lives of the engine beside the model. Longer: `bun test/engine/soak.ts 600`. VARVE_ENGINE_SEED starts elsewhere. What a
 * failing seed finds becomes a test of its own in `src/engine`, since seeds mean something else once the lives change.
 */
import { expect, test } from "bun:test";
import { live } from "./differential.ts";

const FIRST_SEED = Number(process.env["VARVE_ENGINE_SEED"] ?? "1");
const LIVES = 4;
const STEPS = 50;

test.each(Array.from({ length: LIVES }, (_, i) => FIRST_SEED + i))("seed %i: every scan answers what the model says", async (seed) => {
  expect(await live(seed, STEPS)).toBeUndefined();
});

test.each(Array.from({ length: LIVES }, (_, i) => FIRST_SEED + i))(
  "seed %i: so it does where the catalogue answers later",
  async (seed) => {
    expect(await live(seed, STEPS, "catalog")).toBeUndefined();
  },
);

test.each(Array.from({ length: LIVES }, (_, i) => FIRST_SEED + i))("seed %i: so it does where there are three shards", async (seed) => {
  expect(await live(seed, STEPS, undefined, 3)).toBeUndefined();
});

test.each(Array.from({ length: LIVES }, (_, i) => FIRST_SEED + i))(
  "seed %i: so it does where the meta store answers later",
  async (seed) => {
    expect(await live(seed, STEPS, "meta")).toBeUndefined();
  },
);
