/** What random lives say of their steps, and how they ask for a refusal. */
import { DbError } from "../../src/base/error.ts";

/** Resolves when work is refused. @throws Error when it is done, and what is no `DbError` */
export async function refused(work: Promise<unknown>): Promise<void> {
  const result = await work.then(
    () => "taken",
    (error: unknown) => {
      if (!(error instanceof DbError)) throw error;
      return "refused";
    },
  );
  if (result !== "refused") throw new Error("what had to be refused was done");
}

/** A request as text. */
export function describe(request: object): string {
  return JSON.stringify(request, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}
