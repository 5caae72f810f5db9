/**
 * Sets of labels: sorted pairs, never changed.
 */
import type { Labels } from "./series-source.ts";

/** The label that holds a metric's name. */
export const METRIC_NAME = "__name__";

/** "" when there is none. */
export function labelValue(labels: Labels, name: string): string {
  for (const [key, value] of labels) if (key === name) return value;
  return "";
}

/** Equal for equal sets alone. */
export function labelsKey(labels: Labels): string {
  let key = "";
  for (const [name, value] of labels) key += `${name.length}:${name}${value.length}:${value}`;
  return key;
}

/** Those of the names. */
export function onlyLabels(labels: Labels, names: ReadonlySet<string>): Labels {
  return labels.filter(([name]) => names.has(name));
}

/** Those of other names. */
export function withoutLabels(labels: Labels, names: ReadonlySet<string>): Labels {
  let others: Labels[number][] | undefined;
  for (let at = 0; at < labels.length; at++) {
    const label = labels[at] as Labels[number];
    if (names.has(label[0])) others ??= labels.slice(0, at);
    else others?.push(label);
  }
  return others ?? labels;
}

/** What tells which metric it is: what a computation makes is another one. */
const OF_METRIC: ReadonlySet<string> = new Set([METRIC_NAME, "__type__", "__unit__"]);

/** Without the metric's name, type and unit. */
export function withoutName(labels: Labels): Labels {
  return withoutLabels(labels, OF_METRIC);
}

/** With one label set; "" takes it away. */
export function withLabel(labels: Labels, name: string, value: string): Labels {
  const others = labels.filter(([key]) => key !== name);
  if (value === "") return others;
  const at = others.findIndex(([key]) => key > name);
  others.splice(at < 0 ? others.length : at, 0, [name, value]);
  return others;
}

/** By names, then values; what stands earlier counts more. */
export function compareLabels(a: Labels, b: Labels): number {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at++) {
    const [nameA = "", valueA = ""] = a[at] ?? [];
    const [nameB = "", valueB = ""] = b[at] ?? [];
    if (nameA !== nameB) return nameA < nameB ? -1 : 1;
    if (valueA !== valueB) return valueA < valueB ? -1 : 1;
  }
  return a.length - b.length;
}

/** `{a="b", c="d"}`, as errors show it. */
export function labelsText(labels: Labels): string {
  return `{${labels.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(", ")}}`;
}
