/**
 * Snapshots of the catalogue, so that its list of changes can be trimmed: all entries every `CHANGES_BETWEEN` changes, two of them kept.
 *
 *   snapshot of version 4000 at number 4007 │ snapshot of version 5000 at number 5011       list of changes: from 4008 on
 *
 * Whoever made the change writes it. Two who write one at once, or late, do no harm: a snapshot goes behind the one that its writer has
 * seen. Changes are let go below the older of the two, so that one who has just read that one finds what came behind it.
 */
import { assert } from "../../base/assert.ts";
import { errorText } from "../../base/error.ts";
import { TABLE_SPREAD_MAX } from "../../base/limits.ts";
import type { Logger } from "../../base/log.ts";
import { type ListsPort, MetaLog } from "../meta-log/meta-log.ts";
import type { OrderedName } from "../port/ordered.ts";
import { type CatalogSnapshot, decodeSnapshot, encodeSnapshot } from "./catalog-entry.ts";
import { insist, type Patience, WAIT_MILLIS } from "../port/insist.ts";

/** Changes between two snapshots. Reason: a start reads so many messages twice at most, about 2 s. */
const CHANGES_BETWEEN = 1000;

const SNAPSHOTS_NUMBER = 2 ** 20;
/** A manifest that no shard has: a list as any other, in the stream of manifests. */
export const SNAPSHOTS: OrderedName = `manifest.${SNAPSHOTS_NUMBER}`;
assert(SNAPSHOTS_NUMBER > TABLE_SPREAD_MAX, "numbers of shards are below the most shards that there may be");

/** What they are written with. */
export interface SnapshotOptions extends Patience {
  readonly logger: Logger;
  readonly changesBetween?: number;
}

/** See the file header. */
export class CatalogSnapshots {
  private readonly port: ListsPort;
  private readonly patience: Patience;
  private readonly logger: Logger;
  private readonly changesBetween: number;
  private readonly log: MetaLog;
  /** Whether this process has one to write. */
  private owes = false;
  private isWriting = false;

  constructor(port: ListsPort, options: SnapshotOptions) {
    const { logger, changesBetween = CHANGES_BETWEEN } = options;
    this.port = port;
    this.patience = options;
    this.logger = logger;
    this.changesBetween = changesBetween;
    const onTrimFailed = (error: unknown): void =>
      logger.warn({ error: errorText(error) }, "cannot let an old snapshot of the catalogue go; the next one sees to it");
    this.log = new MetaLog(port, SNAPSHOTS, { sleep: (millis) => options.sleep(millis), waitMillis: WAIT_MILLIS, onTrimFailed });
  }

  /** The newest; undefined before the first. @throws DbError StorageUnavailable */
  async newest(): Promise<CatalogSnapshot | undefined> {
    const last = (await this.log.read(0)).at(-1);
    return last === undefined ? undefined : decodeSnapshot(SNAPSHOTS, last);
  }

  /**
   * Says that this process made the change of a version. Where a snapshot is due, or an earlier one failed, it is written; nobody waits.
   *
   * @param taken the snapshot as it is now
   */
  made(version: number, taken: () => CatalogSnapshot): void {
    if (version % this.changesBetween === 0) this.owes = true;
    if (!this.owes || this.isWriting) return;
    this.owes = false;
    this.isWriting = true;
    this.write(taken()).then(
      () => {
        this.isWriting = false;
      },
      (error: unknown) => {
        this.isWriting = false;
        this.owes = true;
        this.logger.warn({ version, error: errorText(error) }, "cannot write a snapshot of the catalogue; a later change does");
      },
    );
  }

  /**
   * Writes one, unless somebody has written one for the same changes, and lets go what nobody needs any more.
   *
   * @throws DbError StorageUnavailable: it may be there, or what it makes superfluous
   */
  async write(snapshot: CatalogSnapshot): Promise<void> {
    const before = (await this.log.read(0)).at(-1);
    const older = before === undefined ? undefined : decodeSnapshot(SNAPSHOTS, before);
    if (older !== undefined && this.turnOf(older) >= this.turnOf(snapshot)) return;
    const number = await this.log.append(encodeSnapshot(snapshot), before?.number ?? 0);
    if (number === "refused" || before === undefined || older === undefined) return;
    this.log.trim(before.number);
    await insist(() => this.port.ordered.trim("catalog", older.number + 1), this.patience);
  }

  /** Which of all snapshots one is. */
  private turnOf({ catalogVersion }: CatalogSnapshot): number {
    return Math.floor(catalogVersion / this.changesBetween);
  }
}
