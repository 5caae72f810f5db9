/**
 * Queries of tables with several fields, as one query a field (contract query.md 6.1).
 *
 *   cpu                        fields user, sys: two queries, cpu{__field__="user"} and cpu{__field__="sys"}
 *   cpu / on (host) mem        fields user, sys and free: cpu{…user} / mem{…free}, cpu{…sys} / mem{…free}
 *   cpu{__field__=~"u.*"}      those that meet the matcher
 *
 * The selectors of one query have the same number of fields, or one. What compares series of one field with each other has no meaning
 * for several at a time, and is refused.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Catalog } from "../../../table/catalog.ts";
import { holdsHistograms } from "../../../table/native-histogram.ts";
import type { Expression, LabelMatcher, VectorSelector } from "../syntax/ast.ts";
import { sampleColumnsOf } from "../tables/metric-columns.ts";
import { FIELD_LABEL, selectTables, type TableSelection } from "../tables/table-selection.ts";
import { COMPARISONS, partsOf, selectorsOf, withSelectors } from "./tree-parts.ts";

/** Where metrics are looked for. */
export interface MetricPlace {
  readonly catalog: Catalog;
  readonly database: string;
}

/** Most fields that one query has. Reason: each is a query of its own. Error: InvalidArguments. */
const FIELDS_MAX = 1024;
/** Most characters of all queries of one. Reason: they are made at once. Error: InvalidArguments. */
const CHARACTERS_MAX = 4_000_000;
const NAME_A_FIELD = `name one by {${FIELD_LABEL}="…"}`;

/**
 * The queries of the fields, in the order of the schema; the query itself where there is one field.
 *
 * @throws DbError InvalidArguments, Unsupported, EngineExecuteQuery
 */
export function fieldQueries(expression: Expression, place: MetricPlace): readonly Expression[] {
  const fields = new Map<VectorSelector, readonly string[]>();
  for (const selector of selectorsOf(expression)) {
    const names = fieldsOf(selector, place);
    if (names.length > 1) fields.set(selector, names);
  }
  if (fields.size === 0) return [expression];
  const count = countIn(expression, fields);
  const { span } = expression;
  if ((span.end - span.start) * count > CHARACTERS_MAX) throw refused(`the query is too long for ${count} fields; ${NAME_A_FIELD}`);
  return Array.from({ length: count }, (_, i) =>
    withSelectors(expression, (selector) => {
      const name = fields.get(selector)?.[i];
      return name === undefined ? selector : ofField(selector, name);
    }),
  );
}

/** The fields of a selector of one table; none where there is no table, or several. @throws DbError InvalidArguments */
function fieldsOf({ matchers }: VectorSelector, { catalog, database }: MetricPlace): readonly string[] {
  const [only, ...others] = selectTables(matchers, catalog, database);
  const ofField = matchers.filter(({ name }) => name === FIELD_LABEL);
  if (only === undefined || others.length > 0) {
    const [table] =
      ofField.length === 0
        ? []
        : selectTables(
            matchers.filter(({ name }) => name !== FIELD_LABEL),
            catalog,
            database,
          );
    if (table !== undefined && others.length === 0) checkNamed(ofField, table);
    return [];
  }
  checkNamed(ofField, only);
  return fieldNames(only, matchers);
}

/** The fields of a table that a selector reads, in the order of the schema: those that it names, else all numbers. */
export function fieldNames({ table, columns }: TableSelection, matchers: readonly LabelMatcher[]): readonly string[] {
  if (matchers.some(({ name }) => name === FIELD_LABEL)) return columns.map(({ name }) => name);
  const all = sampleColumnsOf(table.schema);
  const numbers = all.filter((column) => !holdsHistograms(column));
  return (numbers.length === 0 ? all : numbers).map(({ name }) => name);
}

function checkNamed(matchers: readonly LabelMatcher[], { table: { schema } }: TableSelection): void {
  const known = sampleColumnsOf(schema).map(({ name }) => name);
  for (const { operator, value } of matchers) {
    if ((operator !== "=" && operator !== "!=") || known.includes(value)) continue;
    throw new DbError(
      StatusCode.InvalidArguments,
      `Cannot find column ${value.slice(0, 80)}: ${schema.name} has no such field that is a number`,
    );
  }
}

function ofField(selector: VectorSelector, field: string): VectorSelector {
  const matcher: LabelMatcher = { name: FIELD_LABEL, operator: "=", value: field, takesEmpty: field === "" };
  // That of a name before the braces stays the last one.
  const others = selector.matchers.filter(({ name }) => name !== FIELD_LABEL);
  const matchers = selector.name === "" ? [...others, matcher] : [...others.slice(0, -1), matcher, ...others.slice(-1)];
  return { ...selector, matchers };
}

/** How many fields a part of the query has. */
function countIn(node: Expression, fields: ReadonlyMap<VectorSelector, readonly string[]>): number {
  if (node.kind === "VectorSelector") {
    const count = fields.get(node)?.length ?? 1;
    if (count > FIELDS_MAX) throw refused(`${node.name} has ${count} fields, at most ${FIELDS_MAX} are read at once; ${NAME_A_FIELD}`);
    return count;
  }
  const counts = partsOf(node).map((part) => countIn(part, fields));
  const [first = 1, ...others] = [...new Set(counts.filter((count) => count > 1))];
  if (others.length > 0)
    throw refused(`the operands have ${first} and ${others[0]} fields, which do not go together; ${NAME_A_FIELD} on one side`);
  if (first > 1) checkSeveral(node);
  return first;
}

/** Why an aggregation takes one field only, by its name. */
const OF_ONE_FIELD: ReadonlyMap<string, DbError["code"]> = new Map([
  ["group", StatusCode.Unsupported],
  ["topk", StatusCode.InvalidArguments],
  ["bottomk", StatusCode.InvalidArguments],
  ["limitk", StatusCode.InvalidArguments],
  ["limit_ratio", StatusCode.InvalidArguments],
  ["count_values", StatusCode.EngineExecuteQuery],
]);

/** Refuses what has no meaning for several fields. */
function checkSeveral(node: Expression): void {
  const code = node.kind === "AggregateExpression" ? OF_ONE_FIELD.get(node.operator) : undefined;
  if (node.kind === "AggregateExpression" && code !== undefined) throw severalFields(code, node.operator);
  if (node.kind === "BinaryExpression" && COMPARISONS.has(node.operator) && !node.returnsBool)
    throw severalFields(StatusCode.EngineExecuteQuery, "a comparison that filters");
  if (node.kind === "Call" && node.signature.name.startsWith("histogram_"))
    throw severalFields(StatusCode.EngineExecuteQuery, node.signature.name);
}

function refused(why: string): DbError {
  return new DbError(StatusCode.InvalidArguments, why);
}

function severalFields(code: DbError["code"], what: string): DbError {
  return new DbError(code, `Unsupported expr type: ${what} on multi-value input: ${NAME_A_FIELD}`);
}
