/** Internet addresses of 4 or 16 bytes, in network order: as text, and their prefixes. RFC 5952. */

/** A network: the bytes of an address and how many leading bits count. */
export interface Network {
  readonly address: Uint8Array;
  readonly prefix: number;
}

/** An address as text: the longest run of zero groups is `::`, of equal ones the first; addresses of IPv4 inside end dotted. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return `::ffff:${bytes.slice(12).join(".")}`;
  let [best, bestLength] = [-1, 1];
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && groups[end] === 0) end++;
    if (end - i > bestLength) [best, bestLength] = [i, end - i];
  }
  const hex = groups.map((group) => group.toString(16));
  return best < 0 ? hex.join(":") : `${hex.slice(0, best).join(":")}::${hex.slice(best + bestLength).join(":")}`;
}

/** An address of which only the first `prefix` bits are left. */
export function maskedAddress(bytes: Uint8Array, prefix: number): Uint8Array {
  return bytes.map((byte, i) => byte & (0xff << Math.min(Math.max(8 * (i + 1) - prefix, 0), 8)));
}

/** Whether an address lies in a network of the same kind. */
export function liesInNetwork(address: Uint8Array, network: Network): boolean {
  const [a, b] = [maskedAddress(address, network.prefix), maskedAddress(network.address, network.prefix)];
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** The prefix that an IPv4 address suggests: all but its trailing zero bytes. */
export function suggestedPrefix4(bytes: Uint8Array): number {
  let length = 4;
  while (length > 0 && bytes[length - 1] === 0) length--;
  return length * 8;
}

/** The prefix that an IPv6 address suggests: 32 for documentation (2001:db8), 16 for link-local, else all but its trailing zeros. */
export function suggestedPrefix6(bytes: Uint8Array): number {
  const start = bytes.slice(0, 4).toHex();
  if (start === "20010db8") return 32;
  if (start === "fe800000") return 16;
  let length = 16;
  while (length > 0 && bytes[length - 1] === 0) length--;
  return length * 8;
}
