/**
 * The length that a request says its body has. Source: RFC 9110 8.6: decimal digits; a field that was sent several times arrives as a list,
 * which stands for its value if all are equal.
 */
import { wholeNumberOf } from "../../../base/text/whole-number.ts";

/** Entries of a list that are looked at. */
const REPEATS_MAX = 16;

/** The length; undefined without the header; `{ flaw }` says why there is none although there is a header. */
export function contentLengthOf(headers: Headers): number | undefined | { readonly flaw: string } {
  const header = headers.get("content-length");
  if (header === null) return undefined;
  const single = wholeNumberOf(header);
  if (single !== undefined) return single;
  const [first = "", ...others] = header.split(",", REPEATS_MAX + 1).map((entry) => entry.trim());
  if (others.length >= REPEATS_MAX) return { flaw: "it was sent too often" };
  const length = wholeNumberOf(first);
  if (length === undefined) return { flaw: "it is no whole number of bytes" };
  return others.every((entry) => wholeNumberOf(entry) === length) ? length : { flaw: "it was sent with different values" };
}

/** The length of what is known to have a sound one or none, such as a request that was let in; undefined: not said. */
export function soundLengthOf(headers: Headers): number | undefined {
  const length = contentLengthOf(headers);
  return typeof length === "number" ? length : undefined;
}
