/** Where in a text the server says that something is wrong. */
import type { Marked } from "./editor.ts";

/**
 * The place that an error names: "Line: 1, Column: 12" (SQL, columns count from 1), "1:7: parse error" (PromQL), or a name in it that
 * stands in the text once. Undefined: none. @param offset where the text that was sent begins in the editor's
 */
export function placeOf(problem: string, text: string, offset = 0): Marked | undefined {
  const sql = /Line: (\d+), Column: (\d+)/i.exec(problem);
  const promql = /(?:^|\s)(\d+):(\d+): parse error/.exec(problem);
  const [line, column] = [Number((sql ?? promql)?.[1]), Number((sql ?? promql)?.[2])];
  if (line > 0 && column > 0) {
    const from = lineStart(text, line) + column - 1;
    const word = /^(?:[\w$.]+|\S)/.exec(text.slice(from))?.[0] ?? "";
    const start = Math.min(from, Math.max(0, text.trimEnd().length - 1)); // An end that came too early is marked at the last letter.
    return { from: offset + start, to: offset + Math.max(start + 1, from + word.length), text: problem };
  }
  const name = /(?:field named|Table not found:|column|function:?) [`'"]?([\w.$]*[\w$])/i.exec(problem)?.[1]?.split(".").at(-1);
  if (name === undefined) return undefined;
  const at = text.search(new RegExp(`\\b${name.replaceAll("$", "\\$")}\\b`, "i"));
  return at < 0 ? undefined : { from: offset + at, to: offset + at + name.length, text: problem };
}

function lineStart(text: string, line: number): number {
  let at = 0;
  for (let i = 1; i < line; i++) {
    const next = text.indexOf("\n", at);
    if (next < 0) break;
    at = next + 1;
  }
  return at;
}
