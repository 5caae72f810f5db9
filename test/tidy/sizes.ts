/** Lines, files and the spread of file sizes stay small. Numbers here go down, never up. */
import { isCode, isTestOrBench, lineCountOf, type SourceFile } from "./source-tree.ts";

/** Characters a line. The formatter breaks code at the same width; this finds comments, strings and templates. */
const LINE_CHARACTERS_MAX = 140;
/** Lines a file, whatever it is. */
const FILE_LINES_MAX = 800;
/** Half of the files of `src/` (tests apart) are at most this long, in lines. */
const FILE_LINES_MEDIAN_MAX = 150;
/** Nine of ten are at most this long. */
const FILE_LINES_P90_MAX = 400;

/** Files that were longer than `FILE_LINES_MAX` when the rule came, with their length. A number may only fall; at 800 the entry goes. */
const OVERSIZE_FILES: Readonly<Record<string, number>> = {};

/** Lines longer than the limit, except those that are one long link or one long literal that cannot be broken. */
export function longLines(files: readonly SourceFile[]): readonly string[] {
  const found: string[] = [];
  for (const file of files) {
    if (!isCode(file) && !file.path.endsWith(".mjs")) continue;
    for (const [index, line] of file.text.split("\n").entries()) {
      if (line.length <= LINE_CHARACTERS_MAX || /https?:\/\/\S+$/.test(line)) continue;
      found.push(`${file.path}:${index + 1}: ${line.length} characters, at most ${LINE_CHARACTERS_MAX}`);
    }
  }
  return found;
}

/** Files over the limit or over their recorded number, and records that are no longer true. */
export function longFiles(files: readonly SourceFile[], recorded: Readonly<Record<string, number>> = OVERSIZE_FILES): readonly string[] {
  const found: string[] = [];
  for (const file of files) {
    if (!isCode(file)) continue;
    const lines = lineCountOf(file.text);
    const limit = recorded[file.path] ?? FILE_LINES_MAX;
    if (lines > limit) found.push(`${file.path}: ${lines} lines, at most ${limit}; split it by its nouns`);
    else if (limit > FILE_LINES_MAX && lines < limit) found.push(`${file.path}: now ${lines} lines; lower its number ${limit} in sizes.ts`);
  }
  const paths = new Set(files.map((file) => file.path));
  for (const path of Object.keys(recorded)) if (!paths.has(path)) found.push(`${path}: is gone; remove its number in sizes.ts`);
  return found;
}

/** Says where the middle or the ninth tenth of the sizes of `src/` is over its limit. */
export function sizeSpread(files: readonly SourceFile[]): readonly string[] {
  const lines = files
    .filter((file) => file.path.startsWith("src/") && isCode(file) && !isTestOrBench(file))
    .map((file) => lineCountOf(file.text));
  lines.sort((a, b) => a - b);
  const at = (share: number): number => lines[Math.min(lines.length - 1, Math.floor(lines.length * share))] ?? 0;
  const found: string[] = [];
  if (at(0.5) > FILE_LINES_MEDIAN_MAX) found.push(`src: the median file has ${at(0.5)} lines, at most ${FILE_LINES_MEDIAN_MAX}`);
  if (at(0.9) > FILE_LINES_P90_MAX) found.push(`src: one file in ten has more than ${at(0.9)} lines, at most ${FILE_LINES_P90_MAX}`);
  return found;
}
