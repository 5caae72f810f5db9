/** Runs the scripts of a folder, over series in memory or over tables. */
import { Glob } from "bun";
import { join } from "node:path";
import { MemorySeries } from "../support/memory-series.ts";
import { customSeries } from "./promql-custom-buckets.ts";
import { findingOf } from "./promql-check.ts";
import { type Evaluation, type Load, parsedScript } from "./promql-script.ts";
import type { ScriptStore } from "./promql-store.ts";

/** What became of a script. */
interface ScriptReport {
  readonly file: string;
  readonly passed: number;
  /** Evaluations that need what the store could not take. */
  readonly skipped: number;
  /** `line: query`, and what is wrong. */
  readonly findings: readonly string[];
}

/** Every `.test` file of a folder, those of folders in it too. @param open makes the store of one script */
export async function runScripts(
  folder: string,
  open: () => Promise<ScriptStore> = async () => new MemoryStore(),
): Promise<readonly ScriptReport[]> {
  const files = (await Array.fromAsync(new Glob("**/*.test").scan({ cwd: folder }))).toSorted();
  return Promise.all(files.map(async (file) => ({ file, ...(await runScript(await Bun.file(join(folder, file)).text(), await open())) })));
}

/** One script. */
export async function runScript(text: string, store: ScriptStore = new MemoryStore()): Promise<Omit<ScriptReport, "file">> {
  const unloaded = new Set<string>();
  const findings: string[] = [];
  let [passed, skipped] = [0, 0];
  for (const command of parsedScript(text)) {
    if (command.kind === "clear") {
      await store.clear();
      unloaded.clear();
    } else if (command.kind === "load") {
      for (const name of await store.load(command)) unloaded.add(name);
    } else if (needs(command, unloaded)) skipped++;
    else {
      const found = await findingOf(command, store);
      if (found === undefined) passed++;
      else findings.push(`${command.line}: ${command.query}\n  ${found}`);
    }
  }
  return { passed, skipped, findings };
}

/** Series as they are, in memory. */
class MemoryStore extends MemorySeries implements ScriptStore {
  async load({ series, stepMillis, withBuckets }: Load): Promise<readonly string[]> {
    for (const { labels, points, starts } of [...series, ...(withBuckets ? customSeries(series) : [])]) {
      for (const [index, point] of points.entries()) {
        if (point === undefined) continue;
        const millis = index * stepMillis;
        const start = starts?.[index];
        this.add(labels, millis, typeof point === "object" ? point.histogram : point, start === undefined ? 0 : millis + start);
      }
    }
    return [];
  }
}

/** Whether an evaluation looks at a metric that is not there, or by a selector without a name at all of them. */
function needs({ query }: Evaluation, unloaded: ReadonlySet<string>): boolean {
  if (unloaded.size === 0) return false;
  const names: readonly string[] = query.match(/[A-Za-z_:][\w:]*/g) ?? [];
  return names.some((name) => unloaded.has(name) || name === "__name__") || /(?<![\w:])\{/.test(query);
}
