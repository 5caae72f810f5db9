/**
 * The log of a meta store (`ConditionalLog`) in a list of the port: how the owners of a shard, one after the other, agree on its manifest.
 *
 * An entry above `messageBytesMax` is cut into parts, one message each: each part expects the one before to be the list's last message. An
 * attempt that ends half-way leaves parts that are no entry:
 *
 * ```
 *  entry 7 │ part 8 of A │ part 9 of A │ entry 10 of B     A's third part expects 9 to be the last: refused, whenever it comes
 * ```
 *
 * | append of a part ends with | messages behind `last`       | the entry                                                            |
 * |----------------------------|------------------------------|----------------------------------------------------------------------|
 * | its number                 | –                            | goes on with the next part; after the last it is in the log          |
 * | refused                    | hold an entry                | "refused"                                                            |
 * | refused                    | parts that are no entry      | is appended from its beginning, behind them                          |
 * | unavailable                | –                            | the part was not taken: again, for up to `waitMillis`                |
 * | refused                    | are none: the list ends      | `LogWentBack`                                                        |
 * |                            | before `last`                |                                                                      |
 * | another error              | –                            | may be in the log, or may come: StorageUnavailable                   |
 *
 * Why the contract holds: an entry that is not whole yet becomes so only by a part that expects the list's last message to be a part of it.
 * Whoever appends behind it expects the same. One of both is refused.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type ConditionalLog, type LogEntry, LogWentBack } from "../../storage/meta-store/conditional-log.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import type { Ordered, OrderedName } from "../port/ordered.ts";
import { PortError } from "../port/port-error.ts";
import { gatherEntries, type GatheredEntries } from "./gathered-entries.ts";
import { encodePart, PART_OVERHEAD_BYTES, PARTS_MAX } from "./part.ts";

/** What lists are kept in. */
export type ListsPort = Pick<ClusterPort, "ordered" | "messageBytesMax">;

/** What the log waits with. */
export interface MetaLogOptions {
  /** Waits. */
  readonly sleep: (millis: number) => Promise<void>;
  /** How long it asks again while nobody serves the list, in milliseconds: longer than an election. */
  readonly waitMillis?: number;
  /** Hears of a trim that failed: a later one does its work. */
  readonly onTrimFailed?: (error: unknown) => void;
}

const WAIT_MILLIS = 20_000;
const AGAIN_MILLIS = 200;

/** See the file header. One object a list and process. */
export class MetaLog implements ConditionalLog {
  private readonly ordered: Ordered;
  private readonly name: OrderedName;
  private readonly partBytes: number;
  private readonly options: MetaLogOptions;
  /** First messages of entries that have several, by the number of the entry; of all that may still be trimmed to. */
  private readonly firstNumbers = new Map<number, number>();

  constructor(port: ListsPort, name: OrderedName, options: MetaLogOptions) {
    this.ordered = port.ordered;
    this.name = name;
    this.partBytes = port.messageBytesMax - PART_OVERHEAD_BYTES;
    this.options = options;
  }

  async append(text: string, last: number): Promise<number | "refused"> {
    const bytes = new TextEncoder().encode(text);
    const count = Math.max(1, Math.ceil(bytes.length / this.partBytes));
    if (count > PARTS_MAX)
      throw unavailable(`cannot append ${bytes.length} bytes to ${this.name}: an entry has ${PARTS_MAX} parts at most`);
    for (let behind = last; ; ) {
      const number = await this.appendParts(bytes, count, behind);
      if (number !== "refused") return number;
      const { entries, lastNumber } = await this.gather(last);
      // Where the list ends before `last`, someone else's entries took the place of ours.
      if (entries.length > 0 || lastNumber <= behind) return "refused";
      behind = lastNumber;
    }
  }

  async read(number: number): Promise<readonly LogEntry[]> {
    const { entries } = await this.gather(number);
    return entries.map((entry) => ({ number: entry.number, text: entry.text }));
  }

  trim(number: number): void {
    const first = this.firstNumbers.get(number) ?? number;
    for (const known of this.firstNumbers.keys()) if (known < number) this.firstNumbers.delete(known);
    this.ordered.trim(this.name, first).catch((error: unknown) => this.options.onTrimFailed?.(error));
  }

  private async gather(after: number): Promise<GatheredEntries> {
    const messages = await this.insist(() => this.ordered.read(this.name, after));
    const gathered = gatherEntries(this.name, messages);
    for (const { number, firstNumber } of gathered.entries) if (firstNumber < number) this.firstNumbers.set(number, firstNumber);
    return gathered;
  }

  /** One attempt: all parts, the first behind the message `behind`. */
  private async appendParts(bytes: Uint8Array, count: number, behind: number): Promise<number | "refused"> {
    const attempt = crypto.getRandomValues(new Uint8Array(16)).toHex();
    let last = behind;
    let firstNumber = 0;
    for (let index = 0; index < count; index++) {
      const part = bytes.subarray(index * this.partBytes, (index + 1) * this.partBytes);
      const message = encodePart({ attempt, index, count, bytes: part });
      const expected = last;
      const number = await this.insist(() => this.ordered.append(this.name, message, expected));
      if (number === "refused") return "refused";
      if (index === 0) firstNumber = number;
      last = number;
    }
    if (count > 1) this.firstNumbers.set(last, firstNumber);
    return last;
  }

  /** Calls again while nobody serves the list, which means that nothing was done. @throws DbError StorageUnavailable */
  private async insist<T>(call: () => Promise<T>): Promise<T> {
    const rounds = Math.ceil((this.options.waitMillis ?? WAIT_MILLIS) / AGAIN_MILLIS);
    for (let round = 0; ; round++) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof PortError)) throw error;
        if (error.failure === "went-back") throw new LogWentBack(error.message, error);
        if (error.failure !== "unavailable" || round >= rounds) throw unavailable(error.message, error);
      }
      await this.options.sleep(AGAIN_MILLIS);
    }
  }
}

function unavailable(message: string, cause?: unknown): DbError {
  return new DbError(StatusCode.StorageUnavailable, message, { cause });
}
