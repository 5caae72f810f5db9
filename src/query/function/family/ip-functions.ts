/** Functions on internet addresses (contract query.md 2.5). */
import { ipv4Bytes, ipv6Bytes } from "../../../base/text/ip-bytes.ts";
import { BINARY, BOOLEAN, STRING, UINT32 } from "../../../column/data-type.ts";
import { alias, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { typed } from "../signature/signature.ts";
import { addressText, liesInNetwork, maskedAddress, type Network, suggestedPrefix4, suggestedPrefix6 } from "../text/ip-address.ts";
import { type Present, textOf, type Value } from "../value/value.ts";
import { executionError } from "../value/execution-error.ts";

/** What the two versions of the protocol differ in. */
interface Version {
  readonly name: string;
  readonly bits: number;
  readonly read: (text: string) => Uint8Array | undefined;
  /** A shortened address of `…_to_cidr` in full: `192.168` is `192.168.0.0`. */
  readonly completed: (text: string) => string;
  readonly suggested: (bytes: Uint8Array) => number;
}

const V4: Version = {
  name: "IPv4",
  bits: 32,
  read: ipv4Bytes,
  completed: (text) => {
    const parts = text.split(".");
    return [...parts, ...Array.from({ length: Math.max(4 - parts.length, 0) }, () => "0")].join(".");
  },
  suggested: suggestedPrefix4,
};
const V6: Version = {
  name: "IPv6",
  bits: 128,
  read: ipv6Bytes,
  completed: (text) => (text.includes("::") || text.split(":").length >= 8 || text.includes(".") ? text : `${text}::`),
  suggested: suggestedPrefix6,
};

function addressOf(text: string, version: Version): Uint8Array {
  const bytes = version.read(text.trim());
  if (bytes === undefined) throw executionError(`Invalid ${version.name} address: ${text.slice(0, 80)}`);
  return bytes;
}

function networkOf(text: string, version: Version): Network {
  const [address = "", prefix, ...rest] = text.trim().split("/");
  const bits = Number(prefix);
  if (prefix === undefined || rest.length > 0 || !/^\d{1,3}$/.test(prefix) || bits > version.bits) {
    throw executionError(
      `Invalid CIDR notation '${text.slice(0, 80)}': write an address and a prefix of 0 to ${version.bits} bits, address/prefix`,
    );
  }
  return { address: addressOf(address, version), prefix: bits };
}

/** `ipv…_to_cidr(address[, prefix])`. */
function toCidr([text, mask]: readonly Present[], version: Version): string {
  const written = textOf(text).trim();
  const address = addressOf(version.read(written) === undefined ? version.completed(written) : written, version);
  const prefix = mask === undefined ? version.suggested(address) : Number(mask);
  if (prefix < 0 || prefix > version.bits) throw executionError(`Subnet mask must be between 0 and ${version.bits}, got ${prefix}`);
  return `${addressText(maskedAddress(address, prefix))}/${prefix}`;
}

function numberText(value: Present): string {
  const number = Number(value);
  if (number < 0 || number > 0xffff_ffff) throw executionError(`${textOf(value)} is no IPv4 address: it must be 0..4294967295`);
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join(".");
}

/** Hexadecimal text of 32 digits or 16 bytes. */
function bytesText(value: Present): Value {
  if (value instanceof Uint8Array && value.length === 16) return addressText(value);
  const hex = value instanceof Uint8Array ? new TextDecoder().decode(value) : textOf(value).trim();
  if (!/^[0-9a-fA-F]{32}$/.test(hex)) throw executionError(`'${hex.slice(0, 80)}' is no IPv6 address: give 32 hexadecimal digits`);
  return addressText(Uint8Array.fromHex(hex));
}

function numberOf(text: string): number {
  const [a = 0, b = 0, c = 0, d = 0] = addressOf(text, V4);
  return a * 2 ** 24 + b * 65_536 + c * 256 + d;
}

const toNumber = strict("ipv4_string_to_num(text)", typed(["text"], UINT32), ([text]) => numberOf(textOf(text)));
const toText = strict("ipv4_num_to_string(number)", typed(["integer"], STRING), ([number]) => numberText(number as Present));
const inRange = (name: string, version: Version): ScalarFunction =>
  strict(`${name}(address, network)`, typed(["text", "text"], BOOLEAN), ([address, network]) =>
    liesInNetwork(addressOf(textOf(address), version), networkOf(textOf(network), version)),
  );

/** The functions of this file. */
export const IP_FUNCTIONS: readonly ScalarFunction[] = [
  toNumber,
  alias("inet_aton", toNumber),
  toText,
  alias("inet_ntoa", toText),
  strict("ipv4_to_cidr(address[, prefix])", typed(["text", "integer"], STRING, 1), (args) => toCidr(args, V4)),
  inRange("ipv4_in_range", V4),
  strict(
    "ipv6_num_to_string(hexadecimal)",
    (args) => (args.length === 1 && ["string", "binary", "null"].includes(args[0]?.kind ?? "") ? { args, result: STRING } : undefined),
    ([value]) => bytesText(value as Present),
  ),
  strict("ipv6_string_to_num(text)", typed(["text"], BINARY), ([text]) => addressOf(textOf(text), V6)),
  strict("ipv6_to_cidr(address[, prefix])", typed(["text", "integer"], STRING, 1), (args) => toCidr(args, V6)),
  inRange("ipv6_in_range", V6),
];
