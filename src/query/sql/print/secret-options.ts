/** Options whose values are secret: keys of stores. They are never printed. */
import { isSecretKey } from "./secret-text.ts";

/** What is printed instead. */
const MASK = "******";

/** The options with secret values masked, for printing. */
export function maskedOptions(options: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(options).map(([key, value]) => [key, isSecretKey(key) ? MASK : value]));
}
