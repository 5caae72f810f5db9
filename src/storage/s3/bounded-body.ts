/** The body of an answer, undefined when it is longer than `bytesMax`; the connection ends then. @throws what the connection fails with */
export async function boundedBody(response: Response, bytesMax: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > bytesMax) return undefined; // leaving the loop ends the connection
    parts.push(part);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
