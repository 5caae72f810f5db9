import { expect, test } from "bun:test";
import { join } from "node:path";

/** Takes all descriptors, and then does what servers do then. */
const PROGRAM = `
import { openSync, writeFileSync } from "node:fs";
import { descriptorLimit, descriptorsInUse } from "${join(import.meta.dir, "descriptors.ts")}";
import { heapBytes, residentBytes } from "${join(import.meta.dir, "process-memory.ts")}";
import { DescriptorPool } from "${join(import.meta.dir, "../storage/file-store/descriptor-pool.ts")}";
const before = residentBytes();
const [limit] = [descriptorLimit(), heapBytes()];
const pool = new DescriptorPool(1000);
const owners = Array.from({ length: 300 }, () => ({}));
for (const owner of owners) pool.use(owner, "/dev/zero");
const kept = pool.size;
let taken = 0;
pool.close(owners.at(-1));
try { for (;; taken++) openSync("/dev/null", "r"); } catch {}
const after = [residentBytes(), heapBytes()];
writeFileSync(1, JSON.stringify({ same: after[0] === before, isSome: after[1] > 0, limit, inUse: descriptorsInUse(), kept, taken }));
`;

test("a process without a free descriptor still says what it holds, and opens files in the place of others", async () => {
  const child = Bun.spawn(["sh", "-c", 'ulimit -n 64; exec "$0" run -', process.execPath], {
    stdin: new Blob([PROGRAM]),
    stdout: "pipe",
    stderr: "inherit",
  });
  const said = JSON.parse(await child.stdout.text());
  expect(said).toMatchObject({ same: true, isSome: true, limit: 64, inUse: 64, taken: 1 });
  expect(said.kept).toBeGreaterThan(10);
  expect(said.kept).toBeLessThan(64);
});
