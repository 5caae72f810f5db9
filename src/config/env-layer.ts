/** Settings from environment variables: `<PREFIX>__<SECTION>__<KEY>`; an empty variable counts as unset. Source: contract http.md 7.3. */
import { classOfKey, inertWarning, unknownWarning } from "./known-key.ts";
import { keepRaw, type Layer, type RawSetting } from "./layer.ts";
import type { Role } from "./role.ts";

/**
 * Reads the variables of each prefix; a later prefix is stronger. Names are compared without regard to case.
 *
 * @throws ConfigError for a key that must not be ignored
 */
export function readEnv(env: Readonly<Record<string, string | undefined>>, prefixes: readonly string[], role: Role): Layer {
  const values = new Map<string, RawSetting>();
  const warnings: string[] = [];
  for (const prefix of prefixes) {
    const start = `${prefix}__`.toLowerCase();
    for (const [name, value] of Object.entries(env)) {
      if (value === undefined || value === "" || !name.toLowerCase().startsWith(start)) continue;
      const key = name.slice(start.length).toLowerCase().replaceAll("__", ".");
      const kind = classOfKey(key, role);
      if (kind === "knob") {
        keepRaw(values, key, { source: name, form: "text", value }, role);
      } else {
        const warning = kind === "inert" ? inertWarning(key, value, name, role) : unknownWarning(key, name, "key");
        if (warning !== undefined) warnings.push(warning);
      }
    }
  }
  return { values, warnings };
}
