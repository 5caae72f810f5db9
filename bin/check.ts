/**
 * The whole gate, as one command: types, lint, format, dead code, tests. Every step runs even when an earlier one failed, so that one
 * run tells everything; a failed step counts as one failure beside the failed tests. The last line is `N passed, N failed`.
 */
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { DISK_VARIABLE } from "../test/support/disk-folder.ts";
import { memoryFolder } from "./test-folder.ts";
import { type TestCount, parseTestCount } from "./test-count.ts";

/** One command of the gate. */
interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

/** Servers of the tests start from the build, as those of users do: in half the time. */
const BUILD_SCRIPT = "bin/build-server.ts";
/** In order of their time, cheapest first, but for the build. Tests run last, since their summary gives the counts. */
const STEPS: readonly Step[] = [
  { name: "build", command: [BUILD_SCRIPT] },
  { name: "format", command: ["biome", "format", "--reporter=summary"] },
  { name: "types", command: ["tsc", "--noEmit"] },
  { name: "types of the dashboard", command: ["tsc", "--noEmit", "-p", "src/dashboard"] },
  { name: "lint", command: ["oxlint", "--type-aware", "src", "test", "bench", "bin"] },
  { name: "dead code", command: ["knip"] },
];

/**
 * Three workers on two cores, for which the gate's promise of ten minutes is: many tests wait for a server. Each test file has a global
 * object of its own.
 */
const TEST_COMMAND: readonly string[] = [process.execPath, "test", "--parallel=3", "--timeout=20000"];

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

/** Runs one step; its output is shown only when it fails. */
async function runStep(step: Step): Promise<boolean> {
  const start = performance.now();
  const run = step.command[0] === BUILD_SCRIPT ? ["run"] : ["x", "--no-install"];
  const child = Bun.spawn([process.execPath, ...run, ...step.command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const ok = status === 0;
  say(`${ok ? "ok  " : "FAIL"} ${step.name.padEnd(10)} ${secondsSince(start)}   ${step.command.join(" ")}`);
  if (!ok) say(`${out}${err}`.trimEnd());
  return ok;
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

/** Runs the tests, their output shown as it comes. */
async function runTests(): Promise<TestCount> {
  const start = performance.now();
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
  const child = Bun.spawn([...TEST_COMMAND], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, status] = await Promise.all([relay(child.stdout), relay(child.stderr), child.exited]);
  remove();
  const count = parseTestCount(`${out}\n${err}`, status);
  say(`${count.failed === 0 ? "ok  " : "FAIL"} ${"tests".padEnd(10)} ${secondsSince(start)}   bun ${TEST_COMMAND.slice(1).join(" ")}`);
  return count;
}

let failedSteps = 0;
for (const step of STEPS) {
  if (!(await runStep(step))) failedSteps += 1;
}
const tests = await runTests();
const failed = failedSteps + tests.failed;
say(`${tests.passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
