/** `varve export`: a table, a query, or whole databases of a running server into files. */
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { type Flag, readFlags } from "../../config/flag.ts";
import { Client } from "../common/client.ts";
import { helpText } from "../common/help.ts";
import { quotedName } from "../common/names.ts";
import { SERVER_FLAGS, serverOf } from "../common/server-flags.ts";
import type { ToolProgram } from "../tool.ts";
import { exportDatabases, exportRows } from "./export-run.ts";
import { EXPORT_FORMATS, formatOfName } from "./formats.ts";

const FLAGS: readonly Flag[] = [
  ...SERVER_FLAGS,
  { name: "query", short: "q", value: "<sql>", help: "export the rows of a query" },
  { name: "all", help: "export all tables of the database, or of all databases without --db, into the folder of --output" },
  { name: "output", short: "o", value: "<path>", help: "the file, a folder with --all, or - for standard output" },
  { name: "format", short: "F", value: "<name>", help: `${EXPORT_FORMATS.join(", ")} (default: by the file's name, else csv)` },
];

/** See the file header. */
export const exportTool: ToolProgram = {
  flags: FLAGS,
  help: () =>
    helpText({
      about: "Writes rows of a running server into files.",
      usage: [
        "varve export [flags] <table> -o <file>",
        "varve export [flags] --query <sql> -o <file>",
        "varve export [flags] --all -o <folder>",
      ],
      examples: [
        "varve export cpu -o cpu.parquet",
        "varve export -q \"SELECT * FROM cpu WHERE host = 'a'\" -F json -o -",
        "varve export --all -o backup                      a folder a database: schema.sql and a Parquet file a table",
        "varve sql --db telegraf -f backup/telegraf/schema.sql && varve import --db telegraf backup/telegraf/*.parquet",
      ],
      flags: FLAGS,
      notes: [
        "A file is there once it is whole. --all leaves out tables whose file is there: run it again to go on.",
        "lines is line protocol, json an object a line, arrow an IPC stream. What a format cannot hold is refused, never dropped.",
      ],
    }),
  run: async (args, io) => {
    const flags = readFlags(args, FLAGS);
    const { values, words } = flags;
    const usage = (why: string): ConfigError => new ConfigError(why, EXIT_USAGE);
    const [table, ...more] = words;
    const query = values.get("query");
    const path = values.get("output");
    const isAll = values.has("all");
    if (path === undefined) throw usage("--output is missing: name a file, a folder for --all, or - for standard output");
    if (more.length > 0) throw usage("more than one table is given: use --all, or one command a table");
    if (Number(table !== undefined) + Number(query !== undefined) + Number(isAll) !== 1)
      throw usage("want one of a table, --query and --all");
    const asked = values.get("format")?.toLowerCase();
    const format = asked === undefined ? (formatOfName(path) ?? "csv") : EXPORT_FORMATS.find((name) => name === asked);
    if (format === undefined) throw usage(`unknown --format: want ${EXPORT_FORMATS.join(", ")}`);
    if (isAll && (asked !== undefined || path === "-")) throw usage("--all writes Parquet into a folder: leave --format and - out");
    const client = new Client(await serverOf(flags, io));
    const { database } = client;
    if (isAll) await exportDatabases(client, values.has("db") ? database : undefined, path, io);
    else await exportRows(client, { database, table, statement: query ?? `SELECT * FROM ${quotedName(table ?? "")}`, format, path }, io);
    return 0;
  },
};
