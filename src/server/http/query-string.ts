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

/** Most pairs of a form or query. Reason: a body of 64 MiB may have sixteen million. */
const PAIRS_MAX = 1000;

/** A form or query as a map; or the name of a known parameter that occurs twice, or that there are too many. */
export function uniquePairs(
  text: string,
  known: ReadonlySet<string>,
): ReadonlyMap<string, string> | { readonly duplicate: string } | { readonly tooMany: number } {
  const pairs = new Map<string, string>();
  let count = 0;
  for (let from = 0; from < text.length; ) {
    const found = text.indexOf("&", from);
    const to = found < 0 ? text.length : found;
    if (to > from && ++count > PAIRS_MAX) return { tooMany: PAIRS_MAX };
    const equals = text.indexOf("=", from);
    const nameEnd = equals < 0 || equals > to ? to : equals;
    const name = decoded(text.slice(from, nameEnd));
    if (to > from && known.has(name)) {
      if (pairs.has(name)) return { duplicate: name };
      pairs.set(name, decoded(text.slice(Math.min(nameEnd + 1, to), to)));
    }
    from = to + 1;
  }
  return pairs;
}

/** One name or value. Most names and many values need no decoding. */
function decoded(text: string): string {
  return /[%+]/.test(text) ? (new URLSearchParams(`v=${text}`).get("v") ?? "") : text;
}
