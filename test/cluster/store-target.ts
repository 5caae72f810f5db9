/** The S3 store of a trial: it dies, stands still and is cut off as any process does. */
import { type S3Gateway, type S3Place, startGateway } from "../../bench/macro/s3-gateway.ts";
import { TcpProxy } from "../support/cluster/tcp-proxy.ts";
import { HurtProcess } from "./hurt-process.ts";
import type { Cut, Target } from "./trial.ts";

/** See the file header. What it keeps outlives it. */
export class StoreTarget extends HurtProcess implements Target {
  readonly name: string = "store";
  readonly faults = ["kill", "stop", "partition"] as const;
  /** Where data nodes reach it: at its proxy. */
  readonly place: S3Place;
  private readonly program: string;
  private readonly folder: string;
  private readonly port: number;
  private readonly proxy: TcpProxy;

  private constructor(program: string, folder: string, { place, server }: S3Gateway) {
    super();
    this.program = program;
    this.folder = folder;
    this.port = Number(new URL(place.endpoint).port);
    this.proxy = new TcpProxy(this.port);
    this.place = { ...place, endpoint: `http://127.0.0.1:${this.proxy.port}` };
    this.began(server);
  }

  /** @param program of versitygw @throws Error when it does not take connections */
  static async start(program: string, folder: string): Promise<StoreTarget> {
    return new StoreTarget(program, folder, await startGateway(program, folder));
  }

  async restart(): Promise<number> {
    this.began((await startGateway(this.program, this.folder, this.port)).server);
    return 0;
  }

  cut(how: Cut): void {
    this.proxy.become(how);
  }

  heal(): void {
    this.proxy.become("open");
  }

  async end(): Promise<void> {
    await this.kill();
    this.proxy.stop();
  }
}
