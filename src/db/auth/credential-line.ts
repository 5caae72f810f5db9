/** The line grammar of accounts: `<name>[:<mode>]=<verifier>`, with exactly one `=`. Source: contract http.md 5.2. */
import type { AccessMode } from "./user.ts";
import { parseVerifier, type Verifier } from "./verifier.ts";

/** Who may log in, what they may do, and what their password is held against. */
export interface Account {
  readonly name: string;
  readonly mode: AccessMode;
  readonly verifier: Verifier;
}

const MODES: ReadonlyMap<string, AccessMode> = new Map<string, AccessMode>([
  ["rw", "rw"],
  ["readwrite", "rw"],
  ["read_write", "rw"],
  ["ro", "ro"],
  ["readonly", "ro"],
  ["read_only", "ro"],
  ["wo", "wo"],
  ["writeonly", "wo"],
  ["write_only", "wo"],
]);

/** Reads a line; undefined when it is malformed. Blanks count; an empty name or password is read although it can never log in. */
export function parseCredentialLine(line: string): Account | undefined {
  const [left, right, ...more] = line.split("=");
  if (left === undefined || right === undefined || more.length > 0) return undefined;
  const colon = left.indexOf(":");
  const mode = colon < 0 ? "rw" : MODES.get(left.slice(colon + 1).toLowerCase());
  const verifier = parseVerifier(right);
  if (mode === undefined || verifier === undefined) return undefined;
  return { name: colon < 0 ? left : left.slice(0, colon), mode, verifier };
}
