/** Numbers, bytes, times and spans of time as people read them. */

const UNITS: readonly string[] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Bytes with a unit: 1,536 is "1.5 KiB". */
export function bytesText(bytes: number): string {
  if (!Number.isFinite(bytes)) return "–";
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}

/** A count with a letter: 1,234,567 is "1.23M". */
export function countText(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  for (const [least, letter] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e4, "k"],
  ] as const) {
    if (size >= least) return `${(value / (letter === "k" ? 1e3 : least)).toPrecision(3)}${letter}`;
  }
  return size === 0 || size >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** A span of time in milliseconds: 0.0123 is "12.3 µs", 83,000 is "1m 23s". */
export function millisText(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  if (ms < 0.001) return `${Math.round(ms * 1e6)} ns`;
  if (ms < 1) return `${Number((ms * 1e3).toPrecision(3))} µs`;
  if (ms < 1000) return `${Number(ms.toPrecision(3))} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toPrecision(3))} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m`;
  return `${Math.floor(seconds / 86_400)}d ${Math.floor((seconds % 86_400) / 3600)}h`;
}

/** Which clock times are shown by. */
export type Zone = "UTC" | "local";

/** A moment, `digits` (0, 3, 6, 9) of its second: "2024-01-31 12:00:00.000". @param fraction what is below a millisecond, as digits */
export function timeText(ms: number, digits: number, fraction: string, zone: Zone): string {
  const date = new Date(zone === "UTC" ? ms : ms - new Date(ms).getTimezoneOffset() * 60_000);
  if (Number.isNaN(date.getTime())) return `${ms} ms`;
  const text = date.toISOString().replace("T", " ").replace("Z", "");
  if (digits === 0) return text.slice(0, -4);
  return digits === 3 ? text : text + fraction;
}

/** What an `<input type="datetime-local">` takes for a moment. */
export function inputTime(ms: number, zone: Zone): string {
  return timeText(ms, 0, "", zone).replace(" ", "T");
}

/** The moment an `<input type="datetime-local">` says; undefined: none. */
export function momentOf(text: string, zone: Zone): number | undefined {
  const ms = Date.parse(zone === "UTC" ? `${text}Z` : text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Milliseconds of "15m", "1h", "7d", "30s"; undefined: not that. */
export function spanMillis(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(text.trim());
  if (match === null) return undefined;
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }[match[2] ?? "s"] ?? 1000;
  return Number(match[1]) * unit;
}
