/**
 * Which columns a query has as rows, and in which order, from its tree and the tables' schemas alone (contract query.md 6.3).
 *
 *   up                    as the table has them              sum by (a) (up)         a, time, value
 *   up of metric tables   value, tags, time                  topk(2, up)             value, tags, time
 *   up{__field__="v"}     value, tags, time                  count_values("n", up)   value, labels, time, n
 *   rate(up[5m])          time, value, tags                  up / 2                  tags, time, value
 *   1, scalar(up)         time, value                        sum by (a) (up) > 2     as what it filters
 */
import { physicalTableOf } from "../../../table/metric.ts";
import { timeIndexOf } from "../../../table/schema.ts";
import type { AggregateExpression, BinaryExpression, Call, Expression, LabelMatcher, VectorSelector } from "../syntax/ast.ts";
import { labelColumnsOf, METRIC_NAME } from "../tables/metric-columns.ts";
import { FIELD_LABEL, selectTables, type TableSelection } from "../tables/table-selection.ts";
import { fieldNames, type MetricPlace } from "./selected-fields.ts";
import { stringOf, unwrapped } from "../evaluation/scope.ts";
import { COMPARISONS } from "./tree-parts.ts";

/** A column: the time, a label, or values: of one field, by its place, or of all of them, a column each. */
type Slot =
  | { readonly role: "time" }
  | { readonly role: "value"; readonly field: number | "all" }
  | { readonly role: "label"; readonly name: string };

/** Columns in the order in which clients see them. */
type Layout = readonly Slot[];

const TIME: Slot = { role: "time" };
const VALUE: Slot = { role: "value", field: "all" };
/** Aggregations that give series of their operand as they are. */
const PICKING: ReadonlySet<string> = new Set(["topk", "bottomk", "limitk", "limit_ratio"]);

const slots = (labels: readonly string[]): Layout => labels.map((name) => ({ role: "label", name }));
const plain = (labels: readonly string[]): Layout => [TIME, VALUE, ...slots(labels)];
const grouped = (labels: readonly string[]): Layout => [...slots(labels), TIME, VALUE];
const valueFirst = (labels: readonly string[]): Layout => [VALUE, ...slots(labels), TIME];

/** @param isNamed whether `AS` names the value: it comes first then @throws DbError InvalidArguments */
export function layoutOf(expression: Expression, isNamed: boolean, place: MetricPlace): Layout {
  const layout = layoutOfNode(expression, place);
  return isNamed ? valueFirst(labelsIn(layout)) : layout;
}

/** Labels of a layout, in its order. */
function labelsIn(layout: Layout): readonly string[] {
  return layout.flatMap((slot) => (slot.role === "label" ? [slot.name] : []));
}

function labelsOf(node: Expression | undefined, place: MetricPlace): readonly string[] {
  return node === undefined ? [] : labelsIn(layoutOfNode(node, place));
}

function layoutOfNode(expression: Expression, place: MetricPlace): Layout {
  const node = unwrapped(expression);
  switch (node.kind) {
    case "VectorSelector":
      return ofSelector(node, place);
    case "MatrixSelector":
      return ofSelector(node.selector, place);
    case "SubqueryExpression":
      return layoutOfNode(node.expression, place);
    case "UnaryExpression":
      return plain(labelsOf(node.expression, place));
    case "AggregateExpression":
      return ofAggregate(node, place);
    case "BinaryExpression":
      return ofBinary(node, place);
    case "Call":
      return ofCall(node, place);
    default:
      return plain([]);
  }
}

function ofSelector({ matchers }: VectorSelector, { catalog, database }: MetricPlace): Layout {
  const selections = selectTables(matchers, catalog, database);
  const [only] = selections;
  if (only === undefined) return plain([]);
  if (selections.length > 1) {
    // Of one table each field is a column; here a label says which one it is.
    const field = selections.some(({ showsField }) => showsField) ? [FIELD_LABEL] : [];
    return valueFirst([...new Set([...selections.flatMap(labelsOfTable), ...field])].sort());
  }
  const labels = labelsOfTable(only);
  const tags = new Set(labels);
  const { schema } = only.table;
  if (physicalTableOf(schema) !== undefined || matchers.some(({ name }) => name === FIELD_LABEL)) return valueFirst(labels);
  const values = fieldNames(only, matchers);
  const time = timeIndexOf(schema).name;
  return schema.columns.flatMap(({ name }): Layout => {
    if (name === time) return [TIME];
    const field = values.indexOf(name);
    if (field >= 0) return [{ role: "value", field }];
    return tags.has(name) ? slots([name]) : [];
  });
}

/** In the order of the schema; those of metric tables by name. */
function labelsOfTable({ table: { schema } }: TableSelection): readonly string[] {
  const sorted = labelColumnsOf(schema);
  const tags = new Set(sorted);
  const names = schema.columns.map(({ name }) => name).filter((name) => tags.has(name));
  return physicalTableOf(schema) === undefined ? names : sorted;
}

function ofAggregate({ operator, expression, parameter, grouping, isWithout }: AggregateExpression, place: MetricPlace): Layout {
  const inner = labelsOf(expression, place);
  const given = new Set(grouping);
  const known = new Set(inner);
  if (PICKING.has(operator)) return valueFirst(inner);
  // The metric's name is there whatever the columns are.
  const kept = isWithout
    ? inner.filter((name) => name !== METRIC_NAME && !given.has(name))
    : [...given].filter((name) => known.has(name) || name === METRIC_NAME);
  if (operator !== "count_values") return grouped(kept);
  const made = parameter === undefined ? parameter : unwrapped(parameter);
  const target = made?.kind === "StringLiteral" ? made.value : "";
  return [VALUE, ...slots(kept.filter((name) => name !== target)), TIME, ...slots(target === "" ? [] : [target])];
}

function ofBinary(node: BinaryExpression, place: MetricPlace): Layout {
  const { operator, left, right, matching, returnsBool } = node;
  if (node.valueType === "scalar") return plain([]);
  const isFilter = COMPARISONS.has(operator) && !returnsBool;
  if (matching === undefined || left.valueType === "scalar" || right.valueType === "scalar") {
    const vector = left.valueType === "scalar" ? right : left;
    return isFilter ? filtered(vector, place) : grouped(labelsOf(vector, place));
  }
  if (operator === "or") return plain([...new Set([...labelsOf(left, place), ...labelsOf(right, place)])].sort());
  if (matching.cardinality === "many-to-many") return filtered(left, place);
  const { cardinality, labels, isOn, include } = matching;
  const [ofLeft, ofRight] = [labelsOf(left, place), labelsOf(right, place)];
  if (cardinality !== "one-to-one") {
    const all = [...new Set([...(cardinality === "one-to-many" ? ofRight : ofLeft), ...include])];
    return isFilter ? plain(all) : grouped(all);
  }
  const given = new Set(labels);
  // Series of the right side alone come with a fill.
  const both = [...new Set([...ofLeft, ...(isOn || matching.fillLeft !== undefined ? ofRight : [])])];
  const kept = new Set(isOn ? [METRIC_NAME, ...both].filter((name) => given.has(name)) : both.filter((name) => !given.has(name)));
  if (!isFilter) return grouped([...kept]);
  const own = filtered(left, place).filter((slot) => slot.role !== "label" || kept.has(slot.name));
  return [...own, ...slots([...kept.difference(new Set(labelsIn(own)))])];
}

/** Of what is left of a vector: its own, but time, value, labels where it stands in a table's order. */
function filtered(vector: Expression, place: MetricPlace): Layout {
  const layout = layoutOfNode(vector, place);
  return unwrapped(vector).kind === "VectorSelector" ? plain(labelsIn(layout)) : layout;
}

function ofCall({ signature, args }: Call, place: MetricPlace): Layout {
  const [first, second, third] = args;
  switch (signature.name) {
    case "scalar":
    case "vector":
    case "time":
    case "pi":
      return plain([]);
    case "label_replace":
    case "label_join":
      return withLabel(labelsOf(first, place), stringOf(second), signature.name === "label_replace" && stringOf(third) === "");
    case "histogram_quantile":
    case "histogram_fraction":
    case "histogram_quantiles": {
      const vector = args.find(({ valueType }) => valueType === "vector");
      const layout = vector === undefined ? plain([]) : layoutOfNode(vector, place);
      const own = layout.filter((slot) => slot.role !== "label" || slot.name !== "le");
      const added = signature.name === "histogram_quantiles" ? slots([stringOf(second)]) : [];
      return [...own, ...added];
    }
    case "absent":
    case "absent_over_time":
      return plain(absentLabels(first));
    case "info":
      return plain([...new Set([...labelsOf(first, place), ...infoLabels(second, place)])]);
    default:
      return plain(
        labelsOf(
          args.find(({ valueType }) => valueType === "vector" || valueType === "matrix"),
          place,
        ),
      );
  }
}

/** @param isNever whether the label is never given a value: a replacement by nothing takes it away */
function withLabel(labels: readonly string[], target: string, isNever: boolean): Layout {
  if (target === METRIC_NAME || (isNever && !labels.includes(target)) || labels.includes(target)) return plain(labels);
  return plain([target, ...labels]);
}

function absentLabels(argument: Expression | undefined): readonly string[] {
  const inner = argument === undefined ? undefined : unwrapped(argument);
  const selector = inner?.kind === "MatrixSelector" ? inner.selector : inner;
  const matchers = selector?.kind === "VectorSelector" ? selector.matchers : [];
  return [...new Set(matchers.filter(({ name, operator }) => operator === "=" && name !== METRIC_NAME).map(({ name }) => name))];
}

/** Labels that `info` may add: those that its selector names, else all of the info metrics. */
function infoLabels(selector: Expression | undefined, place: MetricPlace): readonly string[] {
  const given = selector?.kind === "VectorSelector" ? selector.matchers : [];
  const isName = ({ name }: LabelMatcher): boolean => name === METRIC_NAME;
  const names = given.filter(isName);
  const isNamed = names.some(({ operator }) => operator.startsWith("="));
  const target: LabelMatcher = { name: METRIC_NAME, operator: "=", value: "target_info", takesEmpty: false };
  const tables = selectTables(isNamed ? names : [...names, target], place.catalog, place.database);
  const wanted = new Set(given.filter((matcher) => !isName(matcher)).map(({ name }) => name));
  const all = [...new Set(tables.flatMap(labelsOfTable))];
  return wanted.size === 0 ? all : all.filter((name) => wanted.has(name));
}
