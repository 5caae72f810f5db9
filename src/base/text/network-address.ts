/**
 * What an IP address reaches. Source: the special-purpose address registries of IANA (RFC 6890), and the addresses at which clouds give
 * machines their credentials.
 *
 * An IPv6 address that carries an IPv4 one (mapped, translated, 6to4) reaches what that one reaches.
 */
import { BlockList, isIP } from "node:net";
import { ipv6Bytes } from "./ip-bytes.ts";

/** "local": this machine, its link, many at once, or a cloud's own services; "private": the networks behind it; "public": all else. */
export type Reach = "local" | "private" | "public";

const LOOPBACK: BlockList = blocks(["127.0.0.0/8"], ["::1/128"]);

const LOCAL: BlockList = blocks(
  [
    "0.0.0.0/8",
    "127.0.0.0/8",
    "169.254.0.0/16", // link-local; metadata of most clouds
    "192.0.0.0/24", // protocol assignments; metadata of Oracle's cloud
    "168.63.129.16/32", // services of Azure
    "100.100.100.200/32", // metadata of Alibaba's cloud
    "224.0.0.0/3", // multicast, reserved, broadcast
  ],
  ["::/128", "::1/128", "fe80::/10", "fec0::/10", "ff00::/8", "fd00:ec2::/32", "2001::/32", "100::/64"],
);

const PRIVATE: BlockList = blocks(
  ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15"],
  ["fc00::/7", "64:ff9b:1::/48"],
);

/** What an address reaches; `address` is an IP address without brackets. */
export function reachOf(address: string): Reach {
  const plain = embedded(address) ?? address;
  const family = isIP(plain) === 6 ? "ipv6" : "ipv4";
  if (LOCAL.check(plain, family)) return "local";
  return PRIVATE.check(plain, family) ? "private" : "public";
}

/** Whether an address is this machine's own and nobody else's. */
export function isLoopback(address: string): boolean {
  const plain = embedded(address) ?? address;
  return isIP(plain) !== 0 && LOOPBACK.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
}

/** The IPv4 address that an IPv6 one carries. */
function embedded(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined;
  const bytes = ipv6Bytes(address.replace(/%.*$/, ""));
  if (bytes === undefined) return undefined;
  const at = (word: number): number => ((bytes[2 * word] ?? 0) << 8) | (bytes[2 * word + 1] ?? 0);
  const isZero = (from: number, to: number): boolean => bytes.subarray(2 * from, 2 * to).every((byte) => byte === 0);
  // ::ffff:a.b.c.d, ::a.b.c.d (not :: and ::1), 64:ff9b::a.b.c.d; then 2002:abcd::
  const mapped = isZero(0, 5) && (at(5) === 0xffff || (at(5) === 0 && (at(6) !== 0 || at(7) > 1)));
  const translated = at(0) === 0x64 && at(1) === 0xff9b && isZero(2, 6);
  if (mapped || translated) return dotted(at(6), at(7));
  return at(0) === 0x2002 ? dotted(at(1), at(2)) : undefined;
}

const dotted = (high: number, low: number): string => `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;

function blocks(four: readonly string[], six: readonly string[]): BlockList {
  const list = new BlockList();
  const add = (block: string, family: "ipv4" | "ipv6"): void => {
    const [network = "", bits] = block.split("/");
    list.addSubnet(network, Number(bits), family);
  };
  for (const block of four) add(block, "ipv4");
  for (const block of six) add(block, "ipv6");
  return list;
}
