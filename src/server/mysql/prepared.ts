/**
 * Prepared statements of the binary protocol: parsed and described once, run with values as often as wanted, until they are closed.
 *
 *   PREPARE ─► id, types of parameters, columns as far as they are known
 *   SEND_LONG_DATA ─► pieces of a value, no answer      EXECUTE ─► values ─► rows in binary      RESET: pieces go      CLOSE: no answer
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type DataType, STRING } from "../../column/data-type.ts";
import { KeptStatements } from "../../query/kept-statements.ts";
import type { ParameterValue, PreparedQuery } from "../../query/prepared-query.ts";
import { MESSAGE_BYTES_MAX } from "../wire/limits.ts";
import { MalformedPacket, type PacketReader, utf8 } from "./codec.ts";
import { WireFailure } from "./errors.ts";
import { answerOwn, type OwnStatement, ownStatement } from "./own-statements.ts";
import { Capability } from "./packets.ts";
import { bytesValue, type GivenType, readValue } from "./parameter-values.ts";
import { statementsOf } from "./query.ts";
import { describeColumn, sendResult } from "./results.ts";
import type { Talk } from "./talk.ts";

/** Most parameters of a statement: what the protocol can count. */
const PARAMETERS_MAX = 0xffff;
/** Bit of EXECUTE's flags: the number of values is told, query attributes among them. */
const COUNT_IS_TOLD = 0x08;
const UNSIGNED = 0x80;

interface Prepared {
  readonly parameters: readonly (DataType | undefined)[];
  readonly run: { readonly kind: "own"; readonly text: string } | { readonly kind: "query"; readonly query: PreparedQuery };
  /** Types of the last EXECUTE, for those that come without. */
  types: readonly GivenType[];
  /** Pieces of values by parameter. */
  readonly long: Map<number, Uint8Array[]>;
}

/** See the file header. */
export class PreparedStatements {
  private readonly talk: Talk;
  private readonly byId: KeptStatements<number, Prepared>;
  private next = 1;
  /** Bytes of pieces that wait, and why the next EXECUTE is refused. */
  private longBytes = 0;
  private longProblem: Error | undefined;

  constructor(talk: Talk) {
    this.talk = talk;
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
    const long = new Map<number, Uint8Array[]>();
    if (statement === "" || ownStatement(statement, talk) !== undefined)
      return { parameters: [], run: { kind: "own", text: statement }, types: [], long };
    const run = talk.session.begin();
    try {
      const query = await talk.parts.db.prepare(statement, talk.session);
      if (query.parameters.length > PARAMETERS_MAX)
        throw new WireFailure(1390, "HY000", "Prepared statement contains too many placeholders");
      return { parameters: query.parameters, run: { kind: "query", query }, types: [], long };
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

  /** COM_STMT_EXECUTE. @throws WireFailure, DbError, MalformedPacket */
  async execute(reader: PacketReader): Promise<void> {
    const { talk } = this;
    const began = talk.parts.clock.monotonicMillis();
    const { database: db } = talk.session;
    const prepared = this.named(reader.u32(), "mysqld_stmt_execute");
    const problem = this.longProblem;
    this.longProblem = undefined;
    try {
      if (problem !== undefined) throw problem;
      await this.run(prepared, this.readValues(reader, prepared));
    } finally {
      this.dropLong(prepared);
    }
    talk.metrics.querySeconds.observe({ subprotocol: "binquery", db }, (talk.parts.clock.monotonicMillis() - began) / 1000);
  }

  private async run({ run }: Prepared, values: readonly ParameterValue[]): Promise<void> {
    const { talk } = this;
    const { session, parts } = talk;
    if (run.kind === "own") {
      const own = run.text === "" ? undefined : ownStatement(run.text, talk);
      if (own?.kind !== "show-warnings") session.connection.warnings.length = 0;
      return own === undefined ? talk.ok() : this.runOwn(own);
    }
    session.connection.warnings.length = 0;
    const statement = session.begin();
    try {
      for await (const result of parts.db.execute(run.query, values, session))
        await sendResult(talk, result, { isBinary: true, hasMore: false, signal: statement.signal });
    } finally {
      statement.pause();
    }
  }

  private runOwn(own: OwnStatement): Promise<void> {
    const { signal } = new AbortController();
    return sendResult(this.talk, answerOwn(own, this.talk), { isBinary: true, hasMore: false, signal });
  }

  /** COM_STMT_RESET. @throws WireFailure */
  reset(reader: PacketReader): void {
    this.dropLong(this.named(reader.u32(), "mysqld_stmt_reset"));
    this.longProblem = undefined;
    this.talk.ok();
  }

  /** COM_STMT_CLOSE: has no answer. @throws MalformedPacket */
  close(reader: PacketReader): void {
    const id = reader.u32();
    const prepared = this.byId.get(id);
    if (prepared !== undefined) this.dropLong(prepared);
    this.byId.delete(id);
  }

  /** COM_STMT_FETCH: all rows come with EXECUTE, and no cursor stays open. @throws WireFailure */
  fetch(reader: PacketReader): never {
    const id = reader.u32();
    this.named(id, "mysqld_stmt_fetch");
    throw new WireFailure(1421, "HY000", `The statement (${id}) has no open cursor.`);
  }

  /** Lets all go. */
  clear(): void {
    this.byId.clear();
    this.talk.session.memory.release(this.longBytes);
    this.longBytes = 0;
    this.longProblem = undefined;
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

  private readValues(reader: PacketReader, prepared: Prepared): readonly ParameterValue[] {
    const flags = reader.u8();
    reader.u32(); // always 1
    const hasAttributes = this.talk.has(Capability.QueryAttributes);
    const wanted = prepared.parameters.length;
    if (wanted === 0 && !(hasAttributes && (flags & COUNT_IS_TOLD) !== 0)) return [];
    const count = hasAttributes && (flags & COUNT_IS_TOLD) !== 0 ? reader.lenenc() : wanted;
    if (count < wanted) throw wrongCount(count, wanted);
    if (count === 0) return [];
    const nulls = reader.raw((count + 7) >> 3);
    if (reader.u8() === 1) prepared.types = readTypes(reader, count, hasAttributes);
    if (prepared.types.length < count) throw new MalformedPacket("values come without their types");
    const { timeZone } = this.talk.session;
    const values: ParameterValue[] = [];
    for (const [i, type] of prepared.types.slice(0, count).entries()) {
      const place = prepared.parameters[i];
      const pieces = prepared.long.get(i);
      const isNull = ((nulls[i >> 3] ?? 0) & (1 << (i & 7))) !== 0;
      if (pieces !== undefined) values.push(bytesValue(Buffer.concat(pieces), false, place));
      else if (isNull) values.push({ type: place ?? { kind: "null" }, value: undefined });
      else values.push(readValue(reader, type, place, timeZone));
    }
    return values.slice(0, wanted); // Attributes of a query follow the values, and nothing here asks for them.
  }
}

/** `type(1) flags(1)` of each value, and its name where attributes may be among them. */
function readTypes(reader: PacketReader, count: number, hasNames: boolean): readonly GivenType[] {
  if (count * 2 > reader.remaining) throw new MalformedPacket("a packet ends before its fields do");
  return Array.from({ length: count }, () => {
    const given = { type: reader.u8(), isUnsigned: (reader.u8() & UNSIGNED) !== 0 };
    if (hasNames) utf8(reader.lenencBytes());
    return given;
  });
}

/** Passes over the attributes before the text of COM_QUERY, which nothing here asks for. @throws MalformedPacket */
export function skipAttributes(reader: PacketReader): void {
  const count = reader.lenenc();
  reader.lenenc(); // how many sets of values: one
  if (count === 0) return;
  if (count > reader.remaining) throw new MalformedPacket("a packet ends before its fields do");
  const nulls = reader.raw((count + 7) >> 3);
  if (reader.u8() !== 1) throw new MalformedPacket("attributes come without their types");
  const types = readTypes(reader, count, true);
  for (const [i, type] of types.entries()) if (((nulls[i >> 3] ?? 0) & (1 << (i & 7))) === 0) readValue(reader, type, undefined, "UTC");
}

function wrongCount(count: number, wanted: number): DbError {
  const why = `Invalid request parameter: the statement has ${wanted} parameters, but ${count} values were given`;
  return new DbError(StatusCode.InvalidArguments, why);
}
