/** Benchmarks keep running: each `*.bench.ts` runs with small data and must end well and say something. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Glob } from "bun";
import { smokeRun, smokeRunAll } from "./support/smoke-bench.ts";
import { ROOT } from "./tidy/source-tree.ts";

const TEST_MS_MAX = 120_000;

const files = [...new Glob("src/**/*.bench.ts").scanSync({ cwd: ROOT })].sort();

describe.skipIf(files.length === 0)("benchmarks", () => {
  const runs = smokeRunAll(files);
  test.each(files)(
    "%s runs",
    async (path) => {
      const run = await runs.get(path);
      expect(run?.status, run?.output).toBe(0);
      expect(run?.output.trim()).not.toBe("");
    },
    TEST_MS_MAX,
  );
});

describe("the smoke run", () => {
  const folder = mkdtemp(join(tmpdir(), "varve-bench-"));
  afterAll(async () => {
    await rm(await folder, { recursive: true });
  });

  async function runOf(text: string): Promise<{ readonly status: number; readonly output: string }> {
    const path = join(await folder, `${Bun.hash(text)}.bench.ts`);
    await Bun.write(path, text);
    return await smokeRun(path);
  }

  test("calls every benchmark once, in groups, with arguments, and as generators", async () => {
    const run = await runOf(`
      import { bench, do_not_optimize, group, run, summary } from "mitata";
      bench("plain", () => console.log("plain called"));
      bench("slow", async () => { await Bun.sleep(1); console.log("slow called"); }).gc("inner").baseline(true);
      group("in a group", () => { bench("grouped", () => do_not_optimize(console.log("grouped called"))); });
      summary(() => {
        bench("generator $size", function* (state) {
          const size = state.get("size");
          yield () => console.log("size " + size);
        }).args("size", [8, 64]);
      });
      bench("made", function* () { yield { [0]() { return 41; }, bench(x) { console.log("made " + (x + 1)); } }; });
      await run();
    `);
    expect(run.output.split("\n").filter((line) => !line.endsWith("ran once") && line !== "")).toEqual([
      "plain called",
      "slow called",
      "grouped called",
      "size 8",
      "made 42",
    ]);
    expect(run.status).toBe(0);
  });

  test("asks for little work", async () => {
    expect(await runOf("process.stdout.write(process.env['VARVE_BENCH_SMOKE'] ?? 'full');")).toEqual({ status: 0, output: "1" });
  });

  test("fails with a benchmark that fails", async () => {
    const run = await runOf('import { bench, run } from "mitata"; bench("bad", () => { throw new Error("broken kernel"); }); await run();');
    expect(run.status).not.toBe(0);
    expect(run.output).toContain("broken kernel");
  });
});
