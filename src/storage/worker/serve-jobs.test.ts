import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JobWorker } from "./job-worker.ts";

const root = mkdtempSync(join(tmpdir(), "varve-jobs-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A worker's program: a job is how many MiB of garbage to make, its answer the MiB of the heap before. */
function wasteful(): string {
  const path = join(root, "wasteful.ts");
  writeFileSync(
    path,
    `import { serveJobs } from ${JSON.stringify(join(import.meta.dir, "serve-jobs.ts"))};
    serveJobs(async (mebibytes) => {
      const before = process.memoryUsage().heapUsed / 2 ** 20;
      let all = [];
      for (let i = 0; i < mebibytes; i++) all.push(new Uint8Array(1 << 20));
      return before + 0 * all.length;
    });`,
  );
  return path;
}

test("a worker that rests has given the garbage of its last job back", async () => {
  const worker = new JobWorker<number, number>("waste", root, wasteful());
  await worker.run(200);
  expect(await worker.run(0)).toBeLessThan(32);
  worker.close();
});
