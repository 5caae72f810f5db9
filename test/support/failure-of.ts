/** How work that must fail fails. */
import { DbError } from "../../src/base/error.ts";

/** The error that the work ends with. @throws when it does not fail */
export async function errorOf(work: Promise<unknown>): Promise<Error> {
  const [outcome] = await Promise.allSettled([work]);
  if (outcome?.status === "rejected" && outcome.reason instanceof Error) return outcome.reason;
  throw new Error(`the work should fail; got ${Bun.inspect(outcome)}`);
}

/** The failure of the world that a call throws. @throws when it throws none */
export function thrownBy(call: () => unknown): DbError {
  try {
    call();
  } catch (error) {
    if (error instanceof DbError) return error;
    throw error;
  }
  throw new Error("the call should throw");
}

/** As `errorOf`, where it must be a failure of the world. */
export async function failureOf(work: Promise<unknown>): Promise<DbError> {
  const error = await errorOf(work);
  if (error instanceof DbError) return error;
  throw new Error(`the work should fail with a DbError; got ${Bun.inspect(error)}`);
}
