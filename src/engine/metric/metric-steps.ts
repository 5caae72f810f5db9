/**
 * Steps of a schema transaction that concern the metric engine, completed: logical tables have their columns in the order of their names,
 * and their physical table gets a column for each of their labels, all in the same commit.
 */
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { STRING, UINT32, UINT64 } from "../../column/data-type.ts";
import { isPhysicalTable, METRIC_ENGINE, physicalTableOf, SERIES_HASH_COLUMN, TABLE_ID_COLUMN } from "../../table/metric.ts";
import { holdsHistograms, NATIVE_HISTOGRAM } from "../../table/native-histogram.ts";
import type { ColumnPlace, NewColumn, SchemaChange, TableDefinition, TableSchema } from "../../table/schema.ts";
import type { SchemaStep } from "../schema/catalog-plans.ts";
import { checkLogicalChange, checkLogicalTable, checkMetricTable, checkPhysicalChange, type MetricTable } from "./metric-rules.ts";
import { tableNameKey } from "../../table/names.ts";

/** Where schemas in force are found. */
export interface SchemaSource {
  schema(database: string, table: string): TableSchema | undefined;
}

/** Granularity of skipping indexes that do not name one. */
const SKIPPING_GRANULARITY = "10240";

/**
 * The steps with what they mean for physical tables, to be applied together.
 *
 * @throws DbError InvalidArguments, Unsupported, TableNotFound (the physical table)
 */
export function withPhysicalSteps(steps: readonly SchemaStep[], schemas: SchemaSource): readonly SchemaStep[] {
  const plan = new MetricPlan(schemas);
  const completed = steps.map((step) => plan.complete(step));
  const added = plan.additions();
  return added.length === 0 ? completed : [...completed, ...added];
}

/** A physical table that a transaction concerns, and the labels that it gets. */
interface Growing {
  readonly database: string;
  readonly table: MetricTable;
  readonly known: Set<string>;
  readonly labels: string[];
  /** The column of native histograms, where it gets one. */
  histograms: NewColumn | undefined;
}

class MetricPlan {
  private readonly schemas: SchemaSource;
  private readonly physical: Map<string, Growing> = new Map();
  /** Tables that earlier steps make. */
  private readonly created: Map<string, TableDefinition> = new Map();

  constructor(schemas: SchemaSource) {
    this.schemas = schemas;
  }

  complete(step: SchemaStep): SchemaStep {
    if (step.kind === "create") {
      this.created.set(tableNameKey(step.definition.database, step.definition.name), step.definition);
      return step.definition.engine === METRIC_ENGINE ? { kind: "create", definition: this.createdTable(step.definition) } : step;
    }
    const schema = this.schemas.schema(step.database, step.table);
    if (schema === undefined) return step;
    if (isPhysicalTable(schema)) checkPhysicalChange(schema, step.change);
    const name = physicalTableOf(schema);
    if (name === undefined) return step;
    const physical = this.physicalOf(schema, name);
    checkLogicalChange(schema, step.change, physical.table);
    return { ...step, change: this.changed(schema, step.change, physical) };
  }

  /** What physical tables get: columns that the transaction's labels need, and the engine's own where they are not there yet. */
  additions(): SchemaStep[] {
    const steps: SchemaStep[] = [];
    for (const { database, table, known, labels, histograms } of this.physical.values()) {
      const indexes = labelIndexes(table);
      const columns: NewColumn[] = [];
      if (!known.has(TABLE_ID_COLUMN)) {
        columns.push({ name: TABLE_ID_COLUMN, type: UINT32, semantic: "tag", nullable: true, ...indexes });
        columns.push({ name: SERIES_HASH_COLUMN, type: UINT64, semantic: "tag", nullable: true });
      }
      for (const name of labels) columns.push({ name, type: STRING, semantic: "tag", nullable: true, ...indexes });
      if (histograms !== undefined) columns.push(histograms);
      if (columns.length === 0) continue;
      steps.push({ kind: "alter", database, table: table.name, change: { kind: "add-columns", columns, ifNotExists: true } });
    }
    return steps;
  }

  private createdTable(definition: TableDefinition): TableDefinition {
    checkMetricTable(definition);
    const name = physicalTableOf(definition);
    if (name === undefined) return definition;
    const physical = this.physicalOf(definition, name);
    checkLogicalTable(definition, physical.table);
    for (const column of definition.columns) {
      if (column.semantic === "tag") this.need(physical, column.name);
      else if (holdsHistograms(column)) needHistograms(physical, column.name);
    }
    return { ...definition, columns: definition.columns.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
  }

  private changed(schema: TableSchema, change: SchemaChange, physical: Growing): SchemaChange {
    if (change.kind === "several") return { kind: "several", changes: change.changes.map((one) => this.changed(schema, one, physical)) };
    if (change.kind !== "add-columns") return change;
    const names = schema.columns.map(({ name }) => name);
    const columns = change.columns.map((column) => {
      this.need(physical, column.name);
      const place = column.place ?? placeOf(column.name, names);
      if (!names.includes(column.name)) names.push(column.name);
      return { ...column, place };
    });
    return { ...change, columns };
  }

  private need({ known, labels }: Growing, label: string): void {
    if (known.has(label)) return;
    known.add(label);
    labels.push(label);
  }

  private physicalOf({ database, name }: Pick<TableDefinition, "database" | "name">, physical: string): Growing {
    const key = tableNameKey(database, physical);
    const growing = this.physical.get(key);
    if (growing !== undefined) return growing;
    const table = this.created.get(key) ?? this.schemas.schema(database, physical);
    if (table === undefined || !isPhysicalTable(table)) {
      const what = table === undefined ? "does not exist" : "is no physical table";
      const hint = "create it with ENGINE=metric WITH ('physical_metric_table' = '')";
      throw new DbError(StatusCode.TableNotFound, `cannot make table ${name}: its physical table ${database}.${physical} ${what}; ${hint}`);
    }
    const made: Growing = {
      database,
      table,
      known: new Set(table.columns.map((column) => column.name)),
      labels: [],
      histograms: undefined,
    };
    this.physical.set(key, made);
    return made;
  }
}

/** One column holds the native histograms of all logical tables, whatever it is called there. @throws DbError InvalidArguments */
function needHistograms(physical: Growing, name: string): void {
  const { known, table } = physical;
  if (physical.histograms !== undefined || table.columns.some(holdsHistograms)) return;
  if (known.has(name)) {
    const why = `${table.name}, its physical table, has another column of that name; write it on another physical table`;
    throw invalidArguments(`cannot make a column ${name} of native histograms: ${why}`);
  }
  known.add(name);
  physical.histograms = { name, type: NATIVE_HISTOGRAM, semantic: "field", nullable: true };
}

/** Where a column goes among others, in the order of names. */
function placeOf(name: string, names: readonly string[]): ColumnPlace {
  let before: string | undefined;
  for (const other of names) if (other < name && (before === undefined || other > before)) before = other;
  return before === undefined ? { kind: "first" } : { kind: "after", column: before };
}

/** The index clauses of label columns, from the physical table's options. */
function labelIndexes({ options }: MetricTable): { readonly indexes?: readonly string[] } {
  const type = options["index.type"];
  if (type === "inverted") return { indexes: ["INVERTED INDEX"] };
  if (type !== "skipping") return {};
  const granularity = options["index.granularity"] ?? SKIPPING_GRANULARITY;
  return { indexes: [`SKIPPING INDEX WITH(false_positive_rate = '0.01', granularity = '${granularity}', type = 'BLOOM')`] };
}
