/** What a prompt or a script keeps between statements, and how one statement is run and printed. */
import { systemClock } from "../../base/clock.ts";
import type { Client } from "../common/client.ts";
import { counted, shownMillis } from "../common/shown.ts";
import type { ToolIo } from "../tool.ts";
import { failureText } from "./error-text.ts";
import type { CutStatement } from "./statements.ts";
import { type Printed, printTable } from "./table-format.ts";
import { printCsv, printJson, printVertical } from "./text-formats.ts";

/** How rows are printed. */
export const FORMATS = ["table", "csv", "json", "vertical"] as const;

/** A way to print rows. */
export type Format = (typeof FORMATS)[number];

/** `USE db` and `SET time_zone = '…'`: over HTTP each request says these itself, so they change what is said. */
const USE = /^use\s+("[^"]+"|`[^`]+`|[\w-]+)$/i;
const SET_TIME_ZONE = /^set\s+(?:session\s+)?time_?\s?zone\s*(?:=|to)?\s*'([^']+)'$/i;

/** See the file header. */
export class SqlSession {
  format: Format;
  isTimed: boolean;
  readonly client: Client;
  /** Whether people read it: then rows are counted, lines cut to the terminal. */
  private readonly isShown: boolean;
  private readonly io: ToolIo;

  constructor(client: Client, io: ToolIo, format: Format, isShown: boolean) {
    this.client = client;
    this.io = io;
    this.format = format;
    this.isShown = isShown;
    this.isTimed = isShown;
  }

  /** Runs one statement and prints what it answers, or why it failed. @returns whether it succeeded */
  async run(statement: CutStatement, signal?: AbortSignal): Promise<boolean> {
    const { io } = this;
    const started = systemClock.monotonicMillis();
    try {
      await this.answer(statement.text, started, signal);
      return true;
    } catch (thrown) {
      if (signal?.aborted === true) io.err("cancelled\n");
      else io.err(failureText(thrown, statement, !this.isShown));
      return false;
    }
  }

  private async answer(text: string, started: number, signal: AbortSignal | undefined): Promise<void> {
    const { client, io } = this;
    if (await this.changeSession(text, signal)) return;
    const answer = await client.run(text, signal);
    if (answer.kind === "done") {
      const rows = answer.rowCount === undefined ? "done" : `${counted(answer.rowCount, "row")} affected`;
      if (this.isShown) await io.out(`${rows}${this.timeSince(started)}\n`);
      return;
    }
    const { rowCount, hint } = await this.print(answer);
    if (!this.isShown) return;
    const isText = this.format === "table" || this.format === "vertical";
    const told = `(${counted(rowCount, "row")}${this.timeSince(started)})\n${hint === undefined ? "" : `${hint}\n`}`;
    // Behind CSV and JSON it is no part of what is printed.
    if (isText) await io.out(told);
    else io.err(told);
  }

  private async print(rows: Parameters<typeof printTable>[0]): Promise<Printed> {
    const write = async (text: string | Uint8Array): Promise<void> => this.io.out(text);
    switch (this.format) {
      case "table":
        return await printTable(rows, write, this.isShown ? process.stdout.columns : undefined);
      case "vertical":
        return await printVertical(rows, write);
      case "csv":
        return await printCsv(rows, write);
      case "json":
        return await printJson(rows, write);
    }
  }

  /** Statements about the session itself. @returns whether it was one @throws Refusal for a database that is not there */
  private async changeSession(text: string, signal: AbortSignal | undefined): Promise<boolean> {
    const database = USE.exec(text)?.[1]?.replace(/["`]/g, "");
    if (database !== undefined) await this.use(database, signal);
    const zone = SET_TIME_ZONE.exec(text)?.[1];
    if (zone !== undefined) {
      const before = this.client.timeZone;
      this.client.timeZone = zone;
      try {
        await this.client.rows("SELECT 1", signal);
      } catch (thrown) {
        this.client.timeZone = before;
        throw thrown;
      }
    }
    return database !== undefined || zone !== undefined;
  }

  /** Goes to another database. @throws Refusal */
  async use(database: string, signal?: AbortSignal): Promise<void> {
    await this.client.rows("SELECT 1", signal, database);
    this.client.database = database;
    if (this.isShown) await this.io.out(`now in database ${database}\n`);
  }

  private timeSince(started: number): string {
    return this.isTimed ? `, ${shownMillis(systemClock.monotonicMillis() - started)}` : "";
  }
}
