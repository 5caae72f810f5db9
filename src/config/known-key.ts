/** What is known about a key that some source set. */
import { nearestName } from "../base/text/nearest.ts";
import { ConfigError } from "./config-error.ts";
import { INERT_KEYS, inertKeyOf, isNeutral } from "./inert-keys.ts";
import { ALL_KNOBS, KNOB_OF_KEY } from "./knobs.ts";
import { meantKey, type Role, whyUnused } from "./role.ts";

const KEYS: readonly string[] = [...ALL_KNOBS.map((knob) => knob.key), ...INERT_KEYS];

/** Every table: "http", "grpc", "grpc.tls". */
const SECTIONS: ReadonlySet<string> = new Set(
  KEYS.flatMap((key) => {
    const parts = key.split(".");
    return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("."));
  }),
);

/** What to do with a key. */
export type KeyClass = "knob" | "inert" | "section" | "unknown";

/** Tells knobs, keys without effect, tables and unknown keys apart. */
export function classOfKey(key: string, role: Role): KeyClass {
  if (KNOB_OF_KEY.has(key) || meantKey(role, key) !== undefined) return "knob";
  if (inertKeyOf(key) !== undefined) return "inert";
  return SECTIONS.has(key) ? "section" : "unknown";
}

/**
 * The warning about a key without effect, or undefined when its value asks for what the server does anyway. The value is never quoted.
 *
 * @throws ConfigError when ignoring the key would break a promise
 */
export function inertWarning(key: string, value: unknown, source: string, role: Role): string | undefined {
  const why = whyUnused(role, key);
  if (why !== undefined) return `\`${key}\` in ${source} has no effect: ${why}`;
  const entry = inertKeyOf(key);
  if (entry === undefined || isNeutral(entry, value)) return undefined;
  if (entry.isRefused) {
    const allowed = entry.neutral.map((neutral) => JSON.stringify(neutral)).join(" or ");
    throw new ConfigError(`cannot use \`${key}\` from ${source}: want ${allowed}, since ${entry.why}`);
  }
  return `\`${entry.key}\` in ${source} has no effect: ${entry.why}`;
}

/** The warning about an unknown key; `noun` is "key" or "section". */
export function unknownWarning(key: string, source: string, noun: "key" | "section"): string {
  const nearest = nearestName(key, noun === "key" ? KEYS : SECTIONS);
  return `unknown ${noun} \`${key}\` in ${source}${nearest === undefined ? ": it has no effect" : `: did you mean \`${nearest}\`?`}`;
}
