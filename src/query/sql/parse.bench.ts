/** Parsing of statements as dashboards and writers send them, and the two that are large. */
import { bench, group, run } from "mitata";
import { tokenize } from "./tokens/lexer.ts";
import { parseSql } from "./parse.ts";
import { printExpression } from "./print/print.ts";

const GROUP_BY =
  "SELECT max(usage_user), date_trunc('minute', greptime_timestamp) FROM cpu WHERE (hostname = 'host_9') " +
  "AND greptime_timestamp >= '2023-06-11T02:17:08Z' AND greptime_timestamp < '2023-06-11T03:17:08Z' " +
  "GROUP BY date_trunc('minute', greptime_timestamp)";
const IN_LIST = `SELECT * FROM t WHERE host IN (${Array.from({ length: 10_000 }, (_, i) => `'host_${i}'`).join(", ")})`;
const INSERT = `INSERT INTO t VALUES ${Array.from({ length: 25_000 }, (_, i) => `('host_${i}', ${i}, 1.5, 'abc', ${i * 1000})`).join(",")}`;

const select = parseSql("SELECT sum(a) / count(*) + coalesce(b, 0) * 2 FROM t")[0];
const item = select?.kind === "select" ? select.items[0] : undefined;

group("statement", () => {
  bench("group by, 36 tokens: lex", () => tokenize(GROUP_BY));
  bench("group by, 36 tokens: lex + parse", () => parseSql(GROUP_BY));
  bench("IN list of 10,000", () => parseSql(IN_LIST));
  bench("INSERT of 25,000 rows, 1 MB", () => parseSql(INSERT));
});
group("print", () => {
  bench("an expression", () => (item?.kind === "expression" ? printExpression(item.expression) : ""));
});

await run();
