/** The value of a frontend's lease: FORMAT.md. */
import { assert } from "../../base/assert.ts";
import { LEASE_VALUE_BYTES_MAX } from "../port/limits.ts";
import type { KnownFrontend } from "./directory.ts";
import { IDENTITY_CHARACTERS_MAX, VERSION_CHARACTERS_MAX } from "./limits.ts";
import { isAddress, isWhole, ValueError, valueFields } from "./value-fields.ts";

/** What a frontend says of itself. */
export type FrontendValue = Omit<KnownFrontend, "id">;

/** Of values that frontends write now; a reader refuses others by name. */
const VERSION = 1;

/** A frontend's value as text, at most `LEASE_VALUE_BYTES_MAX` bytes. */
export function encodeFrontendValue({ address, httpAddress, identity, startedAtMillis, version }: FrontendValue): string {
  assert(isAddress(address), `a frontend's address is a host and a port; got ${address}`);
  assert(isAddress(httpAddress), `a frontend's HTTP address is a host and a port; got ${httpAddress}`);
  const value = JSON.stringify({
    v: VERSION,
    address,
    http: httpAddress,
    identity: identity.slice(0, IDENTITY_CHARACTERS_MAX),
    started: startedAtMillis,
    version: version.slice(0, VERSION_CHARACTERS_MAX),
  });
  assert(Buffer.byteLength(value) <= LEASE_VALUE_BYTES_MAX, `a frontend's value fits into its lease; got ${value.length} characters`);
  return value;
}

/** What a frontend says. @throws ValueError */
export function decodeFrontendValue(text: string): FrontendValue {
  const { address, http, identity, started, version } = valueFields(text, VERSION);
  if (typeof address !== "string" || !isAddress(address)) throw new ValueError("its address is no host and port");
  if (typeof http !== "string" || !isAddress(http)) throw new ValueError("its HTTP address is no host and port");
  if (typeof identity !== "string" || identity.length > IDENTITY_CHARACTERS_MAX) throw new ValueError("its identity is no short text");
  if (!isWhole(started)) throw new ValueError("its start is no time");
  if (typeof version !== "string" || version.length > VERSION_CHARACTERS_MAX) throw new ValueError("its version is no short text");
  return { address, httpAddress: http, identity, startedAtMillis: started, version };
}
