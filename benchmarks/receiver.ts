/** A merchant who takes callbacks and answers at once, in a process of its own. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { offer } from "./part-process.ts";

export type ReceiverJobs = { readonly listen: readonly [undefined, { readonly port: number }] };

offer<ReceiverJobs>({
  async listen() {
    const server = createServer((_, response) => response.end("OK"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { port: (server.address() as AddressInfo).port };
  },
});
