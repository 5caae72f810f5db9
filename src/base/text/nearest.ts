/** Longest name that is compared; longer ones have no neighbour. Reason: the work is quadratic. */
const NAME_CHARACTERS_MAX = 100;

/**
 * The name in `known` that `wrong` was probably meant to be, or undefined when none is close.
 * Distance counts inserted, deleted, replaced and swapped neighbouring characters; up to a third of the longer name, at least 2, is close.
 * Source: optimal string alignment (Damerau 1964).
 */
export function nearestName(wrong: string, known: Iterable<string>): string | undefined {
  if (wrong.length > NAME_CHARACTERS_MAX) return undefined;
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of known) {
    if (name.length > NAME_CHARACTERS_MAX) continue;
    const distance = editDistance(wrong.toLowerCase(), name.toLowerCase());
    const allowed = Math.min(Math.max(2, Math.floor(Math.max(name.length, wrong.length) / 3)), name.length - 1);
    if (distance <= allowed && distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + changed);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, at(beforeLast, j - 2) + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

/** A cell of a row; outside the row the distance is without bound. */
function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
