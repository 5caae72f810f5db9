/**
 * `varve import`: files and other servers into a running server, over several connections, resumable.
 *
 *   source.ts ─► pieces ─► sender.ts ─► server
 *                  │           └─► state.ts, progress.ts
 *
 * No row comes twice: what was acknowledged is never sent again, and what was sent without an answer is sent again only where it then
 * takes the place of itself. Tables that keep every row (append_mode) have no such place, and the server keeps no numbers of requests by
 * which it would know one again. So for them a piece is written down, synced, before it is sent; one whose answer never came is in doubt;
 * and an import with pieces in doubt goes on only when it is told whether to send them or to leave them out. After Ctrl-C none is in doubt.
 */
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { type Flag, type FlagValues, readFlags } from "../../config/flag.ts";
import { Client } from "../common/client.ts";
import { countOf } from "../common/count-flag.ts";
import { helpText } from "../common/help.ts";
import { SERVER_FLAGS, serverOf } from "../common/server-flags.ts";
import type { ToolProgram } from "../tool.ts";
import { importAll } from "./import-run.ts";
import { IMPORT_FORMATS, type ImportOptions, formatNamed } from "./import-options.ts";
import { PRECISION_NANOS } from "./line-source.ts";

const FLAGS: readonly Flag[] = [
  ...SERVER_FLAGS,
  { name: "format", short: "F", value: "<name>", help: `${IMPORT_FORMATS.join(", ")} (default: by the file's name and first bytes)` },
  { name: "table", short: "t", value: "<name>", help: "of csv, json, parquet: the table (default: the file's name)" },
  { name: "time", value: "<column>", help: "of a table to be made: its time index (default: the first column of times)" },
  { name: "tags", value: "<a,b>", help: "of a table to be made: the columns that tell series apart" },
  { name: "append", help: "of a table to be made: keep every row" },
  {
    name: "precision",
    value: "<unit>",
    help: "unit of times in line protocol, and of whole numbers that are times: s, ms, us, ns (default: ns)",
  },
  { name: "delimiter", value: "<char>", help: "of csv (default: ,)" },
  {
    name: "remote-read",
    value: "<url>",
    help: "read series of a Prometheus instead of files; VARVE_REMOTE_AUTHORIZATION is sent as Authorization",
    secret: true,
  },
  { name: "match", value: "<selector>", help: 'of --remote-read: which series, such as {job="node"}' },
  { name: "from", value: "<time>", help: "of --remote-read: from when, as RFC 3339 or seconds" },
  { name: "to", value: "<time>", help: "of --remote-read: until when (default: now)" },
  { name: "connections", value: "<n>", help: "requests on their way at once (default: 4)" },
  { name: "batch-rows", value: "<n>", help: "most rows of a request (default: 10000)" },
  { name: "skip-bad-rows", help: "go on behind rows that the server refuses, and tell them" },
  { name: "restart", help: "forget what an earlier, unfinished import of the same source did" },
  { name: "in-doubt", value: "<what>", help: "send or skip: rows of which nobody knows whether they are in a table that keeps every row" },
];

/** See the file header. */
export const importTool: ToolProgram = {
  flags: FLAGS,
  help: () =>
    helpText({
      about: "Reads files, or another server, into a running server.",
      usage: ["varve import [flags] <file>…", "varve import [flags] --remote-read <url> --match <selector>"],
      examples: [
        "varve import metrics.lp.gz                        line protocol; tables are made as they come",
        "varve import export.txt                           an export of InfluxDB 1.x (influx_inspect export)",
        "varve import cpu.csv --table cpu --tags host      types are guessed where there is no table cpu",
        "varve import cpu.parquet events.ndjson",
        "varve import /var/lib/prometheus/01HQ…            a block of Prometheus",
        "varve import --remote-read http://prometheus:9090/api/v1/read --match '{job=\"node\"}' --from 2024-01-01T00:00:00Z",
      ],
      flags: FLAGS,
      notes: [
        "After Ctrl-C, a crash or a kill the same command goes on where it was, and no row comes twice.",
        "Exit status: 0 all is there, 1 something failed (what was acknowledged stays), 2 wrong flags, 130 stopped.",
      ],
    }),
  run: async (args, io) => {
    const values = readFlags(args, FLAGS);
    const options = optionsOf(values);
    const client = new Client(await serverOf(values, io));
    return await importAll(client, options, io);
  },
};

function optionsOf(flags: FlagValues): ImportOptions {
  const { values, words } = flags;
  const usage = (why: string): ConfigError => new ConfigError(why, EXIT_USAGE);
  const remote = values.get("remote-read");
  if (remote === undefined && words.length === 0) throw usage("no file is given: varve import [flags] <file>…");
  if (remote !== undefined && words.length > 0) throw usage("both files and --remote-read are given");
  for (const name of ["match", "from", "to"])
    if (remote === undefined && values.has(name)) throw usage(`--${name} has no effect without --remote-read`);
  const format = values.get("format");
  const precision = values.get("precision") ?? "ns";
  if (!Object.hasOwn(PRECISION_NANOS, precision)) throw usage("unknown --precision: want s, ms, us or ns");
  const inDoubt = values.get("in-doubt");
  if (inDoubt !== undefined && inDoubt !== "send" && inDoubt !== "skip") throw usage("unknown --in-doubt: want send or skip");
  if (values.has("table") && words.length > 1) throw usage("--table is for one file");
  return {
    files: words,
    format: format === undefined ? undefined : formatNamed(format),
    table: values.get("table"),
    time: values.get("time"),
    tags: values
      .get("tags")
      ?.split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ""),
    append: values.has("append"),
    precision,
    delimiter: values.get("delimiter"),
    remote: remote === undefined ? undefined : { url: remote, match: values.get("match"), from: values.get("from"), to: values.get("to") },
    connections: countOf(flags, "connections", 4, 64),
    rowsMax: countOf(flags, "batch-rows", 10_000, 50_000),
    skipsBadRows: values.has("skip-bad-rows"),
    isDatabaseGiven: values.has("db"),
    restarts: values.has("restart"),
    inDoubt,
  };
}
