/**
 * The tables that points go to, each with the labels that resource and scope give them. A target's number stays from request to request,
 * found by the text of all that makes it.
 */
import type { Labels } from "./labels.ts";
import type { Metric } from "./metric.ts";
import type { Strategy } from "./names.ts";

/** See the file header. */
export interface Target {
  readonly id: number;
  readonly table: string;
  readonly labels: Labels;
  readonly strategy: Strategy;
  /** Label of a bucket's bound or of a quantile. */
  readonly extra: string | undefined;
  /** Options of the table if it is made. */
  readonly options: Readonly<Record<string, string>>;
  /** Request that used it last. */
  request: number;
}

/** What of a table a metric decides. */
export interface TargetParts {
  readonly metric: Metric;
  /** The table without its suffix. */
  readonly table: string;
  readonly suffix: "" | "_bucket" | "_sum" | "_count";
  readonly type: "gauge" | "counter" | "updown_counter" | "histogram" | "summary";
  readonly extra?: string;
}

/** All targets of a decoder. */
export class Targets {
  count = 0;
  private byKey: Map<string, Target> = new Map();

  /** The target of a metric under a scope; `scopeKey` tells apart all that decides labels and names. */
  of(parts: TargetParts, scopeKey: string, labels: Labels, strategy: Strategy): Target {
    const { metric, suffix, type, extra } = parts;
    const table = parts.table + suffix;
    const temporality = temporalityOf(metric);
    const key = `${scopeKey}\0${metric.name}\0${metric.unit}\0${type}\0${temporality}\0${table}`;
    let target = this.byKey.get(key);
    if (target === undefined) {
      target = { id: this.count++, table, labels, strategy, extra, options: semanticsOf(parts, table, temporality), request: 0 };
      this.byKey.set(key, target);
    }
    return target;
  }

  /** Forgets all targets. */
  clear(): void {
    this.byKey = new Map();
    this.count = 0;
  }
}

function temporalityOf({ kind, temporality }: Metric): string {
  if (kind !== "sum" && kind !== "histogram") return "";
  return temporality === 1 ? "delta" : temporality === 2 ? "cumulative" : "";
}

function semanticsOf({ metric: { name, unit }, type }: TargetParts, table: string, temporality: string): Readonly<Record<string, string>> {
  return {
    "greptime.semantic.metric.type": type,
    ...(temporality === "" ? {} : { "greptime.semantic.metric.temporality": temporality }),
    ...(unit === "" ? {} : { "greptime.semantic.metric.unit": unit }),
    ...(table === name ? {} : { "greptime.semantic.metric.original_name": name }),
  };
}
