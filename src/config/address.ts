import { isIP } from "node:net";
import { type Parsed, parsed, refused } from "../base/text/parsed.ts";
import { type Kind, tomlString } from "./kind.ts";

/** Where a listener binds. */
export interface Address {
  /** An IP address, without brackets. */
  readonly host: string;
  /** 0..65535; 0 lets the system choose. */
  readonly port: number;
}

/** Reads `127.0.0.1:4000` or `[::1]:4000`; host names are refused (contract http.md 1.1). */
function parseAddress(text: string): Parsed<Address> {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const [, six, four, digits] = match ?? [];
  const host = six ?? four;
  const port = Number(digits);
  const isAddress = host !== undefined && isIP(host) === (six === undefined ? 4 : 6) && port <= 65_535;
  return isAddress ? parsed({ host, port }) : refused(`Failed to parse address ${text}`);
}

/** Prints an address so that `parseAddress` reads it back. */
function printAddress(address: Address): string {
  return isIP(address.host) === 6 ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

/** An address in the configuration. */
export const address: Kind<Address> = {
  want: 'an IP address and a port such as "127.0.0.1:4000" (no host names)',
  fromToml: (value) => (typeof value === "string" ? parseAddress(value) : refused("it is not a string")),
  fromText: parseAddress,
  toToml: (value) => tomlString(printAddress(value)),
};
