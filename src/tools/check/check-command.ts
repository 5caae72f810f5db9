/** `varve check`: reads a whole data directory and says what is not as it was written. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { type Flag, readFlags } from "../../config/flag.ts";
import { lockHome, lockLogFolder } from "../../storage/data-directory.ts";
import { STORE_ID_NAME } from "../../storage/file-store/s3/owner.ts";
import { DATA_STORE_FLAG, dataStoreOf } from "../common/data-store.ts";
import { ByteProgress, byteText } from "../common/byte-progress.ts";
import { helpText } from "../common/help.ts";
import type { ToolIo, ToolProgram } from "../tool.ts";
import { bytesToCheck, type CheckedPlace, type CheckTotals, checkStore } from "./check-store.ts";
import type { CheckSink, Finding } from "./finding.ts";

const HOME_DEFAULT = "./varve_data";
/** Findings that are printed for people; `--json` prints all. */
const PRINTED_MAX = 200;

const FLAGS: readonly Flag[] = [
  { name: "data-home", value: "<path>", help: `the data directory (default: ${HOME_DEFAULT})` },
  { name: "wal-dir", value: "<path>", help: "the log directory, where wal.dir says so (default: <data-home>/wal)" },
  DATA_STORE_FLAG,
  { name: "quick", help: "decode no data file whose bytes match the checksum in its entry: finds every flipped bit, at the disk's rate" },
  { name: "no-lock", help: "do not lock the directory: for a copy on a disk that cannot be written, never beside a server" },
  { name: "json", help: "print one JSON object a finding, then a summary" },
  { name: "unused", help: "name the bytes that no reader uses as well" },
];

/** The program. */
export const program: ToolProgram = {
  flags: FLAGS,
  help: () =>
    helpText({
      about: `Reads all of a data directory and says what is not as it was written: every checksum, page, index, filter, entry of the meta
store and record of the log, and whether all of them fit together. Nothing is changed. The server must not run: stop it, or check a copy,
such as a restored backup.`,
      usage: ["varve check [flags]"],
      examples: [
        "varve check --data-home /var/lib/varve",
        `varve check --data-home /var/lib/varve --json | jq 'select(.kind == "finding")'`,
      ],
      flags: FLAGS,
      notes: [
        "A single bit that flipped is found wherever a reader would use it. --unused names the bytes that nobody reads.",
        "",
        "Exit status: 0 sound, 1 findings, or it could not be checked, 2 for a wrong command line.",
      ],
    }),
  async run(args, io) {
    const { values, words } = readFlags(args, FLAGS);
    if (words.length > 0) throw new ConfigError("`check` takes no arguments; --data-home says what to check", EXIT_USAGE);
    const home = values.get("data-home") ?? HOME_DEFAULT;
    const directory = { home, logFolder: values.get("wal-dir") ?? join(home, "wal"), isQuick: values.has("quick") };
    if (!existsSync(join(home, "meta.db"))) {
      throw new DbError(
        StatusCode.StorageUnavailable,
        `cannot check ${home}: it has no meta.db, so it is no data directory; --data-home names one`,
      );
    }
    await using locks = new AsyncDisposableStack();
    if (!values.has("no-lock")) {
      const unlock = await lockHome(home);
      locks.defer(unlock);
      if (existsSync(directory.logFolder)) locks.defer(await lockLogFolder(directory.logFolder));
    }
    const place = { ...directory, remote: await remoteOf(home, values.get("config-file"), io.env) };
    const printer = values.has("json") ? new JsonPrinter(io, values.has("unused")) : new TextPrinter(io, values.has("unused"));
    return await check(place, printer, io);
  },
};

/** The store of the data files, where they are not in the directory. @throws ConfigError, DbError */
async function remoteOf(home: string, configFile: string | undefined, env: ToolIo["env"]): Promise<CheckedPlace["remote"]> {
  const store = dataStoreOf(configFile, env);
  if (store !== undefined) return { store, lengths: await store.lengths("tables") };
  if (existsSync(join(home, STORE_ID_NAME)))
    throw new ConfigError(`cannot check ${home}: its data files lie in an S3 store; name the server's configuration with --config-file`);
  return undefined;
}

/** How a check is told. */
interface Printer extends Pick<CheckSink, "finding" | "unused" | "note"> {
  begin(place: CheckedPlace, bytes: number, clear: () => void): void;
  end(totals: CheckTotals, bytes: number, millis: number): Promise<void>;
}

async function check(place: CheckedPlace, printer: Printer, io: ToolIo): Promise<number> {
  const started = systemClock.monotonicMillis();
  const total = await bytesToCheck(place);
  const progress = new ByteProgress(io, "checking", total);
  printer.begin(place, total, () => progress.clear());
  let findings = 0;
  let bytes = 0;
  const sink: CheckSink = {
    finding(found) {
      findings++;
      printer.finding(found);
    },
    unused: (range) => printer.unused(range),
    note: (text) => printer.note(text),
    read(byteLength) {
      if (io.interrupted.aborted) throw new DbError(StatusCode.Cancelled, "interrupted: not all of it was checked");
      bytes += byteLength;
      progress.add(byteLength);
    },
  };
  try {
    const totals = await checkStore(place, sink);
    progress.clear();
    await printer.end(totals, bytes, systemClock.monotonicMillis() - started);
  } finally {
    progress.clear();
  }
  return findings === 0 ? 0 : 1;
}

/** Text is gathered and printed as it comes: a pipe that is full must not be forgotten. */
class Lines {
  private readonly io: ToolIo;
  private printed: Promise<void> = Promise.resolve();

  constructor(io: ToolIo) {
    this.io = io;
  }

  say(line: string): void {
    this.printed = Promise.all([this.printed, this.io.out(`${line}\n`)]).then(() => undefined);
  }

  async end(): Promise<void> {
    await this.printed;
  }
}

class JsonPrinter implements Printer {
  private readonly lines: Lines;
  private readonly tellsUnused: boolean;
  private findings = 0;

  constructor(io: ToolIo, tellsUnused: boolean) {
    this.lines = new Lines(io);
    this.tellsUnused = tellsUnused;
  }

  begin(): void {
    // The summary says what was checked.
  }

  finding(found: Finding): void {
    this.findings++;
    this.lines.say(JSON.stringify({ kind: "finding", ...found }));
  }

  unused(range: Parameters<CheckSink["unused"]>[0]): void {
    if (this.tellsUnused) this.lines.say(JSON.stringify({ kind: "unused", ...range }));
  }

  note(text: string): void {
    this.lines.say(JSON.stringify({ kind: "note", text }));
  }

  async end(totals: CheckTotals, bytes: number, millis: number): Promise<void> {
    this.lines.say(JSON.stringify({ kind: "summary", findings: this.findings, ...totals, bytes, millis: Math.round(millis) }));
    await this.lines.end();
  }
}

class TextPrinter implements Printer {
  private readonly lines: Lines;
  private readonly tellsUnused: boolean;
  private findings = 0;
  private clear: () => void = () => undefined;

  constructor(io: ToolIo, tellsUnused: boolean) {
    this.lines = new Lines(io);
    this.tellsUnused = tellsUnused;
  }

  begin({ home, logFolder }: CheckedPlace, bytes: number, clear: () => void): void {
    this.clear = clear;
    this.lines.say(`checking ${home}: meta store, data files and what lies beside them, the log in ${logFolder}; ${byteText(bytes)}`);
  }

  finding({ file, offset, what, means, advice }: Finding): void {
    this.findings++;
    if (this.findings > PRINTED_MAX) return;
    this.clear();
    this.lines.say(`damaged  ${file}${offset === undefined ? "" : ` at byte ${offset}`}: ${what}\n  means  ${means}\n  do     ${advice}`);
  }

  unused({ file, from, to, why }: Parameters<CheckSink["unused"]>[0]): void {
    if (this.tellsUnused && to > from) this.lines.say(`unused   ${file} bytes ${from} to ${to - 1}: ${why}`);
  }

  note(text: string): void {
    this.lines.say(`note     ${text}`);
  }

  async end({ dataFiles, segments, records }: CheckTotals, bytes: number, millis: number): Promise<void> {
    const { findings } = this;
    if (findings > PRINTED_MAX) this.lines.say(`${findings - PRINTED_MAX} more findings; --json prints all`);
    const verdict = findings === 0 ? "sound" : `${findings} finding${findings === 1 ? "" : "s"}`;
    const seen = `${dataFiles} data files, ${segments} log segments with ${records} records`;
    this.lines.say(`${verdict}: ${seen}, ${byteText(bytes)} in ${(millis / 1000).toFixed(1)} s`);
    await this.lines.end();
  }
}
