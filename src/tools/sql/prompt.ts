/**
 * The prompt on a terminal: lines by node:readline, statements of several lines, Tab, history.
 *
 *   keys ─► readline ─► lines, one after the other ─► buffer until `;` ─► SqlSession.run
 *
 * Ctrl-C ends the statement that runs, and at the prompt drops what was typed. Lines that are typed ahead wait for their turn.
 */
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { errorText } from "../../base/error.ts";
import { stateFolder } from "../common/state-folder.ts";
import type { ToolIo } from "../tool.ts";
import { runCommand } from "./commands.ts";
import { completions, KnownNames } from "./completion.ts";
import { addHistory, HISTORY_MAX, keptLine, readHistory } from "./history.ts";
import type { SqlSession } from "./session.ts";
import { type CutStatement, cutStatements, hasCode } from "./statements.ts";

/** readline as it is: its history is an array, the newest line first. */
type Lines = Interface & { history?: string[] };

/** Talks until the end of input or `\q`. */
export async function prompt(session: SqlSession, io: ToolIo): Promise<void> {
  const talk = new Talk(session, io);
  await talk.begin();
  try {
    await talk.ended;
  } finally {
    await talk.end();
  }
}

class Talk {
  readonly ended: Promise<void>;
  private readonly session: SqlSession;
  private readonly io: ToolIo;
  private readonly lines: Lines;
  private readonly names: KnownNames;
  private readonly historyPath: string | undefined;
  private readonly typed: string[] = [];
  private readonly waiting: string[] = [];
  private leave: () => void = () => undefined;
  private buffer = "";
  private isWorking = false;
  private isLeaving = false;
  private running: AbortController | undefined;

  constructor(session: SqlSession, io: ToolIo) {
    this.session = session;
    this.io = io;
    this.names = new KnownNames(session.client);
    const folder = stateFolder(io.env);
    this.historyPath = folder === undefined ? undefined : join(folder, "history");
    this.ended = new Promise((resolve) => {
      this.leave = resolve;
    });
    this.lines = createInterface({
      input: process.stdin,
      output: process.stdout,
      terminal: true,
      historySize: HISTORY_MAX,
      removeHistoryDuplicates: true,
      completer: (line: string): [string[], string] => {
        const [offered, part] = completions(this.buffer, line, this.names.now());
        return [[...offered], part];
      },
    });
  }

  async begin(): Promise<void> {
    const { lines, session, io } = this;
    try {
      if (this.historyPath !== undefined) lines.history?.splice(0, 0, ...(await readHistory(this.historyPath)).reverse());
    } catch (thrown) {
      io.err(`the history cannot be read: ${errorText(thrown)}\n`);
    }
    lines.on("line", (line) => {
      this.waiting.push(line);
      void this.work(); // It never rejects: what fails is told on the terminal.
    });
    lines.on("SIGINT", () => this.interrupt());
    lines.on("close", () => {
      this.isLeaving = true;
      this.running?.abort(new Error("left"));
      if (!this.isWorking) this.leave();
    });
    io.interrupted.addEventListener("abort", () => lines.close());
    await io.out(`Connected to ${session.client.url}, database ${session.client.database}. \\? for help, \\q to leave.\n`);
    this.names.now();
    this.ask();
  }

  async end(): Promise<void> {
    this.lines.close();
    if (this.historyPath === undefined) return;
    try {
      await addHistory(this.historyPath, this.typed);
    } catch (thrown) {
      this.io.err(`the history cannot be kept: ${errorText(thrown)}\n`);
    }
  }

  private ask(): void {
    const { database } = this.session.client;
    this.lines.setPrompt(this.buffer === "" ? `${database}=> ` : `${" ".repeat(Math.max(0, database.length - 1))}-> `);
    this.lines.prompt();
  }

  private interrupt(): void {
    if (this.running !== undefined) {
      this.running.abort(new Error("cancelled"));
      return;
    }
    this.buffer = "";
    process.stdout.write("^C\n");
    // What was typed on this line goes; the cursor is behind it already.
    (this.lines as Lines & { line: string; cursor: number }).line = "";
    (this.lines as Lines & { line: string; cursor: number }).cursor = 0;
    this.ask();
  }

  /** Takes the lines that wait, one after the other. */
  private async work(): Promise<void> {
    if (this.isWorking) return;
    this.isWorking = true;
    try {
      for (let line = this.waiting.shift(); line !== undefined; line = this.waiting.shift()) {
        await this.take(line);
        if (this.isLeaving) break;
      }
    } catch (thrown) {
      this.io.err(`${errorText(thrown)}\n`);
    }
    this.isWorking = false;
    if (this.isLeaving) this.leave();
    else this.ask();
  }

  private async take(line: string): Promise<void> {
    if (this.buffer === "" && line.startsWith("\\")) return await this.command(line);
    if (this.buffer === "" && !hasCode(line)) return;
    if (this.buffer === "" && /^\s*(?:quit|exit)\s*;?\s*$/i.test(line)) return this.quit();
    this.forget(line);
    const isBegun = this.buffer !== "";
    this.buffer += `${line}\n`;
    if (isBegun && !line.includes(";")) return; // Not cut again at each line of what is pasted.
    const { statements, rest } = cutStatements(this.buffer);
    if (statements.length === 0 && hasCode(rest)) return;
    this.buffer = hasCode(rest) ? rest.replace(/^\s+/, "") : "";
    for (const statement of statements) {
      this.remember(`${statement.text};`);
      if (!(await this.run(statement))) break;
    }
  }

  private async command(line: string): Promise<void> {
    this.forget(line);
    this.remember(line);
    const end = runCommand(line, this.session);
    switch (end.kind) {
      case "done":
        return;
      case "quit":
        return this.quit();
      case "say":
        return await this.io.out(end.text);
      case "run":
        await this.run({ text: end.sql, line: 1 });
        return;
      case "use":
        return await this.session.use(end.database);
    }
  }

  private async run(statement: CutStatement): Promise<boolean> {
    this.running = new AbortController();
    try {
      return await this.session.run({ ...statement, line: 1 }, this.running.signal);
    } finally {
      this.running = undefined;
    }
  }

  private quit(): void {
    this.isLeaving = true;
  }

  /** Takes a line out of readline's history, which has each of a statement's lines by itself. */
  private forget(line: string): void {
    if (this.lines.history?.[0] === line) this.lines.history.shift();
  }

  private remember(statement: string): void {
    const line = keptLine(statement);
    if (line === undefined) return;
    this.typed.push(line);
    const { history } = this.lines;
    if (history !== undefined && history[0] !== line) history.unshift(line);
  }
}
