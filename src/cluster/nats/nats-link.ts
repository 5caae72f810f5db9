/**
 * The connection to the servers of NATS, and requests over it: bounded in time, ended by signals, never sent twice.
 *
 * The client reconnects by itself, for ever. What is under way when the connection is lost fails at once, as answers to it seldom come.
 * What is asked while there is none is not sent: the client would keep it, and send it when nobody waits for it any more.
 *
 * One thing the client does not see: a server that is cut off from the others keeps its clients and
 * serves nothing. So when nothing was answered for `STUCK_MILLIS` although something was asked, the link goes to another server.
 */
import {
  type Authenticator,
  connect,
  type ConnectionOptions,
  credsAuthenticator,
  headers,
  type Msg,
  type NatsConnection,
} from "@nats-io/transport-node";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import type { CallOptions } from "../port/message.ts";
import { PortError } from "../port/port-error.ts";
import { type ApiError, failureOfAnswer, failureOfThrown, isNoResponders } from "./nats-failure.ts";
import type { NatsCredentials, NatsTls } from "./nats-options.ts";

/** Where to, and as whom. */
export interface LinkOptions {
  readonly servers: readonly string[];
  readonly credentials: NatsCredentials;
  readonly tls: NatsTls | undefined;
  /** Shown by the servers. */
  readonly name: string;
  readonly callMillis: number;
}

/** What a request is about. */
export interface RequestOptions extends CallOptions {
  /** "append to the log of shard 3": for errors. */
  readonly what: string;
  /** Whether an answer that does not come leaves its outcome open. */
  readonly isAppend?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long it waits for its answer, where that is shorter than a call may. */
  readonly waitMillis?: number;
}

/** What the machine around the link gives. */
export interface LinkWorld {
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Longer than an election, shorter than people wait. */
const STUCK_MILLIS = 12_000;
/**
 * How long a question that changes nothing waits. Reason: what a leader that died was asked is never answered, and the next one, seconds
 * later, does not know of it. Milliseconds are usual.
 */
export const LOOK_MILLIS = 2000;
const CONNECT_MILLIS = 5000;
const RECONNECT_MILLIS = 250;
/** A connection that says nothing for three of them is dead. */
const PING_MILLIS = 3000;
const PREFIX = "$JS.API";

/** See the file header. */
export class NatsLink {
  readonly connection: NatsConnection;
  readonly callMillis: number;
  readonly logger: Logger;
  readonly clock: Clock;
  private readonly closing: AbortController = new AbortController();
  /** Fires when the connection is lost; each connection has its own. */
  private dropping: AbortController = new AbortController();
  private isUp = true;
  /** Of the first request without an answer since the last answer. */
  private silentSince: number | undefined;

  private constructor(connection: NatsConnection, callMillis: number, { logger, clock }: LinkWorld) {
    this.connection = connection;
    this.callMillis = callMillis;
    this.logger = logger;
    this.clock = clock;
    void this.tell(); // Ends with the connection.
  }

  /** @throws PortError unavailable: nobody could be reached, or nobody lets us in */
  static async open(options: LinkOptions, world: LinkWorld): Promise<NatsLink> {
    const { servers, name } = options;
    for (const server of servers)
      if (/@/.test(server)) throw new PortError("denied", "cannot use a NATS address that holds a user or a secret");
    try {
      return new NatsLink(await connect(connectionOptions(options)), options.callMillis, world);
    } catch (error) {
      // No cause: what a client says of credentials may hold some of them.
      throw new PortError("unavailable", `cannot connect ${name} to NATS at ${servers.join(", ")}: ${reasonOf(options, error)}`);
    }
  }

  /** Fires when the link is closed. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  /** Fires when the connection of this moment is lost. */
  get dropped(): AbortSignal {
    return this.dropping.signal;
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.connection.close();
  }

  /** A request of JetStream's interface and its answer. @throws PortError */
  async api<T extends object>(call: string, body: object | undefined, options: RequestOptions): Promise<T> {
    const answer = await this.apiOr<T>(call, body, options);
    if ("error" in answer) throw failureOfAnswer(options.what, answer.error as ApiError, options.isAppend ?? false);
    return answer;
  }

  /** As `api`, where an error is one of the answers. @throws PortError when there is none */
  async apiOr<T extends object>(
    call: string,
    body: object | undefined,
    options: RequestOptions,
  ): Promise<T | { readonly error: ApiError }> {
    const payload = body === undefined ? new Uint8Array(0) : new TextEncoder().encode(JSON.stringify(body));
    return answerOf(options.what, await this.request(`${PREFIX}.${call}`, payload, options));
  }

  /** Appends a message to a stream. @returns its number, or the error that the server answered */
  async publish(subject: string, bytes: Uint8Array, options: RequestOptions): Promise<number | ApiError> {
    const answer = answerOf<{ readonly seq: number }>(options.what, await this.request(subject, bytes, { ...options, isAppend: true }));
    return "error" in answer ? answer.error : answer.seq;
  }

  /** Whether the last request had no effect because nobody listened is told by `unavailable`. @throws PortError */
  async request(
    subject: string,
    payload: Uint8Array,
    { what, signal, isAppend = false, headers: own, waitMillis = this.callMillis }: RequestOptions,
  ): Promise<Msg> {
    if (this.closed.aborted) throw new PortError("closed", `cannot ${what}: the port is closed`);
    if (signal?.aborted === true) throw new PortError("cancelled", `cannot ${what}: it was cancelled`);
    if (!this.isUp) throw new PortError("unavailable", `cannot ${what}: there is no connection to NATS`);
    const ended = Promise.withResolvers<never>();
    const cancel = (): void => ended.reject(new PortError("cancelled", `cannot ${what}: it was cancelled`));
    const close = (): void => ended.reject(new PortError("closed", `cannot ${what}: the port was closed`));
    const lose = (): void =>
      ended.reject(new PortError(isAppend ? "unknown" : "unavailable", `cannot ${what}: the connection to NATS was lost`));
    const { dropped } = this;
    signal?.addEventListener("abort", cancel);
    this.closed.addEventListener("abort", close);
    dropped.addEventListener("abort", lose);
    const asked = this.clock.monotonicMillis();
    try {
      const head = own === undefined ? undefined : headersOf(own);
      const request = this.connection.request(subject, payload, {
        timeout: Math.min(waitMillis, this.callMillis),
        ...(head === undefined ? {} : { headers: head }),
      });
      const answer = await Promise.race([request, ended.promise]);
      this.silentSince = undefined;
      return answer;
    } catch (error) {
      this.silent(asked, error);
      throw failureOfThrown(what, error, isAppend);
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.closed.removeEventListener("abort", close);
      dropped.removeEventListener("abort", lose);
    }
  }

  /** Waits, unless the link is closed or the signal fires. */
  async sleep(millis: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => resolve();
    const timer = setTimeout(end, millis);
    signal?.addEventListener("abort", end);
    this.closed.addEventListener("abort", end);
    if (this.closed.aborted || signal?.aborted === true) resolve();
    await promise;
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    this.closed.removeEventListener("abort", end);
  }

  /** Takes note of a request without an answer; after many of them, goes to another server. */
  private silent(asked: number, error: unknown): void {
    if (error instanceof PortError) return; // The caller's own doing.
    this.silentSince ??= asked;
    if (this.clock.monotonicMillis() - this.silentSince < STUCK_MILLIS || !isWorthLeaving(error)) return;
    this.silentSince = undefined;
    this.logger.warn(
      { server: this.connection.getServer() },
      `NATS answered nothing for ${STUCK_MILLIS / 1000} s: going to another server`,
    );
    void this.connection.reconnect(); // Resolves at once; the client does the rest.
  }

  private drop(server: string): void {
    if (!this.isUp) return; // It did not come up in between.
    this.isUp = false;
    this.logger.warn({ server }, "the connection to NATS is lost");
    const { dropping } = this;
    this.dropping = new AbortController();
    dropping.abort();
  }

  private async tell(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === "disconnect") this.drop(status.server);
      if (status.type === "reconnect") {
        this.isUp = true;
        this.silentSince = undefined;
        this.logger.info({ server: status.server }, "connected to NATS again");
      }
      if (status.type === "error") this.logger.warn({ why: errorText(status.error, 200) }, "NATS refuses something");
    }
  }
}

function isWorthLeaving(error: unknown): boolean {
  return isNoResponders(error) || failureOfThrown("", error, false).failure === "unavailable";
}

function answerOf<T>(what: string, { data }: Msg): T | { readonly error: ApiError } {
  try {
    return JSON.parse(new TextDecoder().decode(data)) as T | { readonly error: ApiError };
  } catch (error) {
    throw new PortError("unknown", `cannot ${what}: NATS answered something that is not JSON`, error);
  }
}

function headersOf(own: Readonly<Record<string, string>>): ReturnType<typeof headers> {
  const made = headers();
  for (const [key, value] of Object.entries(own)) made.set(key, value);
  return made;
}

function reasonOf({ credentials }: LinkOptions, error: unknown): string {
  return credentials.kind === "creds" && error instanceof Error && error.cause === undefined && error.name === "Error"
    ? "the credentials are none, or nobody can be reached"
    : errorText(error, 200);
}

function connectionOptions({ servers, credentials, tls, name }: LinkOptions): ConnectionOptions {
  return {
    servers: [...servers],
    name,
    timeout: CONNECT_MILLIS,
    pingInterval: PING_MILLIS,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MILLIS,
    reconnectJitter: RECONNECT_MILLIS,
    // Else the client makes an error for each request, before anything failed: 3 % of a frontend's time in a point query.
    noAsyncTraces: true,
    ignoreAuthErrorAbort: true, // Servers that come back may know their accounts a little later.
    ...(tls === undefined ? {} : { tls: defined({ ca: tls.ca, cert: tls.cert, key: tls.key }) }),
    ...signIn(credentials),
  };
}

function signIn(credentials: NatsCredentials): { user?: string; pass?: string; token?: string; authenticator?: Authenticator } {
  switch (credentials.kind) {
    case "none":
      return {};
    case "password":
      return { user: credentials.user, pass: credentials.password };
    case "token":
      return { token: credentials.token };
    case "creds":
      return { authenticator: credsAuthenticator(new TextEncoder().encode(credentials.content)) };
  }
}

function defined<T extends Readonly<Record<string, string | undefined>>>(values: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: string };
}
