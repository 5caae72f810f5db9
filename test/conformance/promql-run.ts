/** Runs the scripts of a folder over series in memory. */
import { Glob } from "bun";
import { join } from "node:path";
import { MemorySeries } from "../support/memory-series.ts";
import { findingOf } from "./promql-check.ts";
import { type Evaluation, type Load, parsedScript, type ScriptSeries } from "./promql-script.ts";

/** What became of a script. */
interface ScriptReport {
  readonly file: string;
  readonly passed: number;
  /** Evaluations that need what series in memory lack: native histograms, start timestamps. */
  readonly skipped: number;
  /** `line: query`, and what is wrong. */
  readonly findings: readonly string[];
}

/** Every `.test` file of a folder, those of folders in it too. */
export async function runScripts(folder: string): Promise<readonly ScriptReport[]> {
  const files = (await Array.fromAsync(new Glob("**/*.test").scan({ cwd: folder }))).toSorted();
  return Promise.all(files.map(async (file) => ({ file, ...(await runScript(await Bun.file(join(folder, file)).text())) })));
}

/** One script. */
export async function runScript(text: string): Promise<Omit<ScriptReport, "file">> {
  const source = new MemorySeries();
  const unloaded = new Set<string>();
  const findings: string[] = [];
  let [passed, skipped] = [0, 0];
  for (const command of parsedScript(text)) {
    if (command.kind === "clear") {
      source.clear();
      unloaded.clear();
    } else if (command.kind === "load") load(command, source, unloaded);
    else if (needs(command, unloaded)) skipped++;
    else {
      const found = await findingOf(command, source);
      if (found === undefined) passed++;
      else findings.push(`${command.line}: ${command.query}\n  ${found}`);
    }
  }
  return { passed, skipped, findings };
}

function load(command: Load, source: MemorySeries, unloaded: Set<string>): void {
  for (const { labels, points } of command.series) {
    const hasHistograms = points.some((point) => typeof point === "object");
    const name = labels.get("__name__") ?? "";
    if (hasHistograms || command.withBuckets || command.hasStarts) unloaded.add(name.replace(/_(?:bucket|sum|count)$/, ""));
    for (const [index, point] of points.entries())
      if (typeof point === "number" || point === "stale") source.add(labels, index * command.stepMillis, point);
  }
}

function needs({ query, series }: Evaluation, unloaded: ReadonlySet<string>): boolean {
  const hasHistogram = ({ points }: ScriptSeries): boolean => points.some((point) => typeof point === "object");
  const names: readonly string[] = query.match(/[A-Za-z_:][\w:]*/g) ?? [];
  return series.some(hasHistogram) || names.some((name) => unloaded.has(name) || (name === "__name__" && unloaded.size > 0));
}
