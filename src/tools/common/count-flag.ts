/** Flags that are numbers. */
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import type { FlagValues } from "../../config/flag.ts";

/** The number that a flag has, from 1 to `most`; `fallback` where it is not given. @throws ConfigError */
export function countOf({ values }: FlagValues, name: string, fallback: number, most: number): number {
  const text = values.get(name);
  if (text === undefined) return fallback;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  throw new ConfigError(`cannot use --${name} ${text.slice(0, 20)}: want a number from 1 to ${most}`, EXIT_USAGE);
}
