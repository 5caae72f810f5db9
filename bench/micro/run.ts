/** Runs the micro-benchmarks that stand beside the code (`src/**\/*.bench.ts`), one process each, one after the other. */
import { dirname, join } from "node:path";
import { Glob } from "bun";

const ROOT = dirname(dirname(import.meta.dir));

/** The benchmarks whose path holds all of `filters`, in order. */
export function findBenchmarks(filters: readonly string[], root: string = ROOT): readonly string[] {
  const paths = [...new Glob("src/**/*.bench.ts").scanSync({ cwd: root })].sort();
  return paths.filter((path) => filters.every((filter) => path.includes(filter)));
}

/** Runs them; also writes their output to `out` unless that is `undefined` or "none". Returns the exit status: 1 when one failed. */
export async function runMicro(filters: readonly string[], out: string | undefined): Promise<number> {
  const paths = findBenchmarks(filters);
  if (paths.length === 0) {
    process.stderr.write(`no benchmark under src/ has ${filters.join(" and ") || "a name"} in its path\n`);
    return 1;
  }
  const isKept = out !== undefined && out !== "none";
  const pieces: string[] = [];
  let status = 0;
  for (const path of paths) {
    const head = `\n== ${path}\n`;
    process.stdout.write(head);
    pieces.push(head);
    const child = Bun.spawn([process.execPath, "run", join(ROOT, path)], {
      cwd: ROOT,
      env: process.stdout.isTTY && !isKept ? process.env : { ...process.env, NO_COLOR: "1" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) {
      const text = decoder.decode(bytes, { stream: true });
      process.stdout.write(text);
      pieces.push(text);
    }
    if ((await child.exited) === 0) continue;
    process.stderr.write(`${path} ended with status ${child.exitCode ?? child.signalCode}\n`);
    status = 1;
  }
  if (isKept) await Bun.write(out, `\`\`\`\n${pieces.join("").trim()}\n\`\`\`\n`);
  return status;
}
