/**
 * Requests to stores, for those who write SQL: only to endpoints of `storage.copy_endpoints`.
 *
 * A name is looked up once, every address that it has must be allowed, and the connection is made to an address that was checked, under
 * the endpoint's name (`Host`, TLS). So a name that answers otherwise a moment later changes nothing. Redirects are not followed. Why an
 * endpoint does not answer is not told: names, ports and certificates of the server's network are nobody's business who may write SQL.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import {
  allowsAddress,
  bareHost,
  type EndpointPattern,
  endpointPatternOf,
  parseEndpointPattern,
} from "../../base/text/endpoint-pattern.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { boundedBody } from "../s3/bounded-body.ts";
import { ADDRESSES_TRIED_MAX, ANSWER_MILLIS_MAX, REQUEST_MILLIS_MAX, RETRY_MILLIS } from "./limits.ts";

/** Addresses of a name. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** One request; `path` begins with `/` and holds the query, encoded. */
export interface StoreRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | string | undefined;
}

/** What a store answered, its body read. */
export interface StoreAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Times of a request, for tests. */
export interface NetworkTimes {
  readonly answerMillis: number;
  readonly requestMillis: number;
  /** Before a request is sent again; doubles. */
  readonly retryMillis: number;
}

/** Thrown when an endpoint gave no whole answer, whatever the reason: it may be tried again. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

const TIMES: NetworkTimes = { answerMillis: ANSWER_MILLIS_MAX, requestMillis: REQUEST_MILLIS_MAX, retryMillis: RETRY_MILLIS };

const systemLookup: Lookup = async (hostname) => (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

/** See the file header. */
export class StoreNetwork {
  private readonly patterns: readonly EndpointPattern[];
  private readonly lookup: Lookup;
  /** See there. */
  readonly times: NetworkTimes;

  /** @param endpoints as `parseEndpointPattern` takes them; others are left out */
  constructor(endpoints: readonly string[], lookupName: Lookup = systemLookup, times: NetworkTimes = TIMES) {
    this.patterns = endpoints.map(parseEndpointPattern).flatMap((entry) => (entry.ok ? [entry.value] : []));
    this.lookup = lookupName;
    this.times = times;
  }

  /** Lets pass an endpoint of the list, or one whose `owner`, which it is a name below of, is in it. @throws DbError PermissionDenied */
  check(owner: URL): EndpointPattern {
    const pattern = endpointPatternOf(owner, this.patterns);
    if (pattern !== undefined) return pattern;
    const why = "it is not in storage.copy_endpoints, the list of endpoints that statements may reach";
    throw new DbError(StatusCode.PermissionDenied, `cannot reach ${owner.origin}: ${why}`);
  }

  /**
   * Sends a request and reads its answer.
   *
   * @param endpoint where it goes: an origin
   * @param pattern that `check` gave for it
   * @param bytesMax most bytes of the answer's body
   * @throws Unreachable; DbError of the signal
   */
  async send(
    endpoint: URL,
    pattern: EndpointPattern,
    request: StoreRequest,
    bytesMax: number,
    signal: AbortSignal | undefined,
  ): Promise<StoreAnswer> {
    const expiry = new AbortController();
    const whole = setTimeout(() => expiry.abort(), this.times.requestMillis);
    try {
      throwIfCancelled(signal);
      const until = signal === undefined ? expiry.signal : AbortSignal.any([signal, expiry.signal]);
      const addresses = await this.addressesOf(endpoint, pattern, until);
      for (const [i, address] of addresses.entries()) {
        const answer = await this.attempt(endpoint, address, request, bytesMax, until, i + 1 < addresses.length);
        if (answer !== undefined) return answer;
      }
      throw new Unreachable("no address answers");
    } catch (thrown) {
      throwIfCancelled(signal);
      throw thrown instanceof Unreachable ? thrown : new Unreachable("no whole answer", { cause: thrown });
    } finally {
      clearTimeout(whole);
    }
  }

  /** The addresses of an endpoint, all of them allowed. */
  private async addressesOf({ hostname }: URL, pattern: EndpointPattern, until: AbortSignal): Promise<readonly string[]> {
    const host = bareHost(hostname);
    const addresses = isIP(host) === 0 ? await raced(this.lookup(host), until) : [host];
    if (!addresses.every((address) => isIP(address) !== 0 && allowsAddress(pattern, address)))
      throw new Unreachable("an address that is not allowed");
    return addresses.slice(0, ADDRESSES_TRIED_MAX);
  }

  /** One address; undefined when it does not answer and another `isLeft`. */
  private async attempt(
    endpoint: URL,
    address: string,
    { method, path, headers, body }: StoreRequest,
    bytesMax: number,
    until: AbortSignal,
    isLeft: boolean,
  ): Promise<StoreAnswer | undefined> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.times.answerMillis);
    const host = isIP(address) === 6 ? `[${address}]` : address;
    const port = endpoint.port === "" ? "" : `:${endpoint.port}`;
    const name = bareHost(endpoint.hostname);
    let response: Response;
    try {
      response = await fetch(`${endpoint.protocol}//${host}${port}${path}`, {
        method,
        headers: { ...headers, host: endpoint.host, "accept-encoding": "identity" },
        ...(body === undefined ? {} : { body }),
        redirect: "manual",
        decompress: false,
        signal: AbortSignal.any([until, late.signal]),
        ...(endpoint.protocol === "https:" && isIP(name) === 0 ? { tls: { serverName: name } } : {}),
      });
    } catch (thrown) {
      if (isLeft && !until.aborted) return undefined;
      throw new Unreachable("no answer", { cause: thrown });
    } finally {
      clearTimeout(timer);
    }
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      return { status: response.status, headers: response.headers, body: new Uint8Array(0) };
    }
    return { status: response.status, headers: response.headers, body: await bodyOf(response, bytesMax) };
  }
}

/** The body of an answer, refused beyond `bytesMax`. */
async function bodyOf(response: Response, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const body = await boundedBody(response, bytesMax);
  if (body === undefined) throw new Unreachable(`an answer of more than ${bytesMax} bytes`);
  return body;
}

/** A promise, or the signal's end, whichever comes first. */
async function raced<T>(promise: Promise<T>, until: AbortSignal): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(new Unreachable("it took too long"));
  until.addEventListener("abort", end);
  try {
    return await Promise.race([promise, ended.promise]);
  } finally {
    until.removeEventListener("abort", end);
  }
}
