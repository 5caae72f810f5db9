/**
 * The long form of `check.test.ts`: `bun run test:check --flips 1000 --seed 1`. Flips bits one after another in a small data directory and
 * prints how many a check finds, how many lie in bytes that it names as unused, and any that it misses: exit status 1 then.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { flipBits } from "./flips.ts";
import { makeStore } from "./store.ts";

const { values } = parseArgs({ options: { flips: { type: "string", default: "1000" }, seed: { type: "string", default: "1" } } });
const folder = await mkdtemp(join(tmpdir(), "varve-flips-"));
try {
  let bad = 0;
  for (const hasJournal of [true, false]) {
    const home = join(folder, hasJournal ? "journal" : "plain");
    await makeStore(home, hasJournal);
    const flips = Math.ceil(Number(values.flips) / 2);
    const { found, named, unused, missed, used, byKind } = await flipBits(home, flips, Number(values.seed), true);
    const what = `${flips} flips ${hasJournal ? "with" : "without"} a journal, seed ${values.seed}`;
    console.log(`${what}: ${found} found (${named} by the file's name), ${unused} in bytes that nobody reads`);
    for (const [kind, of] of Object.entries(byKind)) console.log(`  ${kind}: ${of.found} found, ${of.unused} unused`);
    for (const flip of missed) console.log(`missed: ${flip}`);
    for (const flip of used) console.log(`said to be unused, and is not: ${flip}`);
    bad += missed.length + used.length;
  }
  process.exitCode = bad > 0 ? 1 : 0;
} finally {
  await rm(folder, { recursive: true, force: true });
}
