/**
 * Reports how the PromQL parser takes a folder of expressions, one JSON object a line of `expressions.jsonl`:
 *
 *   bun test/conformance/promql-parser.ts <folder>
 */
import { join } from "node:path";
import { parsePromql } from "../../src/query/promql/syntax/parse.ts";
import { printPromql } from "../../src/query/promql/syntax/printer.ts";

/** A line of the file. */
interface Case {
  readonly expr?: string;
  /** Hexadecimal; for what is no UTF-8. */
  readonly expr_bytes?: string;
  readonly valid: boolean;
  readonly printed?: string;
  /** Without its place; `…` stands for anything. */
  readonly error?: string;
  /** Bytes. */
  readonly error_range?: readonly [from: number, to: number];
}

const [, , folder] = process.argv;
if (folder === undefined) {
  process.stderr.write("usage: bun test/conformance/promql-parser.ts <folder>\n");
  process.exit(2);
}
const lines = (await Bun.file(join(folder, "expressions.jsonl")).text()).split("\n").filter((line) => line !== "");
const findings = lines.flatMap((line, index) => {
  const wrong = findingOf(JSON.parse(line));
  return wrong === undefined ? [] : [`${index + 1}: ${line}\n  ${wrong}\n`];
});
process.stdout.write(`${findings.join("")}${lines.length - findings.length} of ${lines.length} agree\n`);
process.exitCode = findings.length === 0 ? 0 : 1;

/** What is wrong with the answer to a case; undefined when nothing is. */
function findingOf({ expr, expr_bytes, valid, printed, error, error_range }: Case): string | undefined {
  const bytes = expr_bytes === undefined ? Buffer.from(expr ?? "") : Buffer.from(expr_bytes, "hex");
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const parsed = parsePromql(text);
  if (parsed.ok) {
    if (!valid) return "was accepted";
    const line = printPromql(parsed.expression);
    return printed === undefined || printed === line ? undefined : `was printed as ${line}`;
  }
  const { message, span } = parsed.problem;
  if (valid) return `was refused: ${message}`;
  const what = message.replace(/^[^:]*(?::\d+)?: parse error: /, "");
  if (error !== undefined && !sameText(what, error)) return `was refused otherwise: ${what}`;
  // The end of the text is that of the bytes, also where these are no UTF-8.
  const at = (place: number): number => (place === text.length ? bytes.length : Buffer.byteLength(text.slice(0, place)));
  const [from, to] = [at(span.start), at(span.end)];
  if (error_range === undefined || (error_range[0] === from && error_range[1] === to)) return undefined;
  return `was refused at ${from} to ${to}`;
}

function sameText(text: string, wanted: string): boolean {
  const [head = "", ...rest] = wanted.split("…");
  if (rest.length === 0) return text === wanted;
  if (!text.startsWith(head)) return false;
  let from = head.length;
  for (const part of rest) {
    const found = text.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return rest.at(-1) === "" || from === text.length;
}
