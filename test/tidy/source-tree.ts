/** The repository's own files, read once, as the checks of `tidy.test.ts` see them. */
import { join, resolve } from "node:path";
import { Glob } from "bun";

/** One text file of the repository. */
export interface SourceFile {
  /** Relative to the repository's root, with `/`: `src/base/clock.ts`. */
  readonly path: string;
  readonly text: string;
}

/** The repository's root directory. */
export const ROOT: string = resolve(import.meta.dir, "../..");

/** Folders of code, and the kinds of files in them that people write. */
const PATTERNS: readonly string[] = [
  "{src,test,bench,bin,proto,.ci}/**/*.{ts,mjs,md,proto,sql,yaml}",
  "*.{json,md,toml}",
  "Dockerfile",
  ".ci/run",
];
/** Files that a tool writes. */
const GENERATED = /^(?:proto\/gen|bench\/results)\/|\.gen\.ts$|(?:^|\/)(?:node_modules|fixtures|golden)\//;

/** Reads the repository's files, sorted by path. */
export async function readTree(root: string = ROOT): Promise<readonly SourceFile[]> {
  const paths = new Set<string>();
  for (const pattern of PATTERNS) {
    for await (const path of new Glob(pattern).scan({ cwd: root, dot: true })) if (!GENERATED.test(path)) paths.add(path);
  }
  const sorted = [...paths].sort();
  return await Promise.all(sorted.map(async (path) => ({ path, text: await Bun.file(join(root, path)).text() })));
}

/** A file that exists only in a check's own example. */
export function planted(path: string, ...lines: readonly string[]): SourceFile {
  return { path, text: `${lines.join("\n")}\n` };
}

/** True for TypeScript that people write. */
export function isCode(file: SourceFile): boolean {
  return file.path.endsWith(".ts");
}

/** True for tests and benchmarks: they may see more, use the clock, and be long. */
export function isTestOrBench(file: SourceFile): boolean {
  return /\.(?:test|bench)\.ts$/.test(file.path) || /^(?:test|bench|bin)\//.test(file.path);
}

/** The number of lines of a text, a missing last line end not counted. */
export function lineCountOf(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}
