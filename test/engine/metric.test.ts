/** Short lives of logical tables beside the model. Longer: `bun test/engine/soak.ts 600`, which lives these as well. */
import { expect, test } from "bun:test";
import { liveMetrics } from "./metric-life.ts";

const FIRST_SEED = Number(process.env["VARVE_ENGINE_SEED"] ?? "1");
const LIVES = 6;
const STEPS = 60;

test.each(Array.from({ length: LIVES }, (_, i) => FIRST_SEED + i))("seed %i: logical tables answer what the model says", async (seed) => {
  expect(await liveMetrics(seed, STEPS)).toBeUndefined();
});

test.each(Array.from({ length: LIVES }, (_, i) => FIRST_SEED + i))("seed %i: so they do where there are three shards", async (seed) => {
  expect(await liveMetrics(seed, STEPS, 3)).toBeUndefined();
});

test.each(Array.from({ length: LIVES }, (_, i) => FIRST_SEED + i))(
  "seed %i: so they do in three shards whose meta store answers later",
  async (seed) => {
    expect(await liveMetrics(seed, STEPS, 3, "meta")).toBeUndefined();
  },
);
