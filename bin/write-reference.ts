/**
 * Writes `docs/sql-functions.md` and `docs/promql-functions.md` from the tables that the server itself goes by: a function that is there is
 * listed, and none else. Run it after a change of a table: `bun run bin/write-reference.ts`.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { WINDOW_FUNCTION_NAMES } from "../src/query/function/family/window-functions.ts";
import { AGGREGATES } from "../src/query/function/aggregate/registry.ts";
import { FUNCTION_FAMILIES } from "../src/query/function/registry.ts";
import { FUNCTIONS, type FunctionSignature, typeText } from "../src/query/promql/syntax/function-table.ts";
import { AGGREGATORS, BINARY_OPERATORS } from "../src/query/promql/syntax/operators.ts";

const DOCS = join(import.meta.dir, "../docs");
/** Characters of a line. */
const LINE_MAX = 140;
const MADE_BY = "Made by `bin/write-reference.ts` from the server's own tables.";

/** The texts of the pages, by their names. */
export function referencePages(): Readonly<Record<string, string>> {
  return { "sql-functions.md": sqlPage(), "promql-functions.md": promqlPage() };
}

function sqlPage(): string {
  const families = FUNCTION_FAMILIES.map(({ about, functions }) =>
    section(
      about,
      functions.map(({ signature }) => signature),
    ),
  );
  return `# Functions of SQL

${MADE_BY} Names are of any case; \`[…]\` may be left out,
\`…\` repeats. What functions of other servers mean here, and what differs between servers, is in [sql.md](sql.md).
The server says for a call that fits none of its forms which ones there are, and for a name that it does not know which one is near.

${section(
  "Aggregates",
  AGGREGATES.map(({ signature }) => signature),
)}
\`DISTINCT\`, \`FILTER (WHERE …)\`, \`ORDER BY\` and \`OVER (…)\` stand where SQL has them.

${section(
  "Windows",
  WINDOW_FUNCTION_NAMES.map((name) => `${name}(…)`),
)}
They need \`OVER (…)\`.

## Relations

In FROM: \`generate_series([start,] end [, step])\` with its end, \`range([start,] end [, step])\` without,
of numbers or times; \`unnest(list)\`.

${families.join("\n")}`;
}

function section(title: string, signatures: readonly string[]): string {
  const unique = [...new Set(signatures)].toSorted();
  return `## ${title}\n\n${filled(unique.map((signature) => `\`${signature}\``))}\n`;
}

/** A list in lines, so that a change of one entry is a change of one line. */
function filled(entries: readonly string[]): string {
  const lines: string[] = [];
  let line = "";
  for (const [index, entry] of entries.entries()) {
    const shown = index < entries.length - 1 ? `${entry},` : entry;
    if (line !== "" && line.length + 1 + shown.length > LINE_MAX) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? shown : ` ${shown}`;
  }
  return [...lines, line].join("\n");
}

function promqlPage(): string {
  const rows = FUNCTIONS.map((entry) => `| \`${callOf(entry)}\` | ${typeText(entry.returnType)} | ${entry.isExperimental ? "yes" : ""} |`);
  const aggregations = Object.entries(AGGREGATORS).map(([name, parameter]) =>
    parameter === undefined ? `\`${name}(vector)\`` : `\`${name}(${parameter}, vector)\``,
  );
  const levels = Map.groupBy(Object.entries(BINARY_OPERATORS), ([, { precedence }]) => precedence);
  const operators = [...levels].map(
    ([level, entries]) => `| ${level} | ${entries.map(([sign]) => `\`${sign}\``).join(" ")} | ${entries[0]?.[1].family} |`,
  );
  return `# Functions of PromQL

${MADE_BY} What Prometheus has behind a feature flag is always on.
[promql.md](promql.md) has the API and what tables mean as metrics.

| call | gives | experimental in Prometheus |
|---|---|---|
${rows.join("\n")}

## Aggregations

${aggregations.join(", ")}; with \`by (…)\` or \`without (…)\`.

## Operators

| binds | operators | kind |
|---|---|---|
${operators.join("\n")}

A higher number binds more tightly; \`^\` groups from the right. \`bool\`, \`on\`, \`ignoring\`, \`group_left\`, \`group_right\`,
\`fill\`, \`offset\`, \`@\` and
sub-queries are as in Prometheus.
`;
}

/** How a function is called, by the types of what it takes. */
function callOf({ name, argumentTypes, variadic }: FunctionSignature): string {
  const last = argumentTypes.at(-1);
  if (variadic === 0 || last === undefined) return `${name}(${argumentTypes.join(", ")})`;
  const fixed = argumentTypes.slice(0, -1);
  const more = variadic === 1 ? `[${fixed.length > 0 ? ", " : ""}${last}]` : `[${fixed.length > 0 ? ", " : ""}${last}, …]`;
  return `${name}(${fixed.join(", ")}${more})`;
}

if (import.meta.main) for (const [name, text] of Object.entries(referencePages())) writeFileSync(join(DOCS, name), text);
