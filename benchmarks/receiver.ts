/**
 * A merchant who takes callbacks and answers at once, in a process of its own. He speaks just
 * enough HTTP for it, as the load generator does: what he costs is not the gateway's.
 */
import { type AddressInfo, createServer } from "node:net";
import { offer } from "./part-process.ts";

export type ReceiverJobs = { readonly listen: readonly [undefined, { readonly port: number }] };

const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK";
const requestEnd = "\r\n\r\n";

offer<ReceiverJobs>({
  async listen() {
    const server = createServer({ noDelay: true }, (socket) => {
      let heard = "";
      socket.setEncoding("latin1");
      socket.on("error", () => socket.destroy());
      // A callback is a GET without a body: its head is all of it.
      socket.on("data", (text) => {
        heard += text;
        for (let end = heard.indexOf(requestEnd); end >= 0; end = heard.indexOf(requestEnd)) {
          heard = heard.slice(end + requestEnd.length);
          socket.write(answer);
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { port: (server.address() as AddressInfo).port };
  },
});
