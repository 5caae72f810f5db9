/** Which labels the series of a query may have, from its tree and the tables' schemas alone. */
import type { Catalog } from "../../../table/catalog.ts";
import type { AggregateExpression, BinaryExpression, Call, Expression } from "../syntax/ast.ts";
import { labelColumnsOf, METRIC_NAME } from "../tables/metric-columns.ts";
import { FIELD_LABEL, selectTables, type TableSelection } from "../tables/table-selection.ts";

/** Where metrics are looked for. */
export interface MetricPlace {
  readonly catalog: Catalog;
  readonly database: string;
}

/** Aggregations that give series of their operand as they are. */
export const PICKING: ReadonlySet<string> = new Set(["topk", "bottomk", "limitk", "limit_ratio"]);

/** Names of labels but that of the metric, sorted. @throws DbError InvalidArguments */
export function labelsOf(expression: Expression, place: MetricPlace): readonly string[] {
  return [...possible(expression, place)].sort();
}

/** The tables of the first selector in a query; undefined when it has none. */
export function firstTables(expression: Expression, place: MetricPlace): readonly TableSelection[] | undefined {
  if (expression.kind === "VectorSelector") return selectTables(expression.matchers, place.catalog, place.database);
  for (const part of partsOf(expression)) {
    const found = firstTables(part, place);
    if (found !== undefined) return found;
  }
  return undefined;
}

function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "NumberLiteral":
    case "StringLiteral":
    case "VectorSelector":
      return [];
    case "MatrixSelector":
      return [expression.selector];
    case "SubqueryExpression":
    case "AggregateExpression":
    case "UnaryExpression":
    case "ParenExpression":
      return [expression.expression];
    case "BinaryExpression":
      return [expression.left, expression.right];
    case "Call":
      return expression.args;
  }
}

function possible(expression: Expression, place: MetricPlace): ReadonlySet<string> {
  switch (expression.kind) {
    case "VectorSelector": {
      const selections = selectTables(expression.matchers, place.catalog, place.database);
      const names = selections.flatMap(({ table, showsField }) => [...labelColumnsOf(table.schema), ...(showsField ? [FIELD_LABEL] : [])]);
      return new Set(names);
    }
    case "AggregateExpression":
      return ofAggregate(expression, place);
    case "BinaryExpression":
      return ofBinary(expression, place);
    case "Call":
      return ofCall(expression, place);
    default:
      return new Set(partsOf(expression).flatMap((part) => [...possible(part, place)]));
  }
}

function ofAggregate({ operator, expression, parameter, grouping, isWithout }: AggregateExpression, place: MetricPlace): Set<string> {
  const inner = possible(expression, place);
  if (PICKING.has(operator)) return new Set(inner);
  const kept = new Set(isWithout ? inner : grouping);
  if (isWithout) for (const name of [...grouping, METRIC_NAME]) kept.delete(name);
  if (operator === "count_values" && parameter?.kind === "StringLiteral") kept.add(parameter.value);
  return kept;
}

function ofBinary({ operator, left, right, matching }: BinaryExpression, place: MetricPlace): ReadonlySet<string> {
  const [ofLeft, ofRight] = [possible(left, place), possible(right, place)];
  if (matching === undefined || operator === "or") return ofLeft.union(ofRight);
  if (matching.cardinality === "many-to-many") return ofLeft;
  const { cardinality, labels, isOn, include } = matching;
  if (cardinality === "many-to-one") return ofLeft.union(new Set(include));
  if (cardinality === "one-to-many") return ofRight.union(new Set(include));
  return isOn ? new Set(labels) : ofLeft.union(ofRight).difference(new Set(labels));
}

function ofCall({ signature, args }: Call, place: MetricPlace): Set<string> {
  const labels = new Set(args.flatMap((part) => [...possible(part, place)]));
  const [first, second] = args;
  switch (signature.name) {
    case "label_replace":
    case "label_join":
      if (second?.kind === "StringLiteral") labels.add(second.value);
      break;
    case "histogram_quantile":
    case "histogram_fraction":
      labels.delete("le");
      break;
    case "histogram_quantiles":
      labels.delete("le");
      if (second?.kind === "StringLiteral") labels.add(second.value);
      break;
    case "absent":
    case "absent_over_time": {
      const selector = first?.kind === "MatrixSelector" ? first.selector : first;
      const matchers = selector?.kind === "VectorSelector" ? selector.matchers : [];
      return new Set(matchers.filter(({ name, operator }) => operator === "=" && name !== METRIC_NAME).map(({ name }) => name));
    }
  }
  labels.delete(METRIC_NAME);
  return labels;
}
