/** Every export of the product says what it is, in a doc comment on a line above it. */
import { codeOf } from "./code-text.ts";
import type { SourceFile } from "./source-tree.ts";

const EXPORT = /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type) (\w+)/;

/**
 * One line an export without a doc comment. None of its own is needed by
 * - the noun that the file is named after, when the file's header comment speaks of it (`Wal` in `wal.ts`);
 * - one-line constants that follow a documented one without a gap: they are a family, and the comment is the family's;
 * - a type that shares a documented constant's name, and further overloads.
 */
export function undocumentedExports(files: readonly SourceFile[]): readonly string[] {
  const found: string[] = [];
  for (const file of files) {
    if (!/^(?:src|test|bench|bin)\/.*\.ts$/.test(file.path) || /\.(?:test|bench)\.ts$/.test(file.path)) continue;
    const lines = file.text.split("\n");
    const code = codeOf(file.text).split("\n");
    const documented = new Set<string>();
    const noun = file.text.startsWith("/**") ? nounOf(file.path) : undefined;
    let familyLine = -2; // the last line of a documented one-line constant, or of its family
    for (const [index, line] of code.entries()) {
      const isKin = familyLine === index - 1 && isOneLineConstant(line);
      if (isKin) familyLine = index;
      const name = EXPORT.exec(line)?.[1];
      if (name === undefined) continue;
      const isDocumented = isKin || documented.has(name) || endsDocComment(lines, index - 1) || name.toLowerCase() === noun;
      if (isDocumented) documented.add(name);
      else found.push(`${file.path}:${index + 1}: ${name} has no doc comment`);
      if (isDocumented && isOneLineConstant(line)) familyLine = index;
    }
  }
  return found;
}

/** `src/storage/wal/wal.ts` → `wal`, `line-decoder.ts` → `linedecoder`: what an export's name is in lower case. */
function nounOf(path: string): string {
  return (path.split("/").at(-1) ?? "").replace(/\.ts$/, "").replaceAll("-", "");
}

function isOneLineConstant(line: string): boolean {
  return /^(?:export )?const .*;\s*$/.test(line);
}

/** Whether a doc comment (slash and two stars) ends on line `index`, or above decorating line comments there. */
function endsDocComment(lines: readonly string[], index: number): boolean {
  let end = index;
  while (end >= 0 && /^\s*\/\/ ?(?:biome-ignore|oxlint-disable|prettier-ignore)/.test(lines[end] ?? "")) end -= 1;
  if (!/\*\/\s*$/.test(lines[end] ?? "")) return false;
  let start = end;
  while (start > 0 && !(lines[start] ?? "").includes("/*")) start -= 1;
  return /^\s*\/\*\*/.test(lines[start] ?? "");
}
