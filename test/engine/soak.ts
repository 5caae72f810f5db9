/**
 * Lives many random lives: `bun test/engine/soak.ts [seconds] [first seed] [steps] [catalog|meta|none] [shards]`: what
 * answers later, and how many shards there are.
 * Ends with status 1 at the first failure.
 */
import { live } from "./differential.ts";
import { liveMetrics } from "./metric-life.ts";

const [seconds = "60", firstSeed = "1", steps = "300", late, shards] = process.argv.slice(2);
const deadline = performance.now() + Number(seconds) * 1000;
let seed = Number(firstSeed);
for (; performance.now() < deadline; seed++) {
  const count = shards === undefined ? undefined : Number(shards);
  await live(seed, Number(steps), late === "catalog" || late === "meta" ? late : undefined, count);
  await liveMetrics(seed, Number(steps), count, late === "meta" ? late : undefined);
}
console.log(`${seed - Number(firstSeed)} lives of ${steps} steps, seeds ${firstSeed} to ${seed - 1}`);
