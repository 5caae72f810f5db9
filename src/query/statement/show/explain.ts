/** EXPLAIN: Varve's own plan text; with ANALYZE the query runs and each operator tells what it did. */
import { STRING, UINT32 } from "../../../column/data-type.ts";
import { inputsOf, type PlanNode } from "../../operator/contract/node.ts";
import { type ExecOptions, prepareSelect } from "../shared/select.ts";
import { run } from "../../operator/run.ts";
import { type NodeMetrics, ownMillis } from "../../operator/contract/node-metrics.ts";
import { logicalText, physicalText } from "../../plan/explain-text.ts";
import { notSupported } from "../../plan/bind/plan-error.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Query, Tql } from "../../sql/syntax/ast.ts";
import type { Statement } from "../../sql/syntax/statement-ast.ts";
import type { StatementResult } from "../../statement-result.ts";
import { rowsResult, textHeaders } from "../shared/rows-result.ts";

type Explain = Extract<Statement, { kind: "explain" }>;

/** The plan of a statement. @throws DbError those of the statement; Unsupported for statements without a plan */
export async function explain(statement: Explain, context: QueryContext, options: ExecOptions): Promise<StatementResult> {
  const query = queryOf(statement.statement);
  if (query === undefined) throw notSupported(`EXPLAIN of ${statement.statement.kind}; explain a SELECT`);
  if (statement.analyze && statement.format === "graphviz") throw notSupported("EXPLAIN ANALYZE FORMAT GRAPHVIZ; take TEXT or JSON");
  return statement.analyze ? analyze(statement, query, context, options) : plain(statement, query, context, options);
}

function queryOf(statement: Statement): Query | Tql | undefined {
  switch (statement.kind) {
    case "select":
    case "set-operation":
    case "values-query":
    case "with":
    case "tql":
      return statement;
    case "insert":
      return statement.source.kind === "values" ? undefined : statement.source;
    default:
      return undefined;
  }
}

async function plain(statement: Explain, query: Query | Tql, context: QueryContext, options: ExecOptions): Promise<StatementResult> {
  const { plan } = await prepareSelect(query, context, options, { explains: true });
  const show = SHOW[statement.format];
  const rows = [
    ["logical_plan", show(plan, logicalText)],
    ["physical_plan", show(plan, physicalText)],
  ];
  if (statement.verbose) rows.push(["generated_code", (await sourcesOf(query, context, options)).join("\n\n")]);
  return rowsResult(textHeaders("plan_type", "plan"), rows);
}

type PlanText = (plan: PlanNode) => string;

/** A plan in each format. */
const SHOW: Readonly<Record<Explain["format"], (plan: PlanNode, text: PlanText) => string>> = {
  text: (plan, text) => text(plan),
  json: (plan, text) => JSON.stringify(jsonOf(plan, text)),
  graphviz: graphOf,
};

/** A plan as a graph in the DOT language: a box an operator, an arrow from each to where its rows go. */
function graphOf(plan: PlanNode, text: PlanText): string {
  const lines: string[] = [];
  let count = 0;
  const draw = (node: PlanNode): number => {
    const own = count++;
    const [line = ""] = text(node).split("\n");
    lines.push(`  ${own}[shape=box label=${JSON.stringify(line)}]`);
    for (const input of inputsOf(node)) lines.push(`  ${draw(input)} -> ${own}`);
    return own;
  };
  draw(plan);
  return `digraph {\n${lines.join("\n")}\n}`;
}

/** Loops are made for the layout of the first batches, so the query runs to show them. */
async function sourcesOf(query: Query | Tql, context: QueryContext, options: ExecOptions): Promise<readonly string[]> {
  const sources: string[] = [];
  const onSource = (name: string, source: string): void => void sources.push(`// ${name}\n${source.trim()}`);
  const { plan, exec } = await prepareSelect(query, context, options, { run: { onSource } });
  for await (const batch of run(plan, exec)) if (batch.rowCount > 0 && sources.length > 0) break;
  return sources;
}

async function analyze(statement: Explain, query: Query | Tql, context: QueryContext, options: ExecOptions): Promise<StatementResult> {
  const metrics = new Map<PlanNode, NodeMetrics>();
  const sources: string[] = [];
  const wanted = statement.verbose ? { onSource: (name: string, source: string) => sources.push(`// ${name}\n${source.trim()}`) } : {};
  const { plan, exec } = await prepareSelect(query, context, options, { run: { metrics, ...wanted } });
  options.onAnalyzing?.(() => jsonMetrics(plan, metrics));
  let total = 0;
  for await (const batch of run(plan, exec)) total += batch.rowCount;
  const text = statement.format === "json" ? JSON.stringify(jsonMetrics(plan, metrics)) : physicalText(plan, metrics);
  const code = statement.verbose && statement.format === "text" && sources.length > 0 ? `\n${sources.join("\n\n")}` : "";
  const headers = [
    { name: "stage", type: UINT32 },
    { name: "node", type: UINT32 },
    { name: "plan", type: STRING },
  ];
  return rowsResult(headers, [
    [0, 0, text + code],
    [undefined, undefined, `Total rows: ${total}`],
  ]);
}

interface JsonPlan {
  readonly name: string;
  readonly param: string;
  readonly children: readonly JsonPlan[];
}

/** Name and parameters of an operator, from its line of text. */
function split(line: string): { readonly name: string; readonly param: string } {
  const at = line.indexOf(": ");
  return at < 0 ? { name: line, param: "" } : { name: line.slice(0, at), param: line.slice(at + 2) };
}

function jsonOf(plan: PlanNode, text: PlanText): JsonPlan {
  const [line = ""] = text(plan).split("\n");
  return { ...split(line), children: inputsOf(plan).map((input) => jsonOf(input, text)) };
}

/** Statistics of a scan by the names that the text gives them. */
function snakeCase(statistics: object | undefined): Readonly<Record<string, number>> {
  const entries = Object.entries(statistics ?? {}).map(
    ([name, value]) => [name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), Number(value)] as const,
  );
  return Object.fromEntries(entries);
}

interface JsonMetrics extends JsonPlan {
  readonly output_rows: number;
  readonly elapsed_compute: number;
  readonly metrics: Readonly<Record<string, number | string>>;
}

function jsonMetrics(plan: PlanNode, metrics: ReadonlyMap<PlanNode, NodeMetrics>): JsonMetrics {
  const own = metrics.get(plan);
  const [line = ""] = physicalText(plan).split("\n");
  return {
    ...split(line),
    output_rows: own?.rows ?? 0,
    elapsed_compute: Math.round(ownMillis(plan, metrics) * 1e6),
    metrics: {
      elapsed: Math.round((own?.elapsedMs ?? 0) * 1e6),
      output_batches: own?.batches ?? 0,
      output_bytes: own?.bytes ?? 0,
      spilled_bytes: own?.spilledBytes ?? 0,
      ...(own?.held === undefined ? {} : { held_side: own.held }),
      ...snakeCase(own?.scan),
    },
    children: inputsOf(plan).map((input) => jsonMetrics(input, metrics)),
  };
}
