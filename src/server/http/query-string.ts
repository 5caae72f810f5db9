/**
 * Query strings and forms. Most requests carry two or three short pairs, so single values are found without building a map.
 */

/** Value of the first pair of that name that is not empty, not percent-decoded; undefined when there is none. */
export function rawValueOf(rawQuery: string, name: string): string | undefined {
  if (rawQuery === "") return undefined;
  const prefix = `${name}=`;
  for (const pair of rawQuery.split("&")) {
    if (pair.length > prefix.length && pair.startsWith(prefix)) return pair.slice(prefix.length);
  }
  return undefined;
}

/** Decoded value of the last pair of that name, possibly empty; undefined when there is none. */
export function decodedValueOf(rawQuery: string, name: string): string | undefined {
  if (!rawQuery.includes(name)) return undefined;
  return new URLSearchParams(rawQuery).getAll(name).at(-1);
}

/** A form or query as a map, or the name of a known parameter that occurs twice. */
export function uniquePairs(text: string, known: ReadonlySet<string>): ReadonlyMap<string, string> | { readonly duplicate: string } {
  const pairs = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (!known.has(name)) continue;
    if (pairs.has(name)) return { duplicate: name };
    pairs.set(name, value);
  }
  return pairs;
}
