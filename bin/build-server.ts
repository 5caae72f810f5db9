/**
 * Builds the program into `gen/server`: few files of all modules and dependencies, each beside its bytecode and its source map, and what
 * they were made of. Run by `bun install` (script `prepare`); `src/main.ts` runs what it made while it is of the sources that are there
 * (`src/built-program.ts`). The folder is made aside and renamed.
 */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { BUILD_FOLDER, type BuildSources, type SourceFile, SOURCES_FILE, sourceFile } from "../src/built-program.ts";

const ROOT = resolve(import.meta.dir, "..");

/** The program, and those of its threads. */
const PROGRAMS = [
  "src/program.ts",
  "src/ingest-worker.ts",
  "src/query-worker.ts",
  "src/query/workers/call-worker.ts",
  "src/storage/compaction/merge-worker.ts",
  "src/storage/sst/write/flush-worker.ts",
] as const;

/** Stands for all dependencies. */
const LOCK_FILE = "bun.lock";

/** Builds what is under `root` into `target`. @throws Error when a module is not found, or a file changes meanwhile */
export async function buildServer(root: string, target: string): Promise<void> {
  const work = `${target}.${process.pid}.tmp`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const built = await Bun.build({
    root,
    entrypoints: PROGRAMS.map((path) => join(root, path)),
    outdir: work,
    naming: "[name].[ext]",
    target: "bun",
    bytecode: true,
    format: "cjs", // Bytecode of ES modules is for executables alone (Bun 1.4.5).
    banner: '"use strict";', // As the modules are.
    sourcemap: "linked", // Stacks name sources; read when one is printed.
    define: { BUILD_FOLDER_URL: JSON.stringify(pathToFileURL(`${target}/`).href) },
    metafile: true,
    throw: true,
  });
  const inputs = Object.keys(built.metafile?.inputs ?? {}).map((path) => relative(root, resolve(path)));
  const own = inputs.filter((path) => !path.startsWith("..") && !path.includes("node_modules/"));
  if (own.length === 0) throw new Error("cannot build the server: the bundler does not say what it read");
  const sources: BuildSources = { bun: Bun.version, root, files: [...own, LOCK_FILE].sort().map((path) => statOf(root, path)) };
  writeFileSync(join(work, SOURCES_FILE), JSON.stringify(sources));
  const old = `${work}.old`;
  if (existsSync(target)) renameSync(target, old); // So that there is a moment without a build only.
  renameSync(work, target);
  rmSync(old, { recursive: true, force: true });
}

function statOf(root: string, path: string): SourceFile {
  const found = sourceFile(root, path);
  if (found === undefined) throw new Error(`cannot build the server: ${path} is gone`);
  return found;
}

if (import.meta.main) await buildServer(ROOT, join(ROOT, BUILD_FOLDER));
