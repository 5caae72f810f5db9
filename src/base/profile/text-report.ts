/** A profile as a table: each function with what was met in it alone, and in it with all that it called. */
import type { Profile } from "./profile.ts";

/** Most rows. Reason: what comes after them is next to nothing. */
const ROWS_MAX = 300;

/** What a profile says of one function. */
interface Total {
  own: number;
  all: number;
  others: number[];
}

/** The table, the most first. */
export function textReport(profile: Profile): string {
  const { title, types, shown, frames, stacks, durationNanos } = profile;
  const totals = frames.map((): Total => ({ own: 0, all: 0, others: types.map(() => 0) }));
  let whole = 0;
  for (const { frames: found, values } of stacks) {
    const value = values[shown] ?? 0;
    whole += value;
    for (const [index, frame] of [...new Set(found)].entries()) {
      const total = totals[frame];
      if (total === undefined) continue;
      total.all += value;
      if (index > 0) continue;
      total.own += value;
      for (const [type, other] of values.entries()) total.others[type] = (total.others[type] ?? 0) + other;
    }
  }
  const order = [...frames.keys()].sort(
    (a, b) => (totals[b]?.own ?? 0) - (totals[a]?.own ?? 0) || (totals[b]?.all ?? 0) - (totals[a]?.all ?? 0),
  );
  const others = types.flatMap((type, index) => (index === shown ? [] : [{ ...type, index }]));
  const unit = `${types[shown]?.type ?? ""} in ${types[shown]?.unit ?? ""}`;
  const lines = [`${title}: ${unit}${durationNanos === 0 ? "" : `, over ${(durationNanos / 1e9).toFixed(1)} s`}, ${whole} in all`];
  lines.push([cell("own"), cell("own %", 7), cell("all"), cell("all %", 7), ...others.map(({ type }) => cell(type)), " what"].join(""));
  for (const position of order.slice(0, ROWS_MAX)) {
    const [frame, total] = [frames[position], totals[position]];
    if (frame === undefined || total === undefined) continue;
    const place = frame.file === "" ? "" : ` ${frame.file}:${frame.line}`;
    const more = others.map(({ index }) => cell(String(total.others[index] ?? 0)));
    const counts = [cell(String(total.own)), share(total.own, whole), cell(String(total.all)), share(total.all, whole), ...more];
    lines.push(`${counts.join("")} ${frame.name}${place}`);
  }
  if (order.length > ROWS_MAX) lines.push(`and ${order.length - ROWS_MAX} more`);
  return `${lines.join("\n")}\n`;
}

function cell(text: string, width = 14): string {
  return text.padStart(width);
}

function share(part: number, whole: number): string {
  return cell(whole === 0 ? "-" : `${((part / whole) * 100).toFixed(1)}%`, 7);
}
