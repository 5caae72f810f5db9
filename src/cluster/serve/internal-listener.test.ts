import { expect, test } from "bun:test";
import { certificateAuthority } from "../../../test/support/certificate-authority.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { systemClock } from "../../base/clock.ts";
import { startInternalListener } from "./internal-listener.ts";

test("an answer that is half-way when the certificate is renewed goes on to its end; the listener rests when it has ended", async () => {
  const authority = await certificateAuthority();
  const halfway = Promise.withResolvers<void>();
  const listener = startInternalListener(
    { hostname: "127.0.0.1", port: 0, tls: await authority.signed("one", 2) },
    {
      answer: () =>
        new Response(
          (async function* () {
            yield "first ";
            await halfway.promise;
            yield "second";
          })(),
        ),
      onRefused: () => undefined,
      bodyBytesMax: 10,
      clock: systemClock,
      logger: recordingLogger().logger,
    },
  );
  try {
    const asked = await fetch(`https://localhost:${listener.port}/`, { tls: { ca: authority.ca } });
    const reader = asked.body?.getReader();
    const first = await reader?.read();
    listener.renew(await authority.signed("two", 2));
    let hasRested = false;
    const rested = listener.rest(20_000).then(() => void (hasRested = true));
    await Bun.sleep(50);
    expect([new TextDecoder().decode(first?.value), hasRested]).toEqual(["first ", false]);
    halfway.resolve();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("second");
    expect((await reader?.read())?.done).toBe(true);
    await rested;
  } finally {
    await listener.end();
  }
});
