/**
 * The whole gate, as one command: types, lint, format, dead code, tests. Every step runs even when an earlier one failed, so that one
 * run tells everything; a failed step counts as one failure beside the failed tests. The last line is `N passed, N failed`.
 *
 *   build ─► tests ──────────────────────────────────────────┐
 *         └► format ─► types ─► lint ─► dead code, after them ┴► what failed, the count
 *
 * Tests often wait, for a server or a timer: steps beside them get what they leave of the processors, and no more (`nice`).
 */
import { rmSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { DISK_VARIABLE } from "../test/support/disk-folder.ts";
import { memoryFolder } from "./test-folder.ts";
import { type TestCount, parseTestCount, sumOfCounts } from "./test-count.ts";
import { TEST_GROUPS, type TestGroup, testArguments } from "./test-groups.ts";

/** One command of the gate. */
interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

/** Servers of the tests start from the build, as those of users do: in half the time. So it is there before them. */
const BUILD: Step = { name: "build", command: ["run", "bin/build-server.ts"] };
/** Beside the tests, one after the other, cheapest first. */
const STEPS: readonly Step[] = [
  { name: "format", command: ["x", "--no-install", "biome", "format", "--reporter=summary"] },
  { name: "types", command: ["x", "--no-install", "tsc", "--noEmit"] },
  { name: "types of the dashboard", command: ["x", "--no-install", "tsc", "--noEmit", "-p", "src/dashboard"] },
  { name: "lint", command: ["x", "--no-install", "oxlint", "--type-aware", "src", "test", "bench", "bin"] },
  { name: "dead code", command: ["x", "--no-install", "knip"] },
];

/** Memory that has to be free for steps to run beside tests: types take 2.2 GiB, tests and their servers some hundred MiB at a time. */
const BESIDE_BYTES_MIN = 6 * 1024 ** 3;
/** A command that gives way to all others, where there is one. */
const GIVING_WAY: readonly string[] = Bun.which("nice") === null ? [] : ["nice", "-n", "19"];

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

/** Runs one step. Returns what it wrote when it failed, undefined when all is well. */
async function runStep({ name, command }: Step, wrapper: readonly string[] = []): Promise<string | undefined> {
  const start = performance.now();
  const child = Bun.spawn([...wrapper, process.execPath, ...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const line = `${name.padEnd(10)} ${secondsSince(start)}   ${command.join(" ")}`;
  say(`${status === 0 ? "ok  " : "FAIL"} ${line}`);
  return status === 0 ? undefined : `FAIL ${line}\n${`${out}${err}`.trimEnd()}`;
}

/** Runs all steps that need nothing of the tests. Returns what those wrote that failed. */
async function runSteps(): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const step of STEPS) {
    const failure = await runStep(step, GIVING_WAY);
    if (failure !== undefined) failures.push(failure);
  }
  return failures;
}

/** Copies a stream to stderr as it comes and keeps its text. */
async function relay(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    process.stderr.write(chunk);
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

/** Runs the tests, group by group, their output shown as it comes. */
async function runTests(): Promise<TestCount> {
  const folder = memoryFolder();
  const env = folder === undefined ? process.env : { ...process.env, TMPDIR: folder, [DISK_VARIABLE]: tmpdir() };
  const remove = (): void => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      remove(); // It is memory: nobody would get it back.
      process.exit(1);
    });
  }
  const counts: TestCount[] = [];
  for (const group of TEST_GROUPS) counts.push(await runGroup(group, env));
  remove();
  return sumOfCounts(counts);
}

async function runGroup(group: TestGroup, env: NodeJS.ProcessEnv): Promise<TestCount> {
  const start = performance.now();
  const command = testArguments(group);
  const child = Bun.spawn([process.execPath, ...command], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, status] = await Promise.all([relay(child.stdout), relay(child.stderr), child.exited]);
  const count = parseTestCount(`${out}\n${err}`, status);
  say(`${count.failed === 0 ? "ok  " : "FAIL"} ${"tests".padEnd(10)} ${secondsSince(start)}   bun ${command.join(" ")}`);
  return count;
}

const built = await runStep(BUILD);
const steps = runSteps();
if (freemem() < BESIDE_BYTES_MIN) await steps;
const [others, tests] = await Promise.all([steps, runTests()]);
const failures = built === undefined ? others : [built, ...others];
for (const failure of failures) say(failure); // Below the output of the tests, which is long.
const failed = failures.length + tests.failed;
say(`${tests.passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
