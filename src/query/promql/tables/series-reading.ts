/**
 * What is scanned for a selector: its tables, each on its own, or many metrics of one physical table at once.
 *
 *   {__name__="x"}      the table x
 *   {__name__=~".+"}    the physical table, whose series say which metric they are of
 *
 * A scan of one metric opens its part of each file's series index. For a large share of the metrics all of the index is cheaper: counting
 * 102,300 series of 1,003 metrics took 4.9 to 9.5 s metric by metric.
 */
import type { Catalog, Table } from "../../../table/catalog.ts";
import { physicalTableOf, TABLE_ID_COLUMN } from "../../../table/metric.ts";
import type { TagPredicate } from "../../../table/scan.ts";
import type { ColumnSchema, TableSchema } from "../../../table/schema.ts";
import { CarriedLabels } from "./carried-labels.ts";
import { type LabelsBySeries, SeriesLabels } from "./series-labels.ts";
import type { TableSelection } from "./table-selection.ts";

/** Fewer metrics are read one by one. */
const CARRIED_MIN = 8;
/** A smaller share of the metrics of a physical table, one in so many, is read one by one. */
const CARRIED_SHARE = 4;

/** One scan. */
export interface SeriesReading {
  readonly table: Table;
  readonly column: ColumnSchema;
  readonly predicates: readonly TagPredicate[];
  /** By the numbers of the table's series as they are when this is made. */
  readonly labels: LabelsBySeries;
  readonly numbers: Table["series"];
  /** All labels, whichever are looked at; undefined: this reading has no others. */
  readonly allLabels: () => LabelsBySeries | undefined;
  /** The tags that are looked at; undefined: all. */
  readonly wanted: ReadonlySet<string> | undefined;
}

/**
 * The scans of a selector. They are made when they are asked for, since each looks at its table's series.
 *
 * @param labels see `SelectorRead`
 */
export function* readingsOf(
  selections: readonly TableSelection[],
  catalog: Catalog,
  labels: ReadonlySet<string> | undefined,
): Generator<SeriesReading> {
  const groups = groupedByCarrier(selections, catalog);
  for (const [carrier, group] of groups) yield* carriedReading(carrier, group, labels);
  const carried = new Set([...groups.values()].flat());
  for (const selection of selections) {
    if (carried.has(selection)) continue;
    const { table, columns, showsField, predicates } = selection;
    for (const column of columns) {
      const numbers = table.series;
      const field = showsField ? column.name : undefined;
      const allLabels = (): LabelsBySeries => new SeriesLabels(table.schema, numbers, field);
      yield {
        table,
        column,
        predicates,
        labels: new SeriesLabels(table.schema, numbers, field, labels),
        numbers,
        allLabels,
        wanted: labels,
      };
    }
  }
}

/** Metrics that are worth one scan of the physical table that carries them. */
function groupedByCarrier(selections: readonly TableSelection[], catalog: Catalog): ReadonlyMap<Table, readonly TableSelection[]> {
  const groups = new Map<Table, TableSelection[]>();
  if (selections.length < CARRIED_MIN) return groups;
  for (const selection of selections) {
    const carrier = carrierOf(selection, catalog);
    if (carrier === undefined) continue;
    const group = groups.get(carrier);
    if (group === undefined) groups.set(carrier, [selection]);
    else group.push(selection);
  }
  for (const [carrier, group] of groups) {
    const { database, name } = carrier.schema;
    const metrics = catalog.tables(database).filter(({ schema }) => physicalTableOf(schema) === name);
    if (group.length < CARRIED_MIN || group.length * CARRIED_SHARE < metrics.length) groups.delete(carrier);
  }
  return groups;
}

/** The physical table that has the rows of a metric as the metric has them; undefined: there is none. */
function carrierOf({ table: { schema }, columns, showsField }: TableSelection, catalog: Catalog): Table | undefined {
  const name = physicalTableOf(schema);
  const carrier = name === undefined ? undefined : catalog.table(schema.database, name);
  if (carrier === undefined || showsField || carrier.series.eachTagOf === undefined) return undefined;
  // Rows of a metric may live shorter than those of others.
  if (schema.options["ttl"] !== carrier.schema.options["ttl"]) return undefined;
  return columns[0] === undefined || fieldOf(carrier.schema, columns[0]) === undefined ? undefined : carrier;
}

/** The column that has the values of a metric's column. */
function fieldOf({ columns }: TableSchema, { type }: ColumnSchema): ColumnSchema | undefined {
  return type.kind === "float" ? columns.find((column) => column.semantic === "field" && column.type.kind === "float") : undefined;
}

function* carriedReading(
  table: Table,
  group: readonly TableSelection[],
  labels: ReadonlySet<string> | undefined,
): Generator<SeriesReading> {
  const column = group[0]?.columns[0] === undefined ? undefined : fieldOf(table.schema, group[0].columns[0]);
  if (column === undefined) return;
  const names = new Map(group.map(({ table: { schema } }) => [String(schema.id), schema.name]));
  const numbers = table.series;
  // A metric without a label that another has is asked for it as "", which it was found to meet.
  const predicates: TagPredicate[] = [...new Set(group.flatMap((selection) => selection.predicates))];
  predicates.push({ kind: "in", column: TABLE_ID_COLUMN, values: [...names.keys()] });
  yield {
    table,
    column,
    predicates,
    labels: new CarriedLabels(numbers, names, labels),
    numbers,
    allLabels: () => undefined,
    wanted: labels,
  };
}
