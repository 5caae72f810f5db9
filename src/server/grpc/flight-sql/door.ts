/** Flight SQL as Flight's service asks for it: calls become callers, messages commands. */
import type { Any } from "@bufbuild/protobuf/wkt";
import type { Batch } from "../../../column/batch.ts";
import type { Call } from "../call.ts";
import { flightFrame } from "../flight/flight-data.ts";
import type { FlightSqlDoor } from "../flight/flight-sql-door.ts";
import type { PutStream } from "../flight/put-stream.ts";
import { messageOf } from "./any.ts";
import type { ArrowInput } from "./arrow-input.ts";
import type { FlightCaller } from "./caller.ts";
import type { FlightSql } from "./flight-sql.ts";

/** The door to Flight SQL. */
export function flightSqlDoor(flightSql: FlightSql): FlightSqlDoor {
  return {
    actions: flightSql.listActions(),
    getFlightInfo: async (command, descriptor, call) => flightSql.getFlightInfo(messageOf(command), descriptor, await callerOf(call)),
    getSchema: async (command, _descriptor, call) => ({ schema: await flightSql.getSchema(messageOf(command), await callerOf(call)) }),
    async *doGet(command: Any, call: Call) {
      for await (const { dataHeader, dataBody } of flightSql.doGet(messageOf(command), await callerOf(call)))
        yield flightFrame({ metadata: dataHeader, body: [dataBody], bodyLength: dataBody.length });
    },
    async *doPut(command: Any, stream: PutStream, call: Call) {
      yield await flightSql.doPut(messageOf(command), inputOf(stream), await callerOf(call));
    },
    doAction(action, call) {
      if (!flightSql.knowsAction(action.type)) return undefined;
      return (async function* () {
        yield* await flightSql.doAction(action, await callerOf(call));
      })();
    },
  };
}

/** Who calls. @throws DbError for credentials that are wrong or missing */
async function callerOf(call: Call): Promise<FlightCaller> {
  const user = await call.user();
  const { database, timeZone } = call.session(user);
  const { client, signal, headers: requestHeader, answerHeaders: responseHeader } = call;
  const ingest = call.metrics.ingest.of("flight_sql");
  return { user, client, signal, ingest, database, timeZone, requestHeader, responseHeader, signIn: call.bearer()?.id };
}

/** What a client puts. */
export function inputOf(stream: PutStream): ArrowInput | undefined {
  const { headers } = stream;
  if (headers === undefined) return undefined;
  async function* batches(): AsyncIterable<Batch> {
    for await (const { batch } of stream.batches()) yield batch;
  }
  return { columns: headers, batches: batches() };
}
