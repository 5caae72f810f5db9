/** Names of files in READMEs and comments: those files are there. Nothing else would notice what is still said of a file that moved. */
import { lineCountOf, type SourceFile } from "./source-tree.ts";

/** `a-b.ts`, `folder/a.ts`, `../a.ts`; not `…-rules.ts`, which stands for several. */
const NAME = /(?<![\w/.*…-])(?:\.{1,2}\/)*(\w[\w./-]*\.ts)\b/g;

/** What stands before a name in a comment on its line. */
const COMMENT = /^\s*(?:\/?\*|\/\/)|\s\/\/ /;

/** Has names of planted files. */
const OWN = /^test\/tidy(?:\.test\.ts$|\/)/;

/** Every way to name a file: its path, from any of its folders on. */
function namesOf(files: readonly SourceFile[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { path } of files) {
    for (let at = 0; at >= 0; at = path.indexOf("/", at) + 1 || -1) names.add(path.slice(at));
  }
  return names;
}

/** One line a name of no file, in Markdown and in comments. */
export function strayNames(files: readonly SourceFile[]): readonly string[] {
  const known = namesOf(files);
  const found: string[] = [];
  for (const { path, text } of files) {
    if (OWN.test(path) || !/\.(?:md|ts)$/.test(path)) continue;
    for (const { index, 1: name } of text.matchAll(NAME)) {
      if (name === undefined || known.has(name)) continue;
      const isProse = path.endsWith(".md") || COMMENT.test(text.slice(text.lastIndexOf("\n", index) + 1, index));
      if (isProse) found.push(`${path}:${lineCountOf(text.slice(0, index + 1))}: there is no ${name}`);
    }
  }
  return found;
}
