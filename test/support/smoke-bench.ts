/** Runs benchmark files as a smoke test: each in a process of its own, every benchmark once. */
import { join } from "node:path";
import { ROOT } from "../tidy/source-tree.ts";

/** How one benchmark file ran. */
export interface SmokeRun {
  readonly status: number;
  readonly output: string;
}

/** At most this many at once: the gate is made for two cores. */
const PARALLEL_MAX = 2;
/** A file that takes longer does full work although `VARVE_BENCH_SMOKE` asks for little. */
const FILE_MS_MAX = 60_000;

/** Runs one file with `VARVE_BENCH_SMOKE=1`; mitata is replaced by one call a benchmark. */
export async function smokeRun(path: string): Promise<SmokeRun> {
  const child = Bun.spawn([process.execPath, "--preload", join(import.meta.dir, "mitata-once.ts"), path], {
    cwd: ROOT,
    env: { ...process.env, VARVE_BENCH_SMOKE: "1", NO_COLOR: "1" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: FILE_MS_MAX,
    killSignal: "SIGKILL",
  });
  const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { status, output: `${out}${err}` };
}

/** Starts all files, a few at once; the promise of each is there right away. */
export function smokeRunAll(paths: readonly string[]): ReadonlyMap<string, Promise<SmokeRun>> {
  const lanes: Promise<unknown>[] = Array.from({ length: PARALLEL_MAX }, () => Promise.resolve());
  return new Map(
    paths.map((path, index) => {
      const lane = index % PARALLEL_MAX;
      const result = (lanes[lane] ?? Promise.resolve()).then(() => smokeRun(path));
      lanes[lane] = result;
      return [path, result] as const;
    }),
  );
}
