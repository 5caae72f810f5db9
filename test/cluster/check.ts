/** What queries find beside what was promised. Each function gives one sentence a broken promise; none is good. */
import type { FoundBatch, FoundKey } from "./door.ts";
import { BATCH_ROWS, type Floor, type WriterModel } from "./model.ts";

/**
 * Rows of append mode.
 *
 * @param floor what was promised when the query began
 * @param model what was sent until it ended
 */
export function checkBatches(floor: Floor, model: WriterModel, found: readonly FoundBatch[]): readonly string[] {
  const violations: string[] = [];
  const byNumber = new Map(found.map((batch) => [batch.number, batch]));
  if (byNumber.size !== found.length) violations.push(`${floor.writer}: a batch stands twice in one answer`);
  for (const batch of found) {
    const sent = model.batches[batch.number];
    const what = `${floor.writer}: batch ${batch.number}`;
    if (batch.number < floor.from || sent === undefined || sent.attempts === 0) violations.push(`${what} was never sent`);
    else if (batch.copiesMax > sent.attempts)
      violations.push(`${what} has a row ${batch.copiesMax} times that was sent ${sent.attempts} times`);
    if (batch.rows > BATCH_ROWS || (batch.rows === BATCH_ROWS && batch.sum !== sumOf(batch.number)))
      violations.push(`${what} has rows that were never sent`);
  }
  for (const number of floor.promised) {
    const rows = byNumber.get(number)?.rows ?? 0;
    if (rows < BATCH_ROWS) violations.push(`${floor.writer}: batch ${number} has lost ${BATCH_ROWS - rows} of ${BATCH_ROWS} rows`);
  }
  return violations;
}

/** Sum of the numbers of a batch's rows. */
function sumOf(batch: number): number {
  return batch * BATCH_ROWS * BATCH_ROWS + (BATCH_ROWS * (BATCH_ROWS - 1)) / 2;
}

/** Rows of which the last version counts; see `checkBatches`. */
export function checkKeys(floor: Floor, model: WriterModel, found: readonly FoundKey[]): readonly string[] {
  const violations: string[] = [];
  const versions = new Map<number, number>();
  for (const { number, rows, version } of found) {
    const what = `${floor.writer}: key ${number}`;
    if (rows !== 1 || versions.has(number)) violations.push(`${what} stands ${Math.max(rows, 2)} times`);
    if (version > (model.keys[number]?.sent ?? 0)) violations.push(`${what} has version ${version}, which was never sent`);
    versions.set(number, version);
  }
  for (const [number, promised] of floor.versions.entries()) {
    const version = versions.get(number);
    if (promised === 0 || (version !== undefined && version >= promised)) continue;
    violations.push(
      version === undefined
        ? `${floor.writer}: key ${number} is lost; it had version ${promised}`
        : `${floor.writer}: key ${number} is older: it has version ${version}, after ${promised}`,
    );
  }
  return violations;
}

/** What was seen whole stays: later queries have to find it, whether or not its writer got an answer. */
export function noteSeen(model: WriterModel, batches: readonly FoundBatch[], keys: readonly FoundKey[]): void {
  for (const { number, rows } of batches) {
    const batch = model.batches[number];
    if (batch !== undefined && rows === BATCH_ROWS) batch.isPromised = true;
  }
  for (const { number, version } of keys) {
    const key = model.keys[number];
    if (key !== undefined) key.promised = Math.max(key.promised, version);
  }
}
