/** What a line means that begins with a backslash. */
import { FORMATS, type Format, type SqlSession } from "./session.ts";
import { nearestName } from "../../base/text/nearest.ts";

/** What the prompt does next. */
export type CommandEnd =
  | { readonly kind: "done" | "quit" }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "run"; readonly sql: string }
  | { readonly kind: "use"; readonly database: string };

interface Command {
  readonly usage: string;
  readonly help: string;
  run(argument: string, session: SqlSession): CommandEnd;
}

const DONE: CommandEnd = { kind: "done" };
const say = (text: string): CommandEnd => ({ kind: "say", text });
const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const TABLES =
  'SELECT table_name AS "table", lower(table_type) AS kind, engine, table_rows AS "rows (about)" ' +
  "FROM information_schema.tables WHERE table_schema = ";

const COMMANDS: Readonly<Record<string, Command>> = {
  "?": { usage: "\\?", help: "this list", run: () => say(commandHelp()) },
  q: { usage: "\\q", help: "leave; so does Ctrl-D", run: () => ({ kind: "quit" }) },
  l: { usage: "\\l", help: "databases", run: () => ({ kind: "run", sql: "SHOW DATABASES" }) },
  c: {
    usage: "\\c <db>",
    help: "go to another database",
    run: (argument, { client }) =>
      argument === "" ? say(`in database ${client.database} of ${client.url}\n`) : { kind: "use", database: argument },
  },
  dt: {
    usage: "\\dt",
    help: "tables of the database",
    run: (_, { client }) => ({ kind: "run", sql: `${TABLES}${sqlText(client.database)} AND table_type = 'BASE TABLE' ORDER BY 1` }),
  },
  d: {
    usage: "\\d [table]",
    help: "tables and views, or the columns of one",
    run: (argument, { client }) =>
      argument === ""
        ? { kind: "run", sql: `${TABLES}${sqlText(client.database)} ORDER BY 1` }
        : { kind: "run", sql: `DESC TABLE ${/^[\w.]+$/.test(argument) || /^["`]/.test(argument) ? argument : quoted(argument)}` },
  },
  x: {
    usage: "\\x",
    help: "a line a value, or rows again",
    run: (_, session) => {
      session.format = session.format === "vertical" ? "table" : "vertical";
      return say(`format is ${session.format}\n`);
    },
  },
  timing: {
    usage: "\\timing",
    help: "whether the time of a statement is said",
    run: (_, session) => {
      session.isTimed = !session.isTimed;
      return say(`timing is ${session.isTimed ? "on" : "off"}\n`);
    },
  },
  format: {
    usage: "\\format [name]",
    help: `how rows are printed: ${FORMATS.join(", ")}`,
    run: (argument, session) => {
      const format = argument === "" ? session.format : formatNamed(argument);
      if (format === undefined) return say(`no format ${argument}; there are ${FORMATS.join(", ")}\n`);
      session.format = format;
      return say(`format is ${format}\n`);
    },
  },
};

/** The format of that name. */
export function formatNamed(name: string): Format | undefined {
  return FORMATS.find((format) => format === name.toLowerCase());
}

/** Names of the commands, with their backslash. */
export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS).map((name) => `\\${name}`);

/** Carries out a line that begins with a backslash. */
export function runCommand(line: string, session: SqlSession): CommandEnd {
  const [, name = "", argument = ""] = /^\\(\S*)\s*([^]*?)[\s;]*$/.exec(line) ?? [];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command !== undefined) return command.run(argument, session) ?? DONE;
  const nearest = name.length > 1 ? nearestName(name, Object.keys(COMMANDS)) : undefined;
  return say(`no command \\${name}: ${nearest === undefined ? "\\? lists them" : `did you mean \\${nearest}?`}\n`);
}

function commandHelp(): string {
  const width = Math.max(...Object.values(COMMANDS).map(({ usage }) => usage.length));
  const lines = Object.values(COMMANDS).map(({ usage, help }) => `  ${usage.padEnd(width)}  ${help}`);
  return `Statements end with ;\n${lines.join("\n")}\n  ${"Ctrl-C".padEnd(width)}  ends the statement that runs, or drops what was typed\n`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
