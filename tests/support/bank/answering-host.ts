/**
 * A host of the test in front of the bank. Requests reach the bank, and other bytes may replace its
 * answers. The bank's books stay correct, so a test can compare them with what the gateway makes of
 * the bytes.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Returns the payload that replaces an answer of the bank. Both are without their length. */
export type Rewrite = (answer: Buffer) => Buffer;

export type AnsweringHost = {
  readonly port: number;
  rewrite(next: Rewrite): void;
  close(): Promise<void>;
};

const lengthBytes = 2;

export async function startAnsweringHost(bankPort: number): Promise<AnsweringHost> {
  const sockets = new Set<Socket>();
  let rewrite: Rewrite = (answer) => answer;
  const server = createServer({ noDelay: true }, (gateway) => {
    const bank = connect({ host: "127.0.0.1", port: bankPort, noDelay: true });
    gateway.pipe(bank);
    let rest = Buffer.alloc(0);
    bank.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= lengthBytes) {
        const end = lengthBytes + rest.readUInt16BE(0);
        if (rest.length < end) return;
        const said = rewrite(rest.subarray(lengthBytes, end));
        rest = rest.subarray(end);
        const length = Buffer.alloc(lengthBytes);
        length.writeUInt16BE(said.length);
        gateway.write(Buffer.concat([length, said]));
      }
    });
    for (const socket of [gateway, bank]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        gateway.destroy();
        bank.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();

  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    rewrite(next) {
      rewrite = next;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
