/** What doors of the gRPC server share: clients by address, and what a call came to. */
import type { DescService } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Answer } from "./door.ts";

/** Clients of one service, one for each server that runs: a killed one leaves its connection broken. */
export function clientsOf<S extends DescService>(service: S): (baseUrl: string) => Client<S> {
  const clients = new Map<string, Client<S>>();
  return (baseUrl) => {
    const client = clients.get(baseUrl) ?? createClient(service, createGrpcTransport({ baseUrl }));
    clients.set(baseUrl, client);
    return client;
  };
}

/** Nothing was heard of a call that the server gave no code of its own. */
export function failureOf(thrown: unknown): Answer {
  const error = ConnectError.from(thrown);
  const code = error.metadata.get("x-greptime-err-code");
  return code === null ? undefined : { refusal: `${code} ${Code[error.code]}: ${error.rawMessage.slice(0, 500)}` };
}

/** An answer that says how many rows were written. */
export function answerOf(rows: number | undefined, wanted: number): Answer {
  return rows === wanted ? "good" : { refusal: `${rows} rows of ${wanted}` };
}
