/** The gate's own arithmetic: what `npm test` and `.ci/run` say at the end must be true. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseTestCount, sumOfCounts, type TestCount } from "../bin/test-count.ts";
import { TEST_GROUPS, TIMES_FILE } from "../bin/test-groups.ts";
import { ROOT } from "./tidy/source-tree.ts";

describe("the count of a test run", () => {
  const cases: readonly (readonly [what: string, output: string, status: number, want: TestCount])[] = [
    ["that passed", "\n 12 pass\n 0 fail\n 30 expect() calls\n", 0, { passed: 12, failed: 0 }],
    ["with failures", "\n 12 pass\n 1 skip\n 2 fail\n", 1, { passed: 12, failed: 2 }],
    ["with an error outside a test", " 1 pass\n 2 fail\n 1 error\n", 1, { passed: 1, failed: 2 }],
    ["with errors alone", " 1 pass\n 0 fail\n 2 errors\n", 1, { passed: 1, failed: 2 }],
    ["that crashed before its summary", "Segmentation fault", 139, { passed: 0, failed: 1 }],
    ["that found no tests", "0 files were searched", 1, { passed: 0, failed: 1 }],
    ["that ended badly after its summary", " 5 pass\n 0 fail\n", 143, { passed: 5, failed: 1 }],
    ["whose tests print a summary of their own", " 9 pass\n 9 fail\n(pass) a\n 5 pass\n 0 fail\n", 0, { passed: 5, failed: 0 }],
    ["whose lines only look like one", "(pass) reads 3 pass marks\n 5 pass\n 0 fail\n", 0, { passed: 5, failed: 0 }],
  ];
  test.each(cases)("%s", (_what, output, status, want) => {
    expect(parseTestCount(output, status)).toEqual(want);
  });
});

test("the count of several runs is their sum", () => {
  const counts = [
    { passed: 5, failed: 0 },
    { passed: 0, failed: 1 },
    { passed: 7, failed: 2 },
  ];
  expect(sumOfCounts(counts)).toEqual({ passed: 12, failed: 3 });
});

describe("test files", () => {
  /** As `bun test` finds them. */
  const files = [...new Bun.Glob("**/*{.test,_test,.spec,_spec}.{js,jsx,ts,tsx,mjs,cjs,mts,cts}").scanSync({ cwd: ROOT })].filter(
    (name) => !name.split("/").includes("node_modules"),
  );

  test("are each in one group of the gate", () => {
    expect(files.length).toBeGreaterThan(700);
    const groupsOf = (name: string): number =>
      TEST_GROUPS.filter(
        ({ folder, ignored }) =>
          (folder === undefined || name.startsWith(`${folder}/`)) && !ignored.some((glob) => new Bun.Glob(glob).match(name)),
      ).length;
    expect(files.filter((name) => groupsOf(name) !== 1)).toEqual([]);
  });

  test("that are started first are there", async () => {
    const { files: slow } = (await Bun.file(join(ROOT, TIMES_FILE)).json()) as { readonly files: Readonly<Record<string, number>> };
    expect(Object.keys(slow).filter((name) => !files.includes(name))).toEqual([]);
  });
});

describe.skipIf(Bun.which("bash") === null)(".ci/run", () => {
  let folder = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "varve-ci-"));
    await mkdir(join(folder, ".ci"));
    await cp(join(ROOT, ".ci/run"), join(folder, ".ci/run"));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  /** Runs the script with an `npm` that prints `output` and ends with `status`; answers the last line and the status. */
  async function run(output: string, status: number): Promise<{ readonly last: string | undefined; readonly status: number }> {
    await Bun.write(join(folder, "npm"), `#!/bin/sh\n[ "$*" = test ] || exit 99\nprintf '%b' '${output}'\nexit ${status}\n`);
    await chmod(join(folder, "npm"), 0o755);
    const ended = Bun.spawnSync([join(folder, ".ci/run")], { env: { PATH: `${folder}:/usr/bin:/bin` }, stdout: "pipe", stderr: "pipe" });
    return { last: ended.stdout.toString().trimEnd().split("\n").at(-1), status: ended.exitCode };
  }

  const cases: readonly (readonly [what: string, output: string, status: number, last: string, wantStatus: number])[] = [
    ["ends with the count", "ok types\\n12 passed, 0 failed\\n", 0, "12 passed, 0 failed", 0],
    ["keeps npm's status and count", "12 passed, 2 failed\\nnpm error Lifecycle script failed\\n", 1, "12 passed, 2 failed", 1],
    ["takes the last count", "1 passed, 0 failed\\n12 passed, 0 failed\\n", 0, "12 passed, 0 failed", 0],
    ["counts a run without a count as failed", "npm error no script\\n", 254, "0 passed, 1 failed", 254],
    ["counts silence as failed", "", 0, "0 passed, 1 failed", 1],
    ["counts a bad end as failed", "12 passed, 0 failed\\n", 137, "12 passed, 1 failed", 137],
    ["does not end well with failures", "12 passed, 2 failed\\n", 0, "12 passed, 2 failed", 1],
  ];
  test.each(cases)("%s", async (_what, output, status, last, wantStatus) => {
    expect(await run(output, status)).toEqual({ last, status: wantStatus });
  });
});
