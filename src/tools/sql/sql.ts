/** `varve sql`: statements to a running server, from the command line, a file, a pipe, or a prompt. */
import { readFile } from "node:fs/promises";
import { errorText } from "../../base/error.ts";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { type Flag, readFlags } from "../../config/flag.ts";
import { Client } from "../common/client.ts";
import { helpText } from "../common/help.ts";
import { SERVER_FLAGS, serverOf } from "../common/server-flags.ts";
import { stdinLines } from "../common/stdin.ts";
import type { ToolIo, ToolProgram } from "../tool.ts";
import { formatNamed } from "./commands.ts";
import { prompt } from "./prompt.ts";
import { FORMATS, SqlSession } from "./session.ts";
import { cutStatements, lastStatement } from "./statements.ts";

const FLAGS: readonly Flag[] = [
  ...SERVER_FLAGS,
  { name: "file", short: "f", value: "<file>", help: "run the statements of a file" },
  { name: "format", short: "F", value: "<name>", help: `${FORMATS.join(", ")} (default: table on a terminal, else csv)` },
];

/** See the file header. */
export const sql: ToolProgram = {
  flags: FLAGS,
  help: () =>
    helpText({
      about: "Asks a running server in SQL. Without a statement: a prompt on a terminal, else statements from standard input.",
      usage: ["varve sql [flags] [statement]"],
      examples: [
        "varve sql                                         a prompt; \\? lists its commands",
        'varve sql "SELECT count(*) FROM cpu"',
        "varve sql --db telegraf -f report.sql -F csv > report.csv",
        'echo "SHOW TABLES" | varve sql --url https://db.example.org:4000 --user me',
      ],
      flags: FLAGS,
      notes: [
        "Exit status: 0 when all statements succeeded, 1 at the first that did not (with its line on standard error), 2 for wrong flags.",
        'csv: an empty field is NULL, "" the empty text. json: an object a line, NULL left out.',
        "Both print answers of any size as they come.",
      ],
    }),
  run: async (args, io) => {
    const values = readFlags(args, FLAGS);
    const [statement, ...more] = values.words;
    if (more.length > 0) throw new ConfigError("more than one statement is given: put them between one pair of quotes", EXIT_USAGE);
    const path = values.values.get("file");
    if (path !== undefined && statement !== undefined) throw new ConfigError("both a statement and --file are given", EXIT_USAGE);
    const asked = values.values.get("format");
    const format = asked === undefined ? (io.isTerminal.stdout ? "table" : "csv") : formatNamed(asked);
    if (format === undefined) throw new ConfigError(`unknown --format: want ${FORMATS.join(", ")}`, EXIT_USAGE);
    const client = new Client(await serverOf(values, io));
    const isPrompt = statement === undefined && path === undefined && io.isTerminal.stdin;
    const session = new SqlSession(client, io, format, isPrompt && io.isTerminal.stdout);
    if (isPrompt) {
      await prompt(session, io);
      return 0;
    }
    return await runAll(statement ?? (path === undefined ? await stdinLines(io).text() : await fileText(path)), session, io);
  },
};

/** Runs statements up to the first that fails. @returns the exit status */
async function runAll(text: string, session: SqlSession, io: ToolIo): Promise<number> {
  const cut = cutStatements(text.replace(/^\ufeff/, ""));
  const last = lastStatement(cut);
  for (const statement of last === undefined ? cut.statements : [...cut.statements, last]) {
    if (!(await session.run(statement, io.interrupted))) return io.interrupted.aborted ? 130 : 1;
  }
  return 0;
}

async function fileText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    const why = errorText(thrown);
    throw new ConfigError(`cannot read --file ${path}: ${why}`, EXIT_USAGE, { cause: thrown });
  }
}
