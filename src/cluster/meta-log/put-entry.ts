/** The first entry of a list of a cluster that is made anew. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { OrderedName } from "../port/ordered.ts";
import { portFailureOf } from "../port/port-error.ts";
import { type ListsPort, MetaLog } from "./meta-log.ts";

/** Times that it is tried, and what is waited between two, in milliseconds. `MetaLog` waits for elections itself. */
const TRIES = 5;
const AGAIN_MILLIS = 500;

/**
 * Puts an entry behind the message `last` of a list that has none behind it. Where the same entry is there, an answer was lost, or an
 * attempt before this one came so far, and nothing is done.
 *
 * @throws DbError StorageUnavailable: it may be there; InvalidArguments: another entry is there, and ours never will be
 */
export async function putEntry(
  port: ListsPort,
  name: OrderedName,
  text: string,
  last: number,
  sleep: (millis: number) => Promise<void>,
): Promise<void> {
  const log = new MetaLog(port, name, { sleep });
  for (let round = 1; ; round++) {
    try {
      if ((await log.append(text, last)) !== "refused") return;
      const [there] = await log.read(last);
      if (there?.text === text) return;
      throw new DbError(StatusCode.InvalidArguments, `cannot begin the list ${name}: somebody else has begun it`);
    } catch (error) {
      const isPassing = error instanceof DbError && portFailureOf(error.cause) === "unknown";
      if (!isPassing || round >= TRIES) throw error;
      await sleep(AGAIN_MILLIS);
    }
  }
}
