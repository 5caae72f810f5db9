/** A client of Flight SQL over connect-node's gRPC transport: commands in, rows out. */
import { create, type DescMessage, fromBinary, type MessageInitShape, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { type CallOptions, type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import {
  type FlightData,
  FlightDataSchema,
  FlightDescriptor_DescriptorType,
  FlightDescriptorSchema,
  type FlightInfo,
  FlightService,
} from "../../proto/gen/arrow/flight/Flight_pb.js";
import {
  ActionClosePreparedStatementRequestSchema,
  ActionCreatePreparedStatementRequestSchema,
  type ActionCreatePreparedStatementResult,
  ActionCreatePreparedStatementResultSchema,
  CommandPreparedStatementQuerySchema,
  CommandStatementQuerySchema,
  DoPutUpdateResultSchema,
} from "../../proto/gen/arrow/flight/FlightSql_pb.js";
import type { ColumnHeader } from "../../src/column/batch.ts";
import type { DataType } from "../../src/column/data-type.ts";
import { scalarAt } from "../../src/column/scalar.ts";
import type { Scalar } from "../../src/column/vector.ts";
import { vectorOf } from "../../src/column/vector-builder.ts";
import { encodeArrowBatch, encodeArrowSchema } from "../../src/format/arrow/encode-stream.ts";
import { ArrowReader } from "../../src/format/arrow/reading/arrow-reader.ts";

/** Columns that a client sends. */
export type SentColumns = readonly (readonly [name: string, type: DataType, values: readonly Scalar[]])[];

/** Rows of an answer, and its columns. */
export interface ReadAnswer {
  readonly headers: readonly ColumnHeader[];
  readonly rows: readonly (readonly Scalar[])[];
}

/** An Any around a command. */
export function anyOf<D extends DescMessage>(schema: D, init: MessageInitShape<D>): Uint8Array<ArrayBuffer> {
  const value = toBinary(schema, create(schema, init));
  return toBinary(AnySchema, create(AnySchema, { typeUrl: `type.googleapis.com/${schema.typeName}`, value }));
}

/** See the file header. */
export class FlightSqlClient {
  readonly flight: Client<typeof FlightService>;
  readonly options: CallOptions;
  private readonly manager: Http2SessionManager;

  /** @param headers of every call */
  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.manager = new Http2SessionManager(url);
    this.flight = createClient(FlightService, createGrpcTransport({ baseUrl: url, sessionManager: this.manager }));
    this.options = { headers };
  }

  close(): void {
    this.manager.abort();
  }

  info(cmd: Uint8Array): Promise<FlightInfo> {
    const descriptor = create(FlightDescriptorSchema, { type: FlightDescriptor_DescriptorType.CMD, cmd });
    return this.flight.getFlightInfo(descriptor, this.options);
  }

  /** Rows of a ticket. */
  async fetch(ticket: Uint8Array): Promise<ReadAnswer> {
    const reader = new ArrowReader();
    let headers: readonly ColumnHeader[] = [];
    const rows: Scalar[][] = [];
    for await (const { dataHeader, dataBody } of this.flight.doGet({ ticket }, this.options)) {
      const message = reader.read(dataHeader, dataBody);
      if (message.kind === "schema") ({ headers } = message);
      if (message.kind !== "batch") continue;
      const { rowCount, vectors } = message.batch;
      for (let row = 0; row < rowCount; row++) rows.push(headers.map(({ type }, i) => scalarAt(vectors[i]!, type, row)));
    }
    return { headers, rows };
  }

  /** Asks for a command and fetches what it gives. */
  async read<D extends DescMessage>(schema: D, init: MessageInitShape<D>): Promise<ReadAnswer> {
    const { endpoint } = await this.info(anyOf(schema, init));
    const ticket = endpoint[0]?.ticket?.ticket;
    return ticket === undefined ? { headers: [], rows: [] } : this.fetch(ticket);
  }

  /** Rows of a statement. */
  async sql(query: string): Promise<readonly (readonly Scalar[])[]> {
    return (await this.read(CommandStatementQuerySchema, { query })).rows;
  }

  /** Messages of a DoPut. @param batches how often the columns are sent */
  messages(cmd: Uint8Array, columns: SentColumns | undefined, batches = 1): FlightData[] {
    const flightDescriptor = create(FlightDescriptorSchema, { type: FlightDescriptor_DescriptorType.CMD, cmd });
    if (columns === undefined) return [create(FlightDataSchema, { flightDescriptor })];
    const headers = columns.map(([name, type]) => ({ name, type }));
    const batch = { rowCount: columns[0]?.[2].length ?? 0, vectors: columns.map(([, type, values]) => vectorOf(type, values)) };
    const schema = dataOf(encodeArrowSchema(headers));
    schema.flightDescriptor = flightDescriptor;
    return [schema, ...Array.from({ length: batches }, () => dataOf(encodeArrowBatch(headers, batch, undefined)))];
  }

  /** Sends messages, and gives the metadata of what comes back. */
  async put(messages: Iterable<FlightData> | AsyncIterable<FlightData>): Promise<readonly Uint8Array[]> {
    async function* stream(): AsyncIterable<FlightData> {
      yield* messages;
    }
    const results: Uint8Array[] = [];
    for await (const { appMetadata } of this.flight.doPut(stream(), this.options)) results.push(appMetadata);
    return results;
  }

  /** Runs an update. @returns its count of rows */
  async update<D extends DescMessage>(schema: D, init: MessageInitShape<D>, columns?: SentColumns, batches = 1): Promise<number> {
    const [result = new Uint8Array(0)] = await this.put(this.messages(anyOf(schema, init), columns, batches));
    return Number(fromBinary(DoPutUpdateResultSchema, result).recordCount);
  }

  /** Bodies of the results of an action. */
  async action(type: string, body: Uint8Array): Promise<readonly Uint8Array[]> {
    const bodies: Uint8Array[] = [];
    for await (const result of this.flight.doAction({ type, body }, this.options)) bodies.push(result.body);
    return bodies;
  }

  async prepare(query: string): Promise<ActionCreatePreparedStatementResult> {
    const [body = new Uint8Array(0)] = await this.action(
      "CreatePreparedStatement",
      anyOf(ActionCreatePreparedStatementRequestSchema, { query }),
    );
    return unpackedAs(ActionCreatePreparedStatementResultSchema, body);
  }

  async closePrepared(preparedStatementHandle: Uint8Array): Promise<void> {
    await this.action("ClosePreparedStatement", anyOf(ActionClosePreparedStatementRequestSchema, { preparedStatementHandle }));
  }

  /** Binds rows of parameters. */
  async bind(preparedStatementHandle: Uint8Array, columns: SentColumns): Promise<void> {
    await this.put(this.messages(anyOf(CommandPreparedStatementQuerySchema, { preparedStatementHandle }), columns));
  }

  /** Rows of a prepared statement. */
  async run(preparedStatementHandle: Uint8Array): Promise<readonly (readonly Scalar[])[]> {
    return (await this.read(CommandPreparedStatementQuerySchema, { preparedStatementHandle })).rows;
  }
}

/** Columns of a schema message. */
export function headersOf(schema: Uint8Array): readonly ColumnHeader[] {
  const { dataHeader, dataBody } = dataOf(new Uint8Array(schema));
  const message = new ArrowReader().read(dataHeader, dataBody);
  return message.kind === "schema" ? message.headers.map(({ name, type }) => ({ name, type })) : [];
}

function unpackedAs<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> {
  return fromBinary(schema, fromBinary(AnySchema, bytes).value);
}

/** An IPC message as Flight carries it. */
function dataOf(message: Uint8Array<ArrayBuffer>): FlightData {
  const end = 8 + new DataView(message.buffer, message.byteOffset).getUint32(4, true);
  return create(FlightDataSchema, { dataHeader: message.subarray(8, end), dataBody: message.subarray(end) });
}
