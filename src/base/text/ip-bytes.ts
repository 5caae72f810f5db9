/** Internet addresses as bytes in network order; what is one and what is not, the runtime says. RFC 4291. */
import { isIPv4, isIPv6 } from "node:net";

/** The 4 bytes of `192.168.0.1`, or undefined. Leading zeros are refused, since some read them as octal. */
export function ipv4Bytes(text: string): Uint8Array | undefined {
  return isIPv4(text) ? Uint8Array.from(text.split("."), Number) : undefined;
}

/** The 16 bytes of `2001:db8::1` or `::ffff:192.168.0.1`, or undefined, as for an address with a zone (`fe80::1%eth0`). */
export function ipv6Bytes(text: string): Uint8Array | undefined {
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const dottedAt = text.includes(".") ? text.lastIndexOf(":") + 1 : text.length;
  const [head = "", tail] = text.slice(0, dottedAt).split("::");
  const bytes = new Uint8Array(16);
  bytes.set(wordBytes(head));
  const last = [...wordBytes(tail ?? ""), ...(ipv4Bytes(text.slice(dottedAt)) ?? [])];
  bytes.set(last, 16 - last.length);
  return bytes;
}

/** The bytes of words with colons between them, and perhaps behind them. */
function wordBytes(words: string): readonly number[] {
  return words.split(":").flatMap((word) => {
    if (word === "") return [];
    const value = Number.parseInt(word, 16);
    return [value >> 8, value & 255];
  });
}
