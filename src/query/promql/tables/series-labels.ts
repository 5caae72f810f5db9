/** Labels of a table's series, sorted by name. */
import type { SeriesView } from "../../../table/series-view.ts";
import type { Labels } from "../evaluation/series-source.ts";
import { labelColumnsOf, METRIC_NAME } from "./metric-columns.ts";
import { FIELD_LABEL, type TableSelection } from "./table-selection.ts";

type Slot = { readonly name: string; readonly value: string | undefined };

/** Labels of series by number. */
export class SeriesLabels {
  /** In the order of their names; those without a value are tags. */
  private readonly slots: readonly Slot[];
  private readonly view: SeriesView;

  /** @param field the column of the samples; undefined: labels do not say it */
  constructor({ table }: Pick<TableSelection, "table">, view: SeriesView, field: string | undefined) {
    const { schema } = table;
    const slots: Slot[] = labelColumnsOf(schema).map((name) => ({ name, value: undefined }));
    slots.push({ name: METRIC_NAME, value: schema.name });
    if (field !== undefined) slots.push({ name: FIELD_LABEL, value: field });
    this.slots = slots.sort((a, b) => (a.name < b.name ? -1 : 1));
    this.view = view;
  }

  /** Without those that are NULL or empty. */
  of(series: number): Labels {
    const labels: [string, string][] = [];
    for (const { name, value } of this.slots) {
      const text = value ?? this.view.tagOf(name, series);
      if (text !== undefined && text !== "") labels.push([name, text]);
    }
    return labels;
  }
}
