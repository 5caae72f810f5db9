/** What a start does with the logs of all threads: every record goes to its table's memory, or is known to be in its files already. */
import type { TableId } from "../../base/units.ts";
import type { Logger } from "../../base/log.ts";
import type { Region } from "../../storage/region/region.ts";
import { WAL_GAPS_MAX, type WalRecoveryReport } from "../../storage/wal/wal.ts";
import type { FileCheck } from "./file-check.ts";
import type { LiveTables } from "../catalog/live-tables.ts";
import type { LogStreams } from "../log/log-streams.ts";
import { Replay } from "./replay.ts";
import type { Shards } from "../schema/shards.ts";
import type { SequenceCounter } from "../log/sequence-counter.ts";

/** What the start found in the log. */
export interface EngineRecovery extends WalRecoveryReport {
  /** Rows that are known to be lost with damaged records. */
  readonly lostRows: number;
  /** Damaged places of which nobody knows how many rows they held. */
  readonly lostUnknown: number;
}

/** What is recovered, and into what. */
export interface RecoveryParts {
  readonly streams: LogStreams;
  readonly live: LiveTables;
  readonly sequences: SequenceCounter;
  /** Ids from here on were never given to a table. */
  readonly nextTableId: number;
  readonly shards: Shards;
  readonly logger: Logger;
}

/** Reads all logs back, and ends the check of files that began before it. @throws DbError StorageUnavailable */
export async function recoverLogs(parts: RecoveryParts, check: FileCheck): Promise<EngineRecovery> {
  const { streams, live, sequences, nextTableId, shards, logger } = parts;
  const tableOf = (region: TableId): TableId => shards.tableOf(region);
  const reports: EngineRecovery[] = [];
  const regionOf = (tableId: TableId): Region | undefined => live.byRegionId(tableId)?.table.region;
  const sawEntry = (tableId: TableId, sequence: number): void => check.sawRecord(tableId, sequence);
  for (const stream of streams.local()) {
    const { wal, ledger } = stream;
    const replay = new Replay({ regionOf, tableOf, nextTableId, ledger, logger, sawEntry });
    const report = await wal.recover(
      (record) => {
        sequences.sawUsed(record.sequence);
        stream.recovered = record.sequence; // Later records have larger ones.
        replay.apply(record);
      },
      (payload) => replay.lose(payload),
    );
    reports.push({ ...report, lostRows: replay.lostRows, lostUnknown: replay.lostUnknown });
  }
  for (const region of live.regions()) region.endRestore();
  await check.end();
  return summed(reports);
}

function summed(reports: readonly EngineRecovery[]): EngineRecovery {
  const total = { segments: 0, records: 0, bytes: 0, tornTailBytes: 0, lostBytes: 0, lostSegments: 0, lostRows: 0, lostUnknown: 0 };
  for (const report of reports) {
    total.segments += report.segments;
    total.records += report.records;
    total.bytes += report.bytes;
    total.tornTailBytes += report.tornTailBytes;
    total.lostBytes += report.lostBytes;
    total.lostSegments += report.lostSegments;
    total.lostRows += report.lostRows;
    total.lostUnknown += report.lostUnknown;
  }
  return { ...total, gaps: reports.flatMap(({ gaps }) => gaps).slice(0, WAL_GAPS_MAX) };
}
