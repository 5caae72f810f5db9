/**
 * Lives many random lives of a cluster: `bun run test:cluster-life [seconds] [first seed] [steps]`. Ends with status 1 at the first
 * failure.
 */
import { liveInCluster } from "./cluster-life.ts";

const [seconds = "60", firstSeed = "1", steps = "100"] = process.argv.slice(2);
const deadline = performance.now() + Number(seconds) * 1000;
let seed = Number(firstSeed);
let failures = 0;
for (; performance.now() < deadline; seed++) failures += (await liveInCluster(seed, Number(steps))).failures;
console.log(`${seed - Number(firstSeed)} lives of ${steps} steps, seeds ${firstSeed} to ${seed - 1}; ${failures} requests were made again`);
