/** Labels of the series of a physical table, which are those of the metrics that it carries. */
import { TABLE_ID_COLUMN } from "../../../table/metric.ts";
import type { SeriesView } from "../../../table/series-view.ts";
import type { Labels } from "../evaluation/series-source.ts";
import type { LabelsBySeries } from "./series-labels.ts";
import { METRIC_NAME } from "./metric-columns.ts";

/** See the file header. Series of other metrics than those that are asked for have none. */
export class CarriedLabels implements LabelsBySeries {
  private readonly view: SeriesView;
  private readonly names: ReadonlyMap<string, string>;
  private readonly wanted: ReadonlySet<string> | undefined;
  /** By the metric's id, where nothing but its name is looked at. */
  private readonly kept: Map<string, Labels> = new Map();

  /**
   * @param names of metrics by the ids of their tables, as texts
   * @param wanted the labels that are looked at; undefined: all
   */
  constructor(view: SeriesView, names: ReadonlyMap<string, string>, wanted: ReadonlySet<string> | undefined) {
    this.view = view;
    this.names = names;
    this.wanted = wanted;
  }

  of(series: number): Labels | undefined {
    const { view, names, wanted, kept } = this;
    const id = view.tagOf(TABLE_ID_COLUMN, series);
    const name = id === undefined ? undefined : names.get(id);
    if (id === undefined || name === undefined) return undefined;
    if (wanted === undefined || wanted.size > 0) return this.made(series, name);
    const known = kept.get(id);
    if (known !== undefined) return known;
    const made: Labels = [[METRIC_NAME, name]];
    kept.set(id, made);
    return made;
  }

  private made(series: number, name: string): Labels {
    const { view, wanted } = this;
    const labels: [string, string][] = [[METRIC_NAME, name]];
    view.eachTagOf?.(series, (column, value) => {
      if (value !== "" && column !== TABLE_ID_COLUMN && column !== METRIC_NAME && wanted?.has(column) !== false)
        labels.push([column, value]);
    });
    return labels.sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
