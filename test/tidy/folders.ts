/** Folders carry the papers that people look for: a README, the format of what is written, the same four files for every protocol. */
import { posix } from "node:path";
import { lineCountOf, type SourceFile } from "./source-tree.ts";

/** A folder of `src/` with this many files of code (tests apart) has a README. */
const README_FROM_FILES = 3;
const README_LINES_MAX = 60;
/** Of the one that leads through the whole house, with its glossary. */
const SRC_README_LINES_MAX = 100;

/** What each protocol's folder under `src/ingest/` has. */
const INGEST_FILES: readonly string[] = ["decode.ts", "decode.test.ts", "decode.bench.ts", "README.md"];
/** A file of this name lays out bytes on disk or on the wire. */
const CODEC_FILE = /^(?:.*-)?(?:codec|encode|decode|encoder|decoder|record)\.ts$/;

/** Names of the files directly in each folder. */
function byFolder(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, string[]>();
  for (const { path } of files) {
    const folder = posix.dirname(path);
    const names = folders.get(folder);
    if (names === undefined) folders.set(folder, [posix.basename(path)]);
    else names.push(posix.basename(path));
  }
  return folders;
}

/** Folders of `src/` that lack a README, and READMEs that are too long to be read. */
export function readmes(files: readonly SourceFile[]): readonly string[] {
  const found: string[] = [];
  for (const [folder, names] of byFolder(files)) {
    if (!folder.startsWith("src/") || names.includes("README.md")) continue;
    const codeCount = names.filter((name) => name.endsWith(".ts") && !/\.(?:test|bench)\.ts$/.test(name)).length;
    if (codeCount >= README_FROM_FILES) found.push(`${folder}: ${codeCount} files and no README.md`);
  }
  for (const { path, text } of files) {
    const lines = lineCountOf(text);
    const most = path === "src/README.md" ? SRC_README_LINES_MAX : README_LINES_MAX;
    const isTooLong = path.startsWith("src/") && path.endsWith("/README.md") && lines > most;
    if (isTooLong) found.push(`${path}: ${lines} lines, at most ${most}`);
  }
  return found;
}

/** Codec folders of `src/format/` and `src/storage/` that do not describe their bytes. */
export function formatPapers(files: readonly SourceFile[]): readonly string[] {
  const found: string[] = [];
  const folders = byFolder(files);
  const hasPaper = (folder: string): boolean => folders.get(folder)?.includes("FORMAT.md") ?? false;
  const formats = new Set(
    [...folders.keys()].map((folder) => /^src\/format\/[^/]+/.exec(folder)?.[0]).filter((folder) => folder !== undefined),
  );
  for (const folder of formats) if (!hasPaper(folder)) found.push(`${folder}: has no FORMAT.md`);
  for (const [folder, names] of folders) {
    if (!folder.startsWith("src/storage/") || hasPaper(folder)) continue;
    const codec = names.find((name) => CODEC_FILE.test(name));
    if (codec !== undefined) found.push(`${folder}: ${codec} lays out bytes, but there is no FORMAT.md`);
  }
  return found;
}

/** Protocol folders of `src/ingest/` without one of their four files. `common` holds what protocols share. */
export function ingestFiles(files: readonly SourceFile[]): readonly string[] {
  const found: string[] = [];
  for (const [folder, names] of byFolder(files)) {
    if (!/^src\/ingest\/[^/]+$/.test(folder) || folder === "src/ingest/common") continue;
    for (const name of INGEST_FILES) if (!names.includes(name)) found.push(`${folder}: has no ${name}`);
  }
  return found;
}
