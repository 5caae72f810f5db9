/** Rows of the measurement of wires: `HOSTS` hosts in turn, a row each a second, five columns. */
import type { ColumnKind, WireValue } from "./wire-link.ts";

const HOSTS = 1000;
const START_MS = Date.UTC(2026, 0, 1);
const STEP_MS = 1000;

/** What each column holds: host, ts, value, total, state. */
export const KINDS: readonly ColumnKind[] = ["text", "time", "double", "long", "int"];

/** The row: no two have the same host and time. */
export function rowAt(i: number): readonly WireValue[] {
  const step = Math.floor(i / HOSTS);
  return [`host_${i % HOSTS}`, START_MS + step * STEP_MS, ((i * 7919) % 1_000_000) / 1000, i * 1_000_003, (i * 31) % 1000];
}

/** A time as `2026-01-01 00:00:00.000`. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace("T", " ").replace("Z", "");
}

/** Rows `[from, to)` as `(…), (…)`. */
export function rowsSql(from: number, to: number): string {
  const texts: string[] = [];
  for (let i = from; i < to; i++) {
    const [host, time, ...numbers] = rowAt(i);
    texts.push(`('${host}','${timeText(Number(time))}',${numbers.join(",")})`);
  }
  return texts.join(",");
}

/** Rows `[from, to)` as lines of fields with tabs between them. */
export function rowsTabbed(from: number, to: number): string {
  const lines: string[] = [];
  for (let i = from; i < to; i++) {
    const [host, time, ...numbers] = rowAt(i);
    lines.push(`${host}\t${timeText(Number(time))}\t${numbers.join("\t")}\n`);
  }
  return lines.join("");
}
