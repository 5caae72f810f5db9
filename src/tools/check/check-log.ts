/**
 * The log: each segment's headers, records and payloads by their checksums, whether segments follow each other as they say, the statements
 * of `ends`, and the list of threads' logs. What a start would call damage or a torn tail is a finding here, with the bytes.
 */
import type { TableId } from "../../base/units.ts";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { DbError, errorText } from "../../base/error.ts";
import { decodeWriteRecord } from "../../storage/memtable/write-record.ts";
import { ENDS_NAME } from "../../storage/wal/ends-file.ts";
import {
  decodeStatement,
  type EndsStatement,
  NO_ENDS,
  STATEMENT_BYTES,
  STATEMENT_PLACES,
  STATEMENT_STRIDE,
} from "../../storage/wal/log-ends.ts";
import { systemLogDisk } from "../../storage/wal/log-disk.ts";
import { LogFolder } from "../../storage/wal/log-folder.ts";
import { sightOf } from "../../storage/wal/log-replay.ts";
import type { SegmentEnd } from "../../storage/wal/record-header.ts";
import { type FoundRecord, replaySegment } from "../../storage/wal/replay.ts";
import { NAMES_FILE, ThreadLogNames } from "../../storage/wal/thread-log-names.ts";
import { listThreadLogs, threadLogFolder } from "../../storage/wal/thread-logs.ts";
import type { CheckSink } from "./finding.ts";

const MEANS_RECORDS =
  "rows that are in these bytes and not yet in data files are lost, and a start is refused while wal.recovery is strict";
const MEANS_ENDS = "a log that lost its first or last segments would not be noticed";
const ADVICE =
  'restore the store from a backup (varve restore), or start with wal.recovery = "skip_corrupt" to go on without what is damaged';

/** What the meta store knows of the log. */
export interface LogFacts {
  readonly nextTableId: number;
  readonly hasLog: boolean;
  /** The table of a region. */
  readonly tableOf: (region: TableId) => TableId;
}

/** What was read. */
export interface CheckedLogs {
  readonly segments: number;
  readonly records: number;
}

/** Checks the logs of all threads. @param show how a path is shown */
export async function checkLogs(folder: string, show: (path: string) => string, facts: LogFacts, sink: CheckSink): Promise<CheckedLogs> {
  const total = { segments: 0, records: 0 };
  if (!existsSync(folder)) {
    if (facts.hasLog) {
      sink.finding({ file: show(folder), what: "the log directory is missing", means: MEANS_RECORDS, advice: ADVICE });
    }
    return total;
  }
  const threads = await checkNames(folder, show, sink);
  for (const thread of [0, ...threads]) {
    const log = new LogCheck(
      thread === 0 ? folder : threadLogFolder(folder, thread),
      show,
      { ...facts, hasLog: facts.hasLog || thread > 0 },
      sink,
    );
    await log.run();
    total.segments += log.segments;
    total.records += log.records;
  }
  return total;
}

/** Threads that have a folder or should. */
async function checkNames(folder: string, show: (path: string) => string, sink: CheckSink): Promise<readonly number[]> {
  const found = listThreadLogs(folder);
  const file = show(join(folder, NAMES_FILE));
  let named: readonly number[] = [];
  try {
    const names = new ThreadLogNames(folder);
    named = names.read() ?? [];
    if (names.isThere) {
      const { size } = await stat(join(folder, NAMES_FILE));
      sink.read(size);
    }
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    sink.finding({ file, offset: 0, what: errorText(error), means: "a thread's log that is missing would not be noticed", advice: ADVICE });
  }
  for (const thread of named) {
    if (found.includes(thread)) continue;
    const what = `the log of thread ${thread} is named and not there`;
    sink.finding({ file: show(threadLogFolder(folder, thread)), what, means: MEANS_RECORDS, advice: ADVICE });
  }
  return found;
}

/** One log. */
class LogCheck {
  segments = 0;
  records = 0;
  private readonly folder: LogFolder;
  private readonly show: (path: string) => string;
  private readonly facts: LogFacts;
  private readonly sink: CheckSink;
  private readonly found: Map<number, SegmentEnd> = new Map();
  private readonly named: Map<number, SegmentEnd> = new Map();
  private ends: EndsStatement | undefined;
  private sequence = 0;

  constructor(path: string, show: (path: string) => string, facts: LogFacts, sink: CheckSink) {
    this.folder = new LogFolder(path, systemLogDisk);
    this.show = show;
    this.facts = facts;
    this.sink = sink;
  }

  async run(): Promise<void> {
    const { ids, hasEnds } = await this.folder.list();
    if (hasEnds) await this.checkEnds();
    for (const [i, id] of ids.entries()) await this.checkSegment(id, i === ids.length - 1);
    if (!hasEnds && (this.named.size > 0 || (this.facts.hasLog && ids.length === 0))) {
      this.say(join(this.folder.path, ENDS_NAME), undefined, "it is missing", MEANS_ENDS);
    }
    this.checkLinks(ids[0] ?? 1);
  }

  /** All places: those that are no statement must be empty, as must be the bytes between. */
  private async checkEnds(): Promise<void> {
    const path = join(this.folder.path, ENDS_NAME);
    const bytes = new Uint8Array(await readFile(path));
    this.sink.read(bytes.length);
    const statements: EndsStatement[] = [];
    for (let place = 0; place < STATEMENT_PLACES; place++) {
      const at = place * STATEMENT_STRIDE;
      const result = decodeStatement(bytes, at);
      if (result.kind === "ok") statements.push(result.statement);
      else if (result.kind === "unknown") this.say(path, at, `a statement of format version ${result.version}`, MEANS_ENDS);
      const from = at + (result.kind === "none" ? 0 : STATEMENT_BYTES);
      const dirty = bytes.subarray(from, at + STATEMENT_STRIDE).findIndex((byte) => byte !== 0);
      if (dirty < 0) continue;
      const isStatement = result.kind === "none" && dirty < STATEMENT_BYTES;
      const what = isStatement
        ? `statement ${place + 1} of ${STATEMENT_PLACES} does not match its checksum`
        : "a byte between statements is not 0";
      this.say(
        path,
        from + dirty,
        what,
        `${MEANS_ENDS}; a start goes by the statements that are whole, if there is one, and writes new ones`,
      );
    }
    if (bytes.length > STATEMENT_PLACES * STATEMENT_STRIDE)
      this.say(path, STATEMENT_PLACES * STATEMENT_STRIDE, "it is too long", MEANS_ENDS);
    this.ends = statements.toSorted((a, b) => b.number - a.number)[0];
    if (this.ends === undefined) this.say(path, 0, "none of its statements is whole", `${MEANS_ENDS}: a start is refused`);
  }

  private async checkSegment(id: number, isNewest: boolean): Promise<void> {
    const path = this.folder.pathOf(id);
    let at = 0;
    this.segments++;
    try {
      const source = { path, id, isNewest: false, durableBytes: 0, recovery: "skip_corrupt", disk: systemLogDisk } as const;
      const { end } = await replaySegment(source, {
        onHead: (previous) => {
          if (previous !== undefined) this.named.set(id, previous);
        },
        onRecord: (record) => {
          this.checkRecord(record, path);
          this.sink.read(record.end - Math.max(at, record.start));
          at = record.end;
        },
        onLost: (byteLength) => {
          this.tellLost(path, id, at, byteLength, isNewest);
          this.sink.read(byteLength);
          at += byteLength;
        },
      });
      this.found.set(id, end);
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      this.say(path, 0, errorText(error), MEANS_RECORDS);
    }
  }

  /** The offset is that of the first damaged byte's record: the header of the segment when nothing came before. */
  private tellLost(path: string, id: number, at: number, byteLength: number, isNewest: boolean): void {
    const { ends } = this;
    const isDurable = ends !== undefined && ends.end.id === id && at < ends.end.bytes;
    const what = at === 0 ? `its header and ${byteLength} bytes from there are damaged` : `${byteLength} bytes are no intact record`;
    const torn =
      isNewest && !isDurable
        ? "; at the end of the newest segment they may be a write that was cut short and never acknowledged, which a start cuts off"
        : "";
    this.say(path, at, what, `${MEANS_RECORDS}${torn}`);
  }

  private checkRecord(record: FoundRecord, path: string): void {
    const { sequence, payload, start } = record;
    this.records++;
    if (sequence <= this.sequence) this.say(path, start, `record ${sequence} comes after record ${this.sequence}`, MEANS_RECORDS);
    this.sequence = sequence;
    const { ends } = this;
    if (ends !== undefined && ends.end.id === record.segment && ends.end.bytes === record.end && ends.end.check !== record.check) {
      this.say(path, start, "it ends with another record than `ends` says", MEANS_RECORDS);
    }
    try {
      for (const { tableId } of decodeWriteRecord(sequence, payload).entries) {
        if (this.facts.tableOf(tableId) < this.facts.nextTableId) continue;
        this.say(
          path,
          start,
          `record ${sequence} is of table ${tableId}, whose id the meta store has not given out`,
          "the meta store is older than the log: a start is refused",
        );
      }
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.say(path, start, `record ${sequence} passes its checksum and cannot be read: ${error.message}`, MEANS_RECORDS);
    }
  }

  /** Whether the segments are there that others, and `ends`, say there must be. */
  private checkLinks(first: number): void {
    const ends = this.ends ?? { ...NO_ENDS, oldest: first };
    for (const [id, previous] of this.named) {
      const sight = sightOf(previous, ends.oldest, this.found);
      const path = this.folder.pathOf(previous.id);
      if (sight === "missing") this.say(path, undefined, `it is missing: segment ${id} was begun after it`, MEANS_RECORDS);
      else if (sight === "different") {
        const there = this.found.get(previous.id);
        const what = there?.bytes === previous.bytes ? "it ends with another record" : `it ends at byte ${there?.bytes}`;
        this.say(path, there?.bytes, `${what} than when segment ${id} was begun: then it had ${previous.bytes} bytes`, MEANS_RECORDS);
      }
    }
    const newest = this.found.get(ends.newest);
    if (ends.newest >= ends.oldest && newest === undefined) {
      this.say(this.folder.pathOf(ends.newest), undefined, "it is missing: `ends` says that it is the newest", MEANS_RECORDS);
    }
    const end = this.found.get(ends.end.id);
    if (end !== undefined && end.bytes < ends.end.bytes) {
      this.say(this.folder.pathOf(end.id), end.bytes, `it was cut off: ${ends.end.bytes} bytes of it were on disk`, MEANS_RECORDS);
    }
  }

  private say(path: string, offset: number | undefined, what: string, means: string): void {
    this.sink.finding({ file: this.show(path), offset, what, means, advice: ADVICE });
  }
}

/** Names in the log's folder and those of threads that are neither segments nor what else belongs there. */
export async function foreignLogFiles(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder)) return [];
  const known = /^(?:\d{10}\.log|ends|threads|LOCK|LOCK-journal|LOCK\.pid|thread-[1-9]\d{0,3})$/;
  const folders = [folder, ...listThreadLogs(folder).map((thread) => threadLogFolder(folder, thread))];
  const found: string[] = [];
  for (const one of folders) for (const name of await readdir(one)) if (!known.test(name)) found.push(join(one, name));
  return found;
}
