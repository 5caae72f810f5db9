/** Which batches are sent again after a kill, as a client would that heard no answer. */
import type { Random } from "../../bench/macro/random.ts";
import type { Batch } from "./batch.ts";
import type { Fate } from "./check.ts";
import type { WriterModel } from "./model.ts";

const RETRY_SHARE = 0.5;

/** Each writer's unanswered batch, half of the time. Where rows can only be added, only one that was found absent is sent again. */
export function retriesAfter(
  models: readonly WriterModel[],
  unanswered: readonly (Batch | undefined)[],
  fates: readonly (Fate | undefined)[],
  random: Random,
): (Batch | undefined)[] {
  return models.map(({ door }, writer) => {
    const isWanted = random.next() < RETRY_SHARE;
    return isWanted && (door.isIdempotent || fates[writer] === "absent") ? unanswered[writer] : undefined;
  });
}
