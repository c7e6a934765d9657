/** Makes a server listen; a port that another program has is told in a sentence. */
import type { Server } from "node:net";

/** Someone else listens there. Thrown, because the bank cannot start without its ports. */
export class PortInUse extends Error {}

/** Gives the port, which is a free one when 0 was asked for. */
export async function listenOn(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, resolve);
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
      throw new PortInUse(`The sandbox bank cannot listen on ${host}:${port}: it is in use.`);
    }
    throw error;
  }
  server.off("error", reject);
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}
