/** Labels of a table's series, sorted by name. */
import type { SeriesView } from "../../../table/series-view.ts";
import type { TableSchema } from "../../../table/schema.ts";
import type { Labels } from "../evaluation/series-source.ts";
import { labelColumnsOf, METRIC_NAME } from "./metric-columns.ts";
import { FIELD_LABEL } from "./table-selection.ts";

/** Labels of series by number; undefined: a series that is none of those asked for. */
export interface LabelsBySeries {
  of(series: number): Labels | undefined;
}

type Slot = { readonly name: string; readonly value: string | undefined };

/** Label sets by the code of the only tag that is looked at; beyond so many they are made for each series. */
const KEPT_MAX = 65_536;

/** Labels of the series of one metric. */
export class SeriesLabels implements LabelsBySeries {
  /** In the order of their names; those without a value are tags. */
  private readonly slots: readonly Slot[];
  private readonly view: SeriesView;
  /** The only tag, whose codes tell label sets apart; "" where there is none. */
  private readonly onlyTag: string | undefined;
  private readonly kept: Labels[] = [];

  /**
   * @param field the column of the samples; undefined: labels do not say it
   * @param wanted the tags that are looked at; undefined: all
   */
  constructor(schema: TableSchema, view: SeriesView, field: string | undefined, wanted?: ReadonlySet<string>) {
    const tags = labelColumnsOf(schema).filter((name) => wanted?.has(name) !== false);
    const slots: Slot[] = tags.map((name) => ({ name, value: undefined }));
    slots.push({ name: METRIC_NAME, value: schema.name });
    if (field !== undefined) slots.push({ name: FIELD_LABEL, value: field });
    this.slots = slots.sort((a, b) => (a.name < b.name ? -1 : 1));
    this.view = view;
    this.onlyTag = tags.length > 1 ? undefined : (tags[0] ?? "");
  }

  /** Without those that are NULL or empty. */
  of(series: number): Labels {
    const { onlyTag, kept, view } = this;
    if (onlyTag === undefined) return this.made(series);
    const code = onlyTag === "" ? 0 : (view.codesOf(onlyTag)[series] as number);
    if (code >= KEPT_MAX) return this.made(series);
    for (let next = kept.length; next <= code; next++) kept.push(NONE);
    const known = kept[code];
    if (known !== undefined && known !== NONE) return known;
    const made = this.made(series);
    kept[code] = made;
    return made;
  }

  private made(series: number): Labels {
    const labels: [string, string][] = [];
    for (const { name, value } of this.slots) {
      const text = value ?? this.view.tagOf(name, series);
      if (text !== undefined && text !== "") labels.push([name, text]);
    }
    return labels;
  }
}

/** Stands for labels that are not made yet. */
const NONE: Labels = [];
