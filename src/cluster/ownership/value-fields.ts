/** What the values of leases have in common: a JSON object with a version. Others wrote them, maybe another version of the server. */

import { ADDRESS_CHARACTERS_MAX } from "./limits.ts";

const HOST_AND_PORT = /^[^\s/@]{1,249}:\d{1,5}$/;

/** Why a value is not what such values are, as a phrase. Where it is read it is an ordinary case. */
export class ValueError extends Error {
  override readonly name = "ValueError";
}

/** Whether something is a whole number from 0 on that a double holds. */
export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Whether something can be the address of a listener. */
export function isAddress(text: string): boolean {
  return text.length <= ADDRESS_CHARACTERS_MAX && HOST_AND_PORT.test(text);
}

/** Fields of a value, unchecked. @throws ValueError it is no object, or its version is another */
export function valueFields(text: string, version: number): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ValueError("it is no JSON", { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new ValueError("it is no object");
  const fields = value as Readonly<Record<string, unknown>>;
  if (fields["v"] !== version) throw new ValueError(`its version is ${String(fields["v"]).slice(0, 20)}, and ${version} is known`);
  return fields;
}
