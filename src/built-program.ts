/**
 * Whether there is a build of the program, made of the sources that are here now (`bin/build-server.ts` makes it, in `gen/server`).
 *
 * A build names each file that went into it with its size and its time of change, the lock file for all dependencies, the folder and
 * Bun's version. Where anything differs the sources run: an edit, a checkout, an update over the old files, a folder that was moved.
 * Times are whole seconds, since images keep no more of them. Asking for 1,500 files takes 6 ms.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The folder of the build, below the root of the source tree. */
export const BUILD_FOLDER: string = join("gen", "server");
/** The file of a build that tells what it was made of. */
export const SOURCES_FILE = "sources.json";
const PROGRAM_FILE = "program.js";

/** What a build was made of. */
export interface BuildSources {
  readonly bun: string;
  /** The root of the source tree: a build knows where its threads' programs lie. */
  readonly root: string;
  readonly files: readonly SourceFile[];
}

/** A file: its path below the root, bytes, seconds since 1970 when it was changed. */
export type SourceFile = readonly [path: string, bytes: number, seconds: number];

/** A file as it is now; undefined when it is not there. */
export function sourceFile(root: string, path: string): SourceFile | undefined {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  return stat === undefined ? undefined : [path, stat.size, Math.floor(stat.mtimeMs / 1000)];
}

/** The path of the built program, where it is of these sources and this Bun. */
export function builtProgram(root: string): string | undefined {
  const folder = join(root, BUILD_FOLDER);
  const told = join(folder, SOURCES_FILE);
  if (!existsSync(told)) return undefined;
  const sources = JSON.parse(readFileSync(told, "utf8")) as BuildSources; // our own file, written whole before it got its name
  if (sources.bun !== Bun.version || sources.root !== root) return undefined;
  for (const [path, bytes, seconds] of sources.files) {
    const now = sourceFile(root, path);
    if (now === undefined || now[1] !== bytes || now[2] !== seconds) return undefined;
  }
  return join(folder, PROGRAM_FILE);
}
