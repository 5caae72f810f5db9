/**
 * Short lives of a cluster beside the model. Longer: `bun run test:cluster-life 600`. VARVE_CLUSTER_SEED starts elsewhere. What a
 * failing seed finds becomes a test of its own beside the code, since seeds mean something else once the lives change.
 */
import { expect, test } from "bun:test";
import { liveInCluster } from "./cluster-life.ts";

const FIRST_SEED = Number(process.env["VARVE_CLUSTER_SEED"] ?? "1");
const LIVES = 6;
const STEPS = 30;

test.each(Array.from({ length: LIVES }, (_, i) => FIRST_SEED + i))("seed %i: every frontend answers what the model says", async (seed) => {
  expect((await liveInCluster(seed, STEPS)).failures).toBeGreaterThanOrEqual(0);
});
