/** One source of settings: what a file, the environment or the command line says, before it is checked. */
import type { Parsed } from "../base/text/parsed.ts";
import type { Kind } from "./kind.ts";
import { meantKey, type Role } from "./role.ts";

/** A raw value and where it is from. */
export interface RawSetting {
  /** For messages: "varve.toml", "VARVE__HTTP__ADDR" or "--http-addr". */
  readonly source: string;
  /** How the value is to be read. */
  readonly form: "toml" | "text";
  readonly value: unknown;
}

/** Raw values by key, and what the source said in vain, one line each. */
export interface Layer {
  readonly values: ReadonlyMap<string, RawSetting>;
  readonly warnings: readonly string[];
}

/** Reads a raw value as its form demands. */
export function readRaw<T>(kind: Kind<T>, raw: RawSetting): Parsed<T> {
  return raw.form === "text" ? kind.fromText(String(raw.value)) : kind.fromToml(raw.value);
}

/** Keeps what a source says of a key. One that means another of ours for the role stands in where the source does not say that one. */
export function keepRaw(values: Map<string, RawSetting>, key: string, raw: RawSetting, role: Role): void {
  const meant = meantKey(role, key);
  if (meant === undefined) values.set(key, raw);
  else if (!values.has(meant)) values.set(meant, { ...raw, source: `${raw.source} (\`${key}\`)` });
}
