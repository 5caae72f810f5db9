/**
 * Matchers → tables, their columns and conditions on tags (contract ingest.md 3.6, query.md 6.1).
 *
 *   __name__                     the table; by another operator than = all tables of the database that are metrics
 *   __field__                    the columns that meet one of = and =~ (if there are some) and all of != and !~; without it the first one.
 *                                When several are taken they are told apart by a label of that name
 *   __database__, __schema__     the database, by = alone; the last one wins
 *   others                       tags; a label that the table does not have is ""
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Catalog, Table } from "../../../table/catalog.ts";
import type { TagPredicate } from "../../../table/scan.ts";
import type { ColumnSchema } from "../../../table/schema.ts";
import type { LabelMatcher } from "../syntax/ast.ts";
import { type LabelTest, labelTest, wantedValues } from "./label-test.ts";
import { labelColumnsOf, METRIC_NAME, sampleColumnsOf } from "./metric-columns.ts";
import { plannedMatcher } from "./planned-matcher.ts";

/** The label that says which column a sample is of. */
export const FIELD_LABEL = "__field__";
const DATABASE_LABELS: readonly string[] = ["__schema__", "__database__"];

/** What a selector wants of one table. */
export interface TableSelection {
  readonly table: Table;
  /** Not empty. */
  readonly columns: readonly ColumnSchema[];
  /** Whether series say which column they are of. */
  readonly showsField: boolean;
  /** Those of one matcher are one object, whatever the table. */
  readonly predicates: readonly TagPredicate[];
}

/** One matcher and its test, made once for all tables. */
interface Condition {
  readonly matcher: LabelMatcher;
  readonly test: LabelTest;
  /** The same for all tables. */
  readonly predicate: TagPredicate;
}

/** The tables of a selector, in the order of the catalog. @throws DbError InvalidArguments */
export function selectTables(matchers: readonly LabelMatcher[], catalog: Catalog, database: string): readonly TableSelection[] {
  const { ofName, ofField, ofDatabase, ofTags } = conditionsOf(matchers);
  const found: TableSelection[] = [];
  for (const table of tablesOf(ofName, catalog, databaseOf(ofDatabase, database))) {
    const columns = chosenColumns(sampleColumnsOf(table.schema), ofField);
    const predicates = columns.length === 0 ? undefined : predicatesOf(ofTags, labelColumnsOf(table.schema));
    if (predicates !== undefined) found.push({ table, columns, showsField: columns.length > 1, predicates });
  }
  return found;
}

/** The conditions of a selector by what they are on. */
interface Conditions {
  readonly ofName: readonly Condition[];
  readonly ofField: readonly Condition[];
  readonly ofDatabase: readonly Condition[];
  readonly ofTags: readonly Condition[];
}

/** By the matchers, which never change: queries that are asked again have the same ones. Not of expressions, which count their steps. */
const knownConditions = new WeakMap<readonly LabelMatcher[], Conditions>();

/** @throws DbError InvalidArguments */
function conditionsOf(matchers: readonly LabelMatcher[]): Conditions {
  const known = knownConditions.get(matchers);
  if (known !== undefined) return known;
  const all = matchers.map(conditionOf);
  const named = (...names: readonly string[]): readonly Condition[] => all.filter(({ matcher }) => names.includes(matcher.name));
  const special = [METRIC_NAME, FIELD_LABEL, ...DATABASE_LABELS];
  const ofTags = all.filter(({ matcher }) => !special.includes(matcher.name));
  const made = { ofName: named(METRIC_NAME), ofField: named(FIELD_LABEL), ofDatabase: named(...DATABASE_LABELS), ofTags };
  if (matchers.every(({ operator }) => operator === "=" || operator === "!=")) knownConditions.set(matchers, made);
  return made;
}

function databaseOf(conditions: readonly Condition[], fallback: string): string {
  for (const { matcher } of conditions) {
    if (matcher.operator === "=" && matcher.value !== "") continue;
    throw new DbError(StatusCode.InvalidArguments, `cannot choose a database by ${matcher.name}${matcher.operator}: name one, by =`);
  }
  return conditions.at(-1)?.matcher.value ?? fallback;
}

function tablesOf(names: readonly Condition[], catalog: Catalog, database: string): readonly Table[] {
  if (catalog.database(database) === undefined) return [];
  const isWanted = (name: string): boolean => names.every(({ test }) => test(name));
  const [least] = names
    .map(({ matcher }) => wantedValues(matcher))
    .filter((values) => values !== undefined)
    .sort((a, b) => a.length - b.length);
  if (least === undefined) return catalog.tables(database).filter(({ schema }) => isWanted(schema.name));
  const tables = [...new Set(least)].filter(isWanted).map((name) => (name === "" ? undefined : catalog.table(database, name)));
  return tables.filter((table) => table !== undefined);
}

function chosenColumns(columns: readonly ColumnSchema[], conditions: readonly Condition[]): readonly ColumnSchema[] {
  if (conditions.length === 0) return columns.slice(0, 1);
  const [choosing, refusing] = [true, false].map((chooses) =>
    conditions.filter(({ matcher }) => matcher.operator.startsWith("=") === chooses),
  );
  const isChosen = (name: string): boolean => choosing?.length === 0 || choosing?.some(({ test }) => test(name)) === true;
  return columns.filter(({ name }) => isChosen(name) && refusing?.every(({ test }) => test(name)) !== false);
}

function conditionOf(matcher: LabelMatcher): Condition {
  const test = labelTest(matcher);
  const values = wantedValues(matcher);
  const column = matcher.name;
  if (values === undefined) {
    const planned = plannedMatcher(matcher);
    const own: TagPredicate = { kind: "test", column, test: (value) => test(value ?? "") };
    return { matcher, test, predicate: planned === undefined ? own : { ...own, planned } };
  }
  return { matcher, test, predicate: { kind: "in", column, values: values.includes("") ? [...values, undefined] : values } };
}

/** Conditions on the tags of a table; undefined when none of its series can meet them. */
function predicatesOf(conditions: readonly Condition[], tags: readonly string[]): readonly TagPredicate[] | undefined {
  const predicates: TagPredicate[] = [];
  for (const { matcher, test, predicate } of conditions) {
    if (tags.includes(matcher.name)) predicates.push(predicate);
    else if (!test("")) return undefined;
  }
  return predicates;
}
