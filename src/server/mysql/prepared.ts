/**
 * Prepared statements of the binary protocol: parsed and described once, run with values as often as wanted, until they are closed.
 *
 *   PREPARE ─► id, types of parameters, columns as far as they are known
 *   SEND_LONG_DATA ─► pieces of a value, no answer      EXECUTE ─► values ─► rows in binary, or a cursor ─► FETCH ─► some rows
 *   RESET: pieces and cursor go                         CLOSE: no answer
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type DataType, STRING } from "../../column/data-type.ts";
import { CURSORS_MAX } from "../../query/connection.ts";
import { KeptStatements } from "../../query/kept-statements.ts";
import type { ParameterValue, PreparedQuery } from "../../query/prepared-query.ts";
import { MESSAGE_BYTES_MAX } from "../wire/limits.ts";
import type { PacketReader } from "./codec.ts";
import { Cursor } from "./cursor.ts";
import type { KnownForms } from "./known-forms.ts";
import { WireFailure } from "./errors.ts";
import { answerOwn, ownStatement, type PlainStatement } from "./own-statements.ts";
import { Capability } from "./packets.ts";
import { type NamedType, readGiven } from "./given-values.ts";
import { statementsOf } from "./query.ts";
import { describeColumn, sendResult } from "./results.ts";
import type { Talk } from "./talk.ts";

/** Most parameters of a statement: what the protocol can count. */
const PARAMETERS_MAX = 0xffff;
/** Bits of EXECUTE's flags: rows are to be fetched. */
const CURSOR_READ_ONLY = 0x01;
/** The number of values is told, query attributes among them. */
const COUNT_IS_TOLD = 0x08;

interface Prepared {
  readonly parameters: readonly (DataType | undefined)[];
  readonly run: { readonly kind: "own"; readonly text: string } | { readonly kind: "query"; readonly query: PreparedQuery };
  /** Types of the last EXECUTE, for those that come without. */
  types: readonly NamedType[];
  /** Pieces of values by parameter. */
  readonly long: Map<number, Uint8Array[]>;
  cursor: Cursor | undefined;
}

/** See the file header. */
export class PreparedStatements {
  private readonly talk: Talk;
  private readonly forms: KnownForms;
  private readonly byId: KeptStatements<number, Prepared>;
  private readonly withCursor: Set<Prepared> = new Set();
  private next = 1;
  /** Bytes of pieces that wait, and why the next EXECUTE is refused. */
  private longBytes = 0;
  private longProblem: Error | undefined;

  constructor(talk: Talk, forms: KnownForms) {
    this.talk = talk;
    this.forms = forms;
    this.byId = new KeptStatements(talk.session.memory);
  }

  /** COM_STMT_PREPARE. @throws WireFailure, DbError */
  async prepare(text: Uint8Array): Promise<void> {
    const { talk } = this;
    const { preparedMax } = talk.parts;
    if (this.byId.size >= preparedMax) {
      const why = `Can't create more than ${preparedMax} prepared statements on a connection (mysql.prepared_stmt_cache_size); close some`;
      throw new WireFailure(1461, "42000", why);
    }
    talk.session.connection.warnings.length = 0;
    const prepared = await this.understood(text);
    talk.metrics.prepared.inc({ db: talk.session.database });
    const id = this.next;
    this.next = id === 0xffff_ffff ? 1 : id + 1;
    if (!this.byId.set(id, prepared, text))
      throw new WireFailure(1041, "HY000", "Out of memory: this connection's prepared statements hold too much; close some (memory.limit)");
    this.tellPrepared(id, prepared);
  }

  private async understood(sent: Uint8Array): Promise<Prepared> {
    const { talk } = this;
    const { text, statements } = await statementsOf(sent, talk);
    if (statements.length > 1)
      throw new WireFailure(1149, "42000", "(InvalidSyntax): a prepared statement is one statement; send them one by one");
    const [only = { start: 0, end: 0 }] = statements;
    const statement = text.slice(only.start, only.end).trimEnd();
    const state = { types: [], long: new Map<number, Uint8Array[]>(), cursor: undefined };
    const own = ownStatement(statement, talk);
    if (own?.kind === "load")
      throw new WireFailure(1295, "HY000", "This command is not supported in the prepared statement protocol yet: LOAD DATA");
    if (statement === "" || own !== undefined) return { parameters: [], run: { kind: "own", text: statement }, ...state };
    const run = talk.session.begin();
    try {
      const query = await talk.parts.db.prepare(statement, talk.session);
      if (query.parameters.length > PARAMETERS_MAX)
        throw new WireFailure(1390, "HY000", "Prepared statement contains too many placeholders");
      return { parameters: query.parameters, run: { kind: "query", query }, ...state };
    } finally {
      run.pause();
    }
  }

  private tellPrepared(id: number, { parameters, run }: Prepared): void {
    const { talk } = this;
    const { packets } = talk;
    const columns = run.kind === "query" ? (run.query.columns ?? []) : [];
    const place = packets.begin();
    packets.outgoing.u8(0x00);
    packets.u32(id);
    packets.u16(columns.length);
    packets.u16(parameters.length);
    packets.outgoing.u8(0);
    packets.u16(0); // warnings
    packets.end(place);
    for (const type of parameters) describeColumn(packets, { name: "?", type: type ?? STRING });
    if (parameters.length > 0) talk.endDefinitions();
    for (const column of columns) describeColumn(packets, column);
    if (columns.length > 0) talk.endDefinitions();
  }

  /** COM_STMT_SEND_LONG_DATA: has no answer, so that what is wrong with it is told by the next EXECUTE. @throws MalformedPacket */
  sendLongData(reader: PacketReader): void {
    const prepared = this.byId.get(reader.u32());
    const parameter = reader.u16();
    const data = reader.rest();
    if (prepared === undefined || parameter >= prepared.parameters.length) {
      this.longProblem ??= new WireFailure(1210, "HY000", "Incorrect arguments to mysqld_stmt_send_long_data");
    } else if (this.longBytes + data.length > MESSAGE_BYTES_MAX) {
      this.longProblem ??= new WireFailure(1301, "HY000", `values sent in pieces are longer than ${MESSAGE_BYTES_MAX} bytes together`);
    } else if (!this.talk.session.memory.keep(data.length)) {
      this.longProblem ??= new WireFailure(1041, "HY000", "Out of memory: there is no room for values sent in pieces (memory.limit)");
    } else {
      this.longBytes += data.length;
      const pieces = prepared.long.get(parameter) ?? [];
      pieces.push(data.slice());
      prepared.long.set(parameter, pieces);
    }
  }

  /** COM_STMT_EXECUTE. Without a promise where its rows can be read at once. @throws WireFailure, DbError, MalformedPacket */
  execute(reader: PacketReader): Promise<void> | undefined {
    const began = this.talk.parts.clock.monotonicMillis();
    const { database } = this.talk.session;
    const prepared = this.named(reader.u32(), "mysqld_stmt_execute");
    const problem = this.longProblem;
    this.longProblem = undefined;
    let isLeft = false;
    try {
      if (problem !== undefined) throw problem;
      const flags = reader.u8();
      const values = this.readValues(reader, prepared, flags);
      const wantsCursor = (flags & CURSOR_READ_ONLY) !== 0;
      if (wantsCursor || prepared.cursor !== undefined || !this.runAtOnce(prepared, values)) {
        isLeft = true;
        return this.executeInTurns(prepared, values, wantsCursor).then(() => this.timed(began, database));
      }
    } finally {
      if (!isLeft) this.dropLong(prepared);
    }
    this.timed(began, database);
    return undefined;
  }

  private async executeInTurns(prepared: Prepared, values: readonly ParameterValue[], wantsCursor: boolean): Promise<void> {
    try {
      await this.closeCursor(prepared);
      await this.run(prepared, values, wantsCursor);
    } finally {
      this.dropLong(prepared);
    }
  }

  private timed(began: number, db: string): void {
    const { metrics, parts } = this.talk;
    metrics.querySeconds.observe({ subprotocol: "binquery", db }, (parts.clock.monotonicMillis() - began) / 1000);
  }

  /** Tells all rows; false where they have to be waited for. */
  private runAtOnce({ run }: Prepared, values: readonly ParameterValue[]): boolean {
    const { session, parts } = this.talk;
    const answer = run.kind === "query" ? parts.db.executeAtOnce(run.query, values, session) : undefined;
    if (answer !== undefined) this.forms.send(answer, true);
    return answer !== undefined;
  }

  private async run(prepared: Prepared, values: readonly ParameterValue[], wantsCursor: boolean): Promise<void> {
    const { talk } = this;
    const { run } = prepared;
    const { session, parts } = talk;
    if (run.kind === "own") {
      const own = run.text === "" ? undefined : ownStatement(run.text, talk);
      if (own?.kind === "load") throw new WireFailure(1105, "HY000", "a statement that was prepared has become LOAD DATA");
      if (own?.kind !== "show-warnings") session.connection.warnings.length = 0;
      return own === undefined ? talk.ok() : this.runOwn(own);
    }
    session.connection.warnings.length = 0;
    const statement = session.begin();
    try {
      if (wantsCursor) {
        this.checkCursors();
        prepared.cursor = await Cursor.open(talk, statement, parts.db.execute(run.query, values, session));
        if (prepared.cursor !== undefined) this.withCursor.add(prepared);
        return;
      }
      for await (const result of parts.db.execute(run.query, values, session))
        await sendResult(talk, result, { isBinary: true, hasMore: false, signal: statement.signal });
    } finally {
      statement.pause();
    }
  }

  private runOwn(own: PlainStatement): Promise<void> {
    const { signal } = new AbortController();
    return sendResult(this.talk, answerOwn(own, this.talk), { isBinary: true, hasMore: false, signal });
  }

  private checkCursors(): void {
    if (this.withCursor.size < CURSORS_MAX) return;
    const why = `Can't open a cursor: the connection has ${CURSORS_MAX}; fetch one to its end, or close it`;
    throw new WireFailure(1461, "42000", why);
  }

  /** COM_STMT_RESET. @throws WireFailure */
  async reset(reader: PacketReader): Promise<void> {
    const prepared = this.named(reader.u32(), "mysqld_stmt_reset");
    this.dropLong(prepared);
    this.longProblem = undefined;
    await this.closeCursor(prepared);
    this.talk.ok();
  }

  /** COM_STMT_CLOSE: has no answer. @throws MalformedPacket */
  async close(reader: PacketReader): Promise<void> {
    const id = reader.u32();
    const prepared = this.byId.get(id);
    this.byId.delete(id);
    if (prepared === undefined) return;
    this.dropLong(prepared);
    await this.closeCursor(prepared);
  }

  /** COM_STMT_FETCH. A cursor ends with its last row, and where it fails. @throws WireFailure, DbError, MalformedPacket */
  async fetch(reader: PacketReader): Promise<void> {
    const id = reader.u32();
    const count = reader.u32();
    const prepared = this.named(id, "mysqld_stmt_fetch");
    const { cursor } = prepared;
    if (cursor === undefined) throw new WireFailure(1421, "HY000", `The statement (${id}) has no open cursor.`);
    let hasMore = false;
    try {
      hasMore = await cursor.fetch(count);
    } finally {
      if (!hasMore) await this.closeCursor(prepared);
    }
  }

  /** Lets all go. */
  async clear(): Promise<void> {
    this.byId.clear();
    this.talk.session.memory.release(this.longBytes);
    this.longBytes = 0;
    this.longProblem = undefined;
    for (const prepared of this.withCursor) await this.closeCursor(prepared);
  }

  private async closeCursor(prepared: Prepared): Promise<void> {
    const { cursor } = prepared;
    prepared.cursor = undefined;
    this.withCursor.delete(prepared);
    await cursor?.close();
  }

  private readValues(reader: PacketReader, prepared: Prepared, flags: number): readonly ParameterValue[] {
    reader.u32(); // always 1
    const { parameters, types, long } = prepared;
    const { session } = this.talk;
    const hasNames = this.talk.has(Capability.QueryAttributes);
    const hasCount = hasNames && (flags & COUNT_IS_TOLD) !== 0;
    const given = readGiven(reader, { parameters, types, long, hasNames, hasCount, timeZone: session.timeZone });
    if ("tooFew" in given) throw wrongCount(given.tooFew, parameters.length);
    prepared.types = given.types;
    session.connection.attributes = given.attributes;
    return given.values;
  }

  private named(id: number, what: string): Prepared {
    const prepared = this.byId.get(id);
    if (prepared === undefined) throw new WireFailure(1243, "HY000", `Unknown prepared statement handler (${id}) given to ${what}`);
    return prepared;
  }

  private dropLong({ long }: Prepared): void {
    let bytes = 0;
    for (const pieces of long.values()) for (const piece of pieces) bytes += piece.length;
    this.longBytes -= bytes;
    this.talk.session.memory.release(bytes);
    long.clear();
  }
}

function wrongCount(count: number, wanted: number): DbError {
  const why = `Invalid request parameter: the statement has ${wanted} parameters, but ${count} values were given`;
  return new DbError(StatusCode.InvalidArguments, why);
}
