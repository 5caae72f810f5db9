/**
 * Templates of queries (`{{.range}}` stands for each text of its list) as the PromQL compliance project writes them in YAML:
 * `query`, `variant_args`, `should_fail`.
 */

/** What stands for an argument of a template. */
const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  range: ["1s", "15s", "1m", "5m", "15m", "1h"],
  offset: ["1m", "5m", "10m"],
  simpleAggrOp: ["sum", "avg", "max", "min", "count", "stddev", "stdvar"],
  simpleTimeAggrOp: ["sum", "avg", "max", "min", "count", "stddev", "stdvar", "absent", "last", "present"],
  topBottomOp: ["topk", "bottomk"],
  quantile: ["-0.5", "0.1", "0.5", "0.75", "0.95", "0.90", "0.99", "1", "1.5"],
  arithBinOp: ["+", "-", "*", "/", "%", "^"],
  compBinOp: ["==", "!=", "<", ">", "<=", ">="],
  binOp: ["+", "-", "*", "/", "%", "^", "==", "!=", "<", ">", "<=", ">="],
  simpleMathFunc: ["abs", "ceil", "floor", "exp", "sqrt", "ln", "log2", "log10", "round"],
  extrapolatedRateFunc: ["delta", "rate", "increase"],
  clampFunc: ["clamp_min", "clamp_max"],
  instantRateFunc: ["idelta", "irate"],
  dateFunc: ["day_of_month", "day_of_week", "days_in_month", "hour", "minute", "month", "year"],
};

/** A query of a list. */
export interface ListedQuery {
  readonly query: string;
  /** Whether the list says that it fails. */
  readonly fails: boolean;
}

/** The queries of a list in YAML, each template once for every choice of its arguments. @throws Error for what is no such list */
export function queriesOf(yaml: string): readonly ListedQuery[] {
  const file: unknown = Bun.YAML.parse(yaml);
  const cases: unknown = typeof file === "object" && file !== null && "test_cases" in file ? file.test_cases : undefined;
  if (!Array.isArray(cases)) throw new Error("the file has no list test_cases");
  return cases.flatMap((each: { readonly query: unknown; readonly variant_args?: readonly string[]; readonly should_fail?: boolean }) =>
    expanded(String(each.query), each.variant_args ?? []).map((query) => ({ query, fails: each.should_fail === true })),
  );
}

/** @throws Error for an unknown argument */
function expanded(template: string, names: readonly string[]): readonly string[] {
  let queries: readonly string[] = [template];
  for (const name of names) {
    const texts = VARIANTS[name];
    if (texts === undefined) throw new Error(`no texts are known for the argument ${name}`);
    queries = queries.flatMap((query) => texts.map((text) => query.replaceAll(`{{.${name}}}`, text)));
  }
  return queries;
}
