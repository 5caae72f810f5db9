/** Figures as people read them. */

/** "1 row", "2 rows". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Milliseconds as people read them: "3.2 ms", "1.25 s". */
export function shownMillis(millis: number): string {
  return millis < 1000 ? `${millis.toFixed(1)} ms` : `${(millis / 1000).toFixed(2)} s`;
}

/** A count of three figures: 950, 12.3k, 4.56M. */
export function shownCount(count: number): string {
  if (count < 1000) return count.toFixed(0);
  const [value, unit] = count < 1e6 ? [count / 1e3, "k"] : count < 1e9 ? [count / 1e6, "M"] : [count / 1e9, "G"];
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)}${unit}`;
}
