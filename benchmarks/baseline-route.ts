/**
 * The second baseline, a process of its own: a bare route of the same HTTP framework that reads the
 * same form as a sale and answers a short text, shaped like an acknowledgement.
 */
import type { AddressInfo } from "node:net";
import { FormFault, parseForm } from "@tollgate/protocols/form";
import { fastify } from "fastify";
import { offer } from "./part-process.ts";

export type RouteJobs = { readonly listen: readonly [undefined, { readonly port: number }] };

offer<RouteJobs>({
  async listen() {
    const server = fastify();
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
      done(null, body);
    });
    server.post("/gw/api/v2/sale/:id", async ({ body }, reply) => {
      const form = body instanceof Uint8Array ? parseForm(body) : undefined;
      if (form === undefined || form instanceof FormFault) return reply.code(400).send("no form");
      return `type=async-response&gw-order-id=${form.pairs.length}`;
    });
    await server.listen({ host: "127.0.0.1", port: 0 });
    // An address of a listening TCP server is never a path.
    const { port } = server.server.address() as AddressInfo;
    return { port };
  },
});
